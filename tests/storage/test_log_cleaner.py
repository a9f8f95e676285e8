"""Log compaction: what is kept, what is removed, and when."""

from __future__ import annotations

import pytest

from fauxka.protocol.batches.record_batch import HEADER_SIZE, Compression, parse_header
from fauxka.protocol.batches.records import BatchOptions
from fauxka.storage.log_config import LogConfig
from fauxka.storage.segments.transaction_index import AbortedTransaction

from ..protocol.batch_bytes import NOW_MS, batch, record
from .cleaned_logs import COMPACTING, DELETE_RETENTION_MS, FOLDER, CleanedLog, marker, stored_log, transactional
from .logs import append, batches_in, read_all, read_bytes, records_in

HOUR_MS = 3_600_000


def idempotent(producer_id: int, base_sequence: int) -> BatchOptions:
    return BatchOptions(producer_id=producer_id, producer_epoch=0, base_sequence=base_sequence)


def test_last_record_of_each_key_is_kept_with_its_offset() -> None:
    log = CleanedLog()
    for number in range(10):
        log.put(("ab"[number % 2], str(number)))
    log.roll()

    assert log.clean() == 1

    assert log.values() == {8: ("a", "8"), 9: ("b", "9")}
    assert log.log.log_end_offset == 10


def test_reads_from_deleted_offsets_begin_at_the_next_record() -> None:
    log = CleanedLog()
    for number in range(9):
        log.put(("abc"[number // 3], str(number)))
    log.roll()
    log.clean()

    first_offsets = [records_in(read_bytes(log.log, offset))[0].offset for offset in range(9)]

    assert first_offsets == [2, 2, 2, 5, 5, 5, 8, 8, 8]


def test_active_segment_is_not_cleaned() -> None:
    log = CleanedLog()
    log.put(("a", "0"))
    log.put(("a", "1"))

    assert log.clean() == 0
    assert len(log.values()) == 2


def test_keys_of_the_active_segment_do_not_supersede_earlier_records() -> None:
    log = CleanedLog()
    log.put(("a", "0"))
    log.roll()
    log.put(("a", "1"))

    log.clean()

    assert log.values() == {0: ("a", "0"), 1: ("a", "1")}


def test_records_superseded_within_a_batch_are_removed() -> None:
    log = CleanedLog()
    log.put(("a", "0"), ("b", "1"), ("a", "2"))
    log.roll()

    log.clean()

    header = parse_header(read_all(log.log))
    assert log.values() == {1: ("b", "1"), 2: ("a", "2")}
    assert (header.base_offset, header.last_offset, header.records_count) == (0, 2, 2)


@pytest.mark.parametrize("codec", list(Compression))
def test_compressed_batches_stay_compressed(codec: Compression) -> None:
    log = CleanedLog()
    log.put(("a", "0"), ("b", "1"), options=BatchOptions(compression=codec))
    log.put(("a", "2"), options=BatchOptions(compression=codec))
    log.roll()

    log.clean()

    assert log.values() == {1: ("b", "1"), 2: ("a", "2")}
    assert {parse_header(each).attributes for each in batches_in(read_all(log.log))} == {codec}


def test_tombstone_is_removed_by_the_first_cleaning_after_its_delete_horizon() -> None:
    log = CleanedLog()

    def clean_with_news(now_ms: int) -> dict[int, tuple[str, str | None]]:
        log.put(("z", "news"))
        log.roll()
        log.clean(now_ms)
        return {offset: pair for offset, pair in log.values().items() if pair[0] == "a"}

    log.put(("a", "0"))
    log.put(("a", None))

    assert clean_with_news(NOW_MS) == {1: ("a", None)}
    assert clean_with_news(NOW_MS + DELETE_RETENTION_MS - 1) == {1: ("a", None)}
    assert clean_with_news(NOW_MS + DELETE_RETENTION_MS) == {}


def test_newest_batch_of_a_producer_is_recognised_after_its_records_are_deleted() -> None:
    log = CleanedLog()
    log.put(("a", "0"), options=idempotent(1, 0))
    log.put(("a", "1"), options=idempotent(1, 1))
    log.put(("a", "2"))
    log.roll()

    log.clean()

    empty = batches_in(read_all(log.log))[0]
    assert len(empty) == HEADER_SIZE and parse_header(empty).base_sequence == 1
    for name in log.file_system.names_in(FOLDER):
        if name.endswith(".snapshot"):
            log.file_system.delete(f"{FOLDER}/{name}")
    loaded = CleanedLog(file_system=log.file_system)
    result = loaded.put(("a", "1"), options=idempotent(1, 1))
    assert result.is_duplicate and result.base_offset == 1


def test_records_without_a_key_are_removed() -> None:
    log = CleanedLog(LogConfig())
    append(log.log, batch(record(b"v", None)))
    log.log.config = COMPACTING
    log.put(("a", "1"))
    log.roll()

    log.clean()

    assert log.values() == {1: ("a", "1")}


# -- transactions


def test_aborted_records_are_removed_and_do_not_supersede_others() -> None:
    log = stored_log(
        [transactional(1, 0, ("a", "0")), marker(1, is_commit=True)],
        [transactional(1, 1, ("a", "2")), marker(1, is_commit=False), transactional(2, 0, ("z", "4"))],
        [marker(2, is_commit=True)],
    )

    log.clean()

    kept = {offset: pair for offset, pair in log.values().items() if pair[0] in ("a", "z")}
    assert kept == {0: ("a", "0"), 4: ("z", "4")}


def test_marker_stays_while_its_transaction_has_records() -> None:
    log = stored_log([transactional(1, 0, ("a", "0")), marker(1, is_commit=True), transactional(9, 0, ("z", "2"))])

    for round_number in range(3):
        log.clean(NOW_MS + round_number * 2 * DELETE_RETENTION_MS)
        log.put(("y", "news"))
        log.roll()

    assert 1 in {parse_header(each).base_offset for each in batches_in(read_all(log.log))}


def offsets_of_markers(log: CleanedLog) -> list[int]:
    headers = [parse_header(each) for each in batches_in(read_all(log.log))]
    return [header.base_offset for header in headers if header.is_control and header.records_count]


def test_marker_of_an_emptied_transaction_is_removed_after_its_delete_horizon() -> None:
    log = stored_log(
        [transactional(1, 0, ("a", "0")), marker(1, is_commit=True)],
        [transactional(1, 1, ("a", "2")), marker(1, is_commit=True)],
    )

    def clean_with_news(now_ms: int) -> list[int]:
        log.put(("z", "news"))
        log.roll()
        log.clean(now_ms)
        return offsets_of_markers(log)

    # The first cleaning removes the batch; the second one finds no batch and sets the delete horizon.
    assert clean_with_news(NOW_MS) == [1, 3]
    assert clean_with_news(NOW_MS) == [1, 3]
    assert clean_with_news(NOW_MS + DELETE_RETENTION_MS - 1) == [1, 3]
    assert clean_with_news(NOW_MS + DELETE_RETENTION_MS) == [3]


def test_transaction_index_keeps_the_transactions_that_have_batches() -> None:
    log = stored_log(
        [transactional(1, 0, ("a", "0")), marker(1, is_commit=False)],
        [transactional(2, 0, ("b", "2")), marker(2, is_commit=False)],
    )
    log.clean()
    entries = [entry for segment in log.log.segments for entry in segment.transaction_index.entries()]

    assert entries == [AbortedTransaction(1, 0, 1, 2), AbortedTransaction(2, 2, 3, 4)]

    log.put(("z", "news"))
    log.roll()
    log.clean()
    assert [entry for segment in log.log.segments for entry in segment.transaction_index.entries()] != []


def test_log_is_cleaned_only_before_the_first_open_transaction() -> None:
    log = stored_log(
        [transactional(9, 0, ("a", "0")), marker(9, is_commit=True), transactional(9, 1, ("a", "2"))],
        [marker(9, is_commit=True), transactional(1, 0, ("b", "4"))],
        [transactional(9, 2, ("a", "5")), marker(9, is_commit=True)],
    )

    log.clean()

    assert log.log.last_stable_offset == 4
    kept = {offset: pair for offset, pair in log.values().items() if pair[0] in ("a", "b")}
    assert kept == {2: ("a", "2"), 4: ("b", "4"), 5: ("a", "5")}
