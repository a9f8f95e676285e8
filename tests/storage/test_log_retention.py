"""Retention and DeleteRecords: deleted and kept segments, and the log start."""

from __future__ import annotations

import pytest

from fauxka.protocol.error_codes import ErrorCode, KafkaError
from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem
from fauxka.storage.log_config import CleanupPolicy, LogConfig
from fauxka.storage.log_retention import DELETE_UP_TO_HIGH_WATERMARK
from fauxka.storage.partition_log import PartitionLog

from ..protocol.batch_bytes import NOW_MS, batch, records
from .logs import append, new_log, produce, read_all, records_in, sized_batch

DAY_MS = 86_400_000


def log_of_three_segments(config: LogConfig, files: MemoryFileSystem | None = None) -> PartitionLog:
    """Return a log with two batches of 400 bytes in each segment, timestamps NOW_MS to NOW_MS + 5."""
    log = new_log(config, file_system=files)
    for index in range(6):
        append(log, sized_batch(400, timestamp=NOW_MS + index))
    assert len(log.segments) == 3
    return log


def test_segments_whose_newest_record_is_too_old_are_deleted() -> None:
    log = log_of_three_segments(LogConfig(segment_bytes=1000, retention_ms=DAY_MS))

    assert log.enforce_retention(NOW_MS + 1 + DAY_MS) == 0
    assert log.enforce_retention(NOW_MS + 2 + DAY_MS) == 1

    assert (log.log_start_offset, log.log_end_offset, log.size_bytes) == (2, 6, 1600)
    assert [each.offset for each in records_in(read_all(log))] == [2, 3, 4, 5]


def test_active_segment_is_deleted_too_and_a_new_one_starts_at_the_end() -> None:
    files = MemoryFileSystem()
    log = log_of_three_segments(LogConfig(segment_bytes=1000, retention_ms=DAY_MS), files)

    assert log.enforce_retention(NOW_MS + 2 * DAY_MS) == 3

    assert (log.log_start_offset, log.log_end_offset, len(log.segments)) == (6, 6, 1)
    assert [name for name in files.names_in("topic-0") if name.startswith("0")] == [
        "00000000000000000006.log",
        "00000000000000000006.snapshot",
    ]
    append(log, batch())
    assert [each.offset for each in records_in(read_all(log))] == [6]


def test_retention_keeps_an_empty_log() -> None:
    log = new_log(LogConfig(retention_ms=1, retention_bytes=0))

    assert log.enforce_retention(NOW_MS + DAY_MS) == 0
    assert len(log.segments) == 1


def test_records_without_timestamps_age_from_their_append() -> None:
    log = new_log(LogConfig(retention_ms=DAY_MS))
    append(log, batch(base_timestamp=-1), now_ms=NOW_MS + 10)

    assert log.enforce_retention(NOW_MS + 10 + DAY_MS) == 0
    assert log.enforce_retention(NOW_MS + 11 + DAY_MS) == 1


def test_older_segment_after_a_young_one_is_kept() -> None:
    log = new_log(LogConfig(segment_bytes=300, retention_ms=DAY_MS))
    append(log, sized_batch(200, timestamp=NOW_MS))
    append(log, sized_batch(200, timestamp=NOW_MS - DAY_MS))

    assert log.enforce_retention(NOW_MS + 1000) == 0


@pytest.mark.parametrize(("retention_bytes", "deleted"), [(-1, 0), (2400, 0), (1601, 0), (1600, 1), (800, 2), (0, 3)])
def test_oldest_segments_are_deleted_down_to_retention_bytes(retention_bytes: int, deleted: int) -> None:
    log = log_of_three_segments(LogConfig(segment_bytes=1000, retention_ms=-1, retention_bytes=retention_bytes))

    assert log.enforce_retention(NOW_MS) == deleted
    assert log.log_start_offset == 2 * deleted


def test_retention_ms_does_not_apply_to_a_compacted_topic() -> None:
    config = LogConfig(segment_bytes=1000, retention_ms=1, cleanup_policies=frozenset({CleanupPolicy.COMPACT}))
    log = new_log(config)
    for index in range(4):
        append(log, batch(records(1, bytes(400), b"k"), base_timestamp=NOW_MS + index))

    assert log.enforce_retention(NOW_MS + DAY_MS) == 0


def test_deleted_records_disappear_at_once_and_their_segments_with_the_next_retention() -> None:
    log = log_of_three_segments(LogConfig(segment_bytes=1000, retention_ms=-1))

    assert log.delete_records_before(3) == 3

    assert (log.log_start_offset, len(log.segments)) == (3, 3)
    with pytest.raises(KafkaError) as raised:
        log.read(2, 1000, upper_offset=6, min_one_batch=True)
    assert raised.value.code is ErrorCode.OFFSET_OUT_OF_RANGE
    assert log.enforce_retention(NOW_MS) == 1
    assert (log.log_start_offset, len(log.segments)) == (3, 2)


def test_deleting_up_to_the_high_watermark_leaves_no_record() -> None:
    log = log_of_three_segments(LogConfig(segment_bytes=1000, retention_ms=-1))

    assert log.delete_records_before(DELETE_UP_TO_HIGH_WATERMARK) == 6
    assert log.read(6, 1000, upper_offset=6, min_one_batch=True).size == 0


def test_log_start_never_moves_back() -> None:
    log = log_of_three_segments(LogConfig(segment_bytes=1000))
    log.delete_records_before(3)

    assert log.delete_records_before(1) == 3


@pytest.mark.parametrize("offset", [7, -2])
def test_delete_records_outside_the_log_is_refused(offset: int) -> None:
    log = log_of_three_segments(LogConfig(segment_bytes=1000))

    with pytest.raises(KafkaError) as raised:
        log.delete_records_before(offset)

    assert (raised.value.code, log.log_start_offset) == (ErrorCode.OFFSET_OUT_OF_RANGE, 0)


def test_delete_records_on_a_compacted_topic_is_refused() -> None:
    log = new_log(LogConfig(cleanup_policies=frozenset({CleanupPolicy.COMPACT})))

    with pytest.raises(KafkaError) as raised:
        log.delete_records_before(0)

    assert raised.value.code is ErrorCode.POLICY_VIOLATION


def test_producers_outlive_their_deleted_batches() -> None:
    log = new_log(LogConfig(retention_ms=DAY_MS))
    for sequence in range(3):
        produce(log, sequence)

    log.delete_records_before(DELETE_UP_TO_HIGH_WATERMARK)
    log.enforce_retention(NOW_MS + 2 * DAY_MS)
    again = produce(log, 1)

    assert (again.is_duplicate, again.base_offset, again.log_start_offset) == (True, 1, 3)
    assert produce(log, 3).base_offset == 3
