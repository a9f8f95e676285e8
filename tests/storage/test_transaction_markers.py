"""Transaction markers: epochs, last stable offset, transaction index, and failing files."""

from __future__ import annotations

import pytest

from fauxka.protocol.batches.control_records import EndTransactionMarker, decode_marker
from fauxka.protocol.batches.record_batch import TRANSACTIONAL_BIT, TimestampType, parse_header
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.protocol.error_codes import ErrorCode
from fauxka.storage.append_refused import AppendRefused
from fauxka.storage.append_result import AppendResult
from fauxka.storage.coordinator_batch import TransactionalRecords, TransactionMarker
from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem
from fauxka.storage.log_config import LogConfig
from fauxka.storage.partition_log import PartitionLog
from fauxka.storage.producers.unverified_producers import UnverifiedProducer
from fauxka.storage.segments.transaction_index import AbortedTransaction

from ..broker.steered_file_system import SteeredFileSystem
from ..protocol.batch_bytes import NOW_MS, batch
from .logs import append, batches_in, new_log, read_all

# The COMMIT marker that Kafka 4.3.0 wrote at offset 6 of a log, from its length on.
REAL_COMMIT_MARKER = bytes.fromhex(
    "00000042 00000000 02 534d1d01 0030 00000000 000001a1fcc47d8e 000001a1fcc47d8e 0000000000000000 0001 ffffffff"
    "00000001 20 00 00 00 08 00000001 0c 000000000000 00"
)
REAL_COMMIT_MS = 0x1A1FCC47D8E


def write(
    log: PartitionLog,
    base_sequence: int,
    *,
    producer_id: int = 7,
    producer_epoch: int = 0,
    is_transactional: bool = True,
) -> AppendResult:
    attributes = TRANSACTIONAL_BIT if is_transactional else 0
    return append(
        log,
        batch(
            attributes=attributes, producer_id=producer_id, producer_epoch=producer_epoch, base_sequence=base_sequence
        ),
    )


def end(
    log: PartitionLog,
    *,
    commit: bool,
    producer_id: int = 7,
    producer_epoch: int = 0,
    coordinator_epoch: int = 0,
    version: int = 0,
    now_ms: int = NOW_MS,
) -> AppendResult:
    marker = TransactionMarker(
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        is_commit=commit,
        coordinator_epoch=coordinator_epoch,
        transaction_version=version,
    )
    return log.append_coordinated(marker, now_ms=now_ms, leader_epoch=0)


def refusal_of_end(log: PartitionLog, **marker: int) -> ErrorCode:
    before = read_all(log)
    with pytest.raises(AppendRefused) as raised:
        end(log, commit=False, **marker)
    assert read_all(log) == before
    return raised.value.code


def aborted(log: PartitionLog) -> list[AbortedTransaction]:
    return log.segments.aborted_transactions(0, log.log_end_offset)


def test_marker_has_kafkas_bytes() -> None:
    log = new_log()

    end(log, commit=True, producer_id=0, producer_epoch=1, now_ms=REAL_COMMIT_MS)

    assert read_all(log)[8:] == REAL_COMMIT_MARKER


def test_marker_on_a_log_append_time_topic_has_that_timestamp_type() -> None:
    log = new_log(LogConfig(message_timestamp_type=TimestampType.LOG_APPEND_TIME))

    end(log, commit=False, coordinator_epoch=3, now_ms=NOW_MS + 5)

    header = parse_header(read_all(log))
    assert (header.timestamp_type, header.max_timestamp) == (TimestampType.LOG_APPEND_TIME, NOW_MS + 5)
    assert decode_marker(header, read_all(log)) == EndTransactionMarker(is_commit=False, coordinator_epoch=3)


def test_last_stable_offset_stays_at_the_open_transaction_until_its_marker() -> None:
    log = new_log()
    write(log, 0, is_transactional=False, producer_id=3)
    write(log, 0)
    write(log, 1)

    before = log.last_stable_offset
    end(log, commit=True)

    assert (before, log.last_stable_offset) == (1, 4)


def test_last_stable_offset_moves_to_the_next_open_transaction() -> None:
    log = new_log()
    write(log, 0)
    write(log, 0, producer_id=8)

    end(log, commit=False)

    assert log.last_stable_offset == 1
    assert aborted(log) == [AbortedTransaction(7, 0, 2, 1)]


def test_commit_leaves_no_entry_in_the_transaction_index() -> None:
    log = new_log()
    write(log, 0)

    end(log, commit=True)

    assert aborted(log) == []


def test_abort_of_a_producer_without_a_transaction_leaves_no_entry() -> None:
    log = new_log()
    write(log, 0, is_transactional=False)

    end(log, commit=False)

    assert (aborted(log), log.last_stable_offset) == ([], 2)


def test_marker_of_an_unknown_producer_creates_an_entry_without_batches() -> None:
    log = new_log()

    end(log, commit=True, producer_epoch=4, coordinator_epoch=2)

    entry = log.producers.find(7)
    assert entry is not None
    assert (entry.producer_epoch, entry.batches, entry.coordinator_epoch) == (4, (), 2)


def test_marker_of_a_greater_epoch_drops_the_cached_batches() -> None:
    log = new_log()
    write(log, 0)

    end(log, commit=True, producer_epoch=1, version=2)

    with pytest.raises(AppendRefused) as raised:
        write(log, 0)
    assert raised.value.code == ErrorCode.INVALID_PRODUCER_EPOCH


def test_marker_of_the_same_epoch_keeps_the_cached_batches() -> None:
    log = new_log()
    write(log, 0)

    end(log, commit=True)

    assert write(log, 0).is_duplicate


def test_marker_of_an_older_epoch_is_refused() -> None:
    log = new_log()
    write(log, 0, producer_epoch=5)

    assert refusal_of_end(log, producer_epoch=4) == ErrorCode.INVALID_PRODUCER_EPOCH


def test_version_2_marker_must_raise_the_epoch_of_an_open_transaction() -> None:
    log = new_log()
    write(log, 0, producer_epoch=5)

    assert refusal_of_end(log, producer_epoch=5, version=2) == ErrorCode.INVALID_PRODUCER_EPOCH


def test_repeated_version_2_marker_is_written_again() -> None:
    log = new_log()
    write(log, 0)
    end(log, commit=True, producer_epoch=1, version=2)

    end(log, commit=True, producer_epoch=1, version=2)

    assert len(batches_in(read_all(log))) == 3


def test_version_2_marker_of_the_last_epoch_ends_a_transaction_of_that_epoch() -> None:
    log = new_log()
    write(log, 0, producer_epoch=32767)

    end(log, commit=True, producer_epoch=32767, version=2)

    assert log.last_stable_offset == 2


def test_marker_of_an_older_coordinator_is_refused() -> None:
    log = new_log()
    write(log, 0)
    end(log, commit=True, coordinator_epoch=9)

    assert refusal_of_end(log, coordinator_epoch=8) == ErrorCode.TRANSACTION_COORDINATOR_FENCED


def test_marker_rolls_a_full_segment_and_is_in_the_index_of_the_new_one() -> None:
    log = new_log(LogConfig(segment_bytes=100))
    write(log, 0)

    end(log, commit=False)

    assert [segment.transaction_index.count for segment in log.segments] == [0, 1]
    assert aborted(log) == [AbortedTransaction(7, 0, 1, 2)]


@pytest.mark.parametrize("suffix", ["log", "txnindex"])
def test_refused_marker_leaves_the_transaction_open_and_can_be_sent_again(suffix: str) -> None:
    files = SteeredFileSystem(MemoryFileSystem())
    log = new_log(file_system=files)
    write(log, 0)

    files.full_path = f"topic-0/00000000000000000000.{suffix}"
    refused = refusal_of_end(log)
    stable_offset = log.last_stable_offset
    files.full_path = ""
    end(log, commit=False)

    assert (refused, stable_offset) == (ErrorCode.KAFKA_STORAGE_ERROR, 0)
    assert aborted(log) == [AbortedTransaction(7, 0, 1, 2)]


def test_unflushed_marker_keeps_the_last_stable_offset_with_flush_messages_1() -> None:
    files = SteeredFileSystem(MemoryFileSystem())
    log = new_log(LogConfig(flush_messages=1), file_system=files)
    write(log, 0)
    flush(log)

    end(log, commit=True)
    before = (log.high_watermark, log.last_stable_offset)
    flush(log)

    assert (before, log.last_stable_offset) == ((1, 0), 2)


def flush(log: PartitionLog) -> None:
    begun = log.begin_flush()
    begun.run()
    log.finish_flush(begun)


def see_first_batch(log: PartitionLog, sequence: int, *, joins: bool, epoch: int = 0, now_ms: int = NOW_MS) -> None:
    seen = UnverifiedProducer(
        producer_epoch=epoch,
        lowest_sequence=sequence,
        supports_epoch_bump=joins,
        starts_at_zero=joins,
        created_ms=now_ms,
    )
    log.producers.unverified.add(7, seen)


def test_batch_after_an_unverified_one_is_out_of_order() -> None:
    log = new_log()
    write(log, 0)
    end(log, commit=True)
    see_first_batch(log, 0, joins=False)

    with pytest.raises(AppendRefused) as raised:
        write(log, 1)

    assert raised.value.code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_batches_after_an_unverified_one_are_accepted_once_it_is_appended() -> None:
    log = new_log()
    see_first_batch(log, 0, joins=True)
    write(log, 0)

    assert write(log, 1).base_offset == 1


def test_unknown_producer_with_epoch_bump_support_starts_at_sequence_0() -> None:
    log = new_log()
    see_first_batch(log, 5, joins=True)

    with pytest.raises(AppendRefused) as raised:
        write(log, 5)

    assert raised.value.code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_unknown_producer_of_an_added_partition_starts_at_any_sequence() -> None:
    log = new_log()
    see_first_batch(log, 5, joins=False)

    assert write(log, 5).base_offset == 0


def test_lower_sequence_and_then_a_greater_epoch_replace_the_unverified_batch() -> None:
    log = new_log()
    see_first_batch(log, 5, joins=False)
    see_first_batch(log, 3, joins=False)
    see_first_batch(log, 9, joins=False)
    before = log.producers.unverified.find(7)
    see_first_batch(log, 4, joins=False, epoch=1)

    after = log.producers.unverified.find(7)
    assert before is not None and after is not None
    assert (before.lowest_sequence, after.lowest_sequence) == (3, 4)


def test_marker_of_the_previous_transaction_keeps_the_unverified_batch_of_the_next_one() -> None:
    log = new_log()
    see_first_batch(log, 0, joins=True, epoch=1)

    end(log, commit=True, producer_epoch=1, version=2)

    assert log.producers.unverified.find(7) is not None


def test_marker_without_an_epoch_bump_drops_the_unverified_batch() -> None:
    log = new_log()
    see_first_batch(log, 0, joins=False)

    end(log, commit=True)

    assert log.producers.unverified.find(7) is None


def test_unverified_batch_expires_with_an_idle_producer() -> None:
    log = new_log(LogConfig(producer_id_expiration_ms=1000))
    see_first_batch(log, 0, joins=True)

    log.producers.remove_expired(NOW_MS + 1000)

    assert not log.producers.unverified.is_any


def state_records(*, producer_epoch: int = 0) -> TransactionalRecords:
    options = BatchOptions(producer_id=7, producer_epoch=producer_epoch, is_transactional=True)
    return TransactionalRecords(build_batch([Record(key=b"k", value=b"v", timestamp=NOW_MS)], options))


def test_records_of_a_coordinator_open_a_transaction_without_a_sequence() -> None:
    log = new_log()
    log.append_coordinated(state_records(), now_ms=NOW_MS, leader_epoch=0)
    log.append_coordinated(state_records(), now_ms=NOW_MS, leader_epoch=0)

    entry = log.producers.find(7)

    assert entry is not None
    assert (entry.current_txn_first_offset, entry.last_sequence, log.last_stable_offset) == (0, -1, 0)
    assert log.log_end_offset == 2


def test_records_of_a_coordinator_are_refused_in_an_older_epoch() -> None:
    log = new_log()
    end(log, commit=True, producer_epoch=1)

    with pytest.raises(AppendRefused) as raised:
        log.append_coordinated(state_records(), now_ms=NOW_MS, leader_epoch=0)

    assert raised.value.code == ErrorCode.INVALID_PRODUCER_EPOCH
