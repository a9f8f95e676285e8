"""Timestamps of clients on a broker's clock that is ahead of theirs, or behind: what expires, rolls and is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fauxka.protocol.batches.record_batch import TimestampType
from fauxka.protocol.error_codes import ErrorCode
from fauxka.storage.append_refused import AppendRefused
from fauxka.storage.append_result import AppendResult
from fauxka.storage.coordinator_batch import TransactionMarker
from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem
from fauxka.storage.log_config import LogConfig
from fauxka.storage.log_loader import LoadState, LogLocation
from fauxka.storage.partition_log import PartitionLog
from fauxka.storage.producers.emulated_version import EmulatedVersion

from ..protocol.batch_bytes import NOW_MS, batch, record
from .cleaned_logs import COMPACTING, CleanedLog
from .logs import new_log, sized_batch

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
AHEAD_MS = 8 * DAY_MS
# The broker's time while the clients' is NOW_MS.
AHEAD_NOW_MS = NOW_MS + AHEAD_MS
APPEND_TIME = LogConfig(retention_ms=DAY_MS, message_timestamp_type=TimestampType.LOG_APPEND_TIME)


def append_ahead(
    log: PartitionLog, data: bytes | None = None, *, ahead_ms: int = AHEAD_MS, real_ms: int = NOW_MS
) -> AppendResult:
    """Append a batch while the broker's clock is ahead_ms ahead of the clients', which is at real_ms."""
    content = memoryview(batch(base_timestamp=real_ms) if data is None else data)
    return log.append(content, now_ms=real_ms + ahead_ms, leader_epoch=0, ahead_ms=ahead_ms)


def loaded_after_append(config: LogConfig, data: bytes | None = None) -> PartitionLog:
    """Append a batch while the clock is ahead, close the log, and load it again."""
    files = MemoryFileSystem()
    log = new_log(config, file_system=files)
    append_ahead(log, data)
    log.close()
    place = LogLocation(files, "topic", 0, EmulatedVersion.parse("4.3"))
    return PartitionLog(place, config, now_ms=AHEAD_NOW_MS, state=LoadState(is_clean=True, ahead_ms=AHEAD_MS))


def idempotent(sequence: int, real_ms: int = NOW_MS) -> bytes:
    return batch(producer_id=7, producer_epoch=0, base_sequence=sequence, base_timestamp=real_ms)


# -- retention.ms


def test_a_record_that_is_written_while_the_clock_is_ahead_is_new() -> None:
    log = new_log(LogConfig(retention_ms=DAY_MS))

    append_ahead(log)

    assert log.enforce_retention(AHEAD_NOW_MS + DAY_MS) == 0
    assert log.enforce_retention(AHEAD_NOW_MS + DAY_MS + 1) == 1


def test_a_record_from_before_the_advance_ages_by_it() -> None:
    log = new_log(LogConfig(retention_ms=DAY_MS))
    append_ahead(log, ahead_ms=0)

    assert log.enforce_retention(AHEAD_NOW_MS) == 1


def test_a_record_that_is_written_while_the_clock_stands_ages_by_the_clock() -> None:
    log = new_log(LogConfig(retention_ms=DAY_MS))
    # The broker's clock stands at NOW_MS for three real days.
    append_ahead(log, ahead_ms=-3 * DAY_MS, real_ms=NOW_MS + 3 * DAY_MS)

    assert log.enforce_retention(NOW_MS + DAY_MS) == 0
    assert log.enforce_retention(NOW_MS + DAY_MS + 1) == 1


def test_log_append_time_is_on_the_brokers_clock_already() -> None:
    log = new_log(APPEND_TIME)

    append_ahead(log)

    assert log.enforce_retention(AHEAD_NOW_MS + DAY_MS) == 0
    assert log.enforce_retention(AHEAD_NOW_MS + DAY_MS + 1) == 1


def test_records_without_timestamps_age_from_their_append() -> None:
    log = new_log(LogConfig(retention_ms=DAY_MS))

    append_ahead(log, batch(base_timestamp=-1))

    assert log.enforce_retention(AHEAD_NOW_MS + DAY_MS) == 0
    assert log.enforce_retention(AHEAD_NOW_MS + DAY_MS + 1) == 1


def test_a_marker_has_the_timestamp_of_the_brokers_clock() -> None:
    log = new_log(LogConfig(retention_ms=DAY_MS))
    append_ahead(log)
    marker = TransactionMarker(producer_id=7, producer_epoch=0, is_commit=True)

    log.append_coordinated(marker, now_ms=AHEAD_NOW_MS + HOUR_MS, leader_epoch=0)

    assert log.enforce_retention(AHEAD_NOW_MS + HOUR_MS + DAY_MS) == 0
    assert log.enforce_retention(AHEAD_NOW_MS + HOUR_MS + DAY_MS + 1) == 1


# -- segment.ms


def test_an_advance_by_segment_ms_starts_a_new_segment() -> None:
    log = new_log(LogConfig(segment_ms=7 * DAY_MS))
    append_ahead(log, ahead_ms=0)

    append_ahead(log)

    assert [segment.base_offset for segment in log.segments] == [0, 1]


def test_records_that_are_written_while_the_clock_is_ahead_share_a_segment() -> None:
    log = new_log(LogConfig(segment_ms=7 * DAY_MS))

    append_ahead(log)
    append_ahead(log, real_ms=NOW_MS + DAY_MS)

    assert len(log.segments) == 1


# -- producer.id.expiration.ms


def test_a_producer_that_writes_after_the_advance_does_not_expire() -> None:
    log = new_log()
    append_ahead(log, idempotent(0), ahead_ms=0)

    append_ahead(log, idempotent(1))

    assert log.producers.remove_expired(AHEAD_NOW_MS + DAY_MS - 1) == 0
    assert log.producers.remove_expired(AHEAD_NOW_MS + DAY_MS) == 1


def test_a_producer_that_is_idle_since_before_the_advance_expires() -> None:
    log = new_log()
    append_ahead(log, idempotent(0), ahead_ms=0)

    append_ahead(log)

    assert log.producers.remove_expired(AHEAD_NOW_MS) == 1


def test_a_producer_ages_from_its_marker() -> None:
    log = new_log()
    append_ahead(log, idempotent(0))
    marker = TransactionMarker(producer_id=7, producer_epoch=0, is_commit=True)

    log.append_coordinated(marker, now_ms=AHEAD_NOW_MS + HOUR_MS, leader_epoch=0)

    assert log.producers.remove_expired(AHEAD_NOW_MS + HOUR_MS + DAY_MS - 1) == 0
    assert log.producers.remove_expired(AHEAD_NOW_MS + HOUR_MS + DAY_MS) == 1


def test_a_removed_producer_that_comes_back_has_no_earlier_time() -> None:
    log = new_log()
    append_ahead(log, idempotent(0))
    log.producers.remove(7)

    append_ahead(log, idempotent(0), ahead_ms=0)

    assert log.producers.remove_expired(NOW_MS + DAY_MS) == 1


# -- message.timestamp.before.max.ms and after.max.ms


def test_a_client_with_the_real_time_is_not_refused() -> None:
    bounds = LogConfig(message_timestamp_before_max_ms=HOUR_MS, message_timestamp_after_max_ms=HOUR_MS)
    log = new_log(bounds)

    offsets = [append_ahead(log, ahead_ms=ahead_ms).base_offset for ahead_ms in (0, AHEAD_MS, -AHEAD_MS)]

    assert offsets == [0, 1, 2]


@pytest.mark.parametrize("by_ms", [-HOUR_MS - 1, HOUR_MS + 1])
def test_a_timestamp_out_of_the_bounds_of_the_real_time_is_refused(by_ms: int) -> None:
    log = new_log(LogConfig(message_timestamp_before_max_ms=HOUR_MS, message_timestamp_after_max_ms=HOUR_MS))

    with pytest.raises(AppendRefused) as raised:
        append_ahead(log, batch(base_timestamp=NOW_MS + by_ms))

    assert raised.value.code is ErrorCode.INVALID_TIMESTAMP
    (error,) = raised.value.record_errors
    assert error.message is not None
    assert f"[{NOW_MS - HOUR_MS}, {NOW_MS + HOUR_MS}]" in error.message


def test_a_batch_that_is_validated_in_a_thread_has_the_same_bounds() -> None:
    bounds = LogConfig(message_timestamp_before_max_ms=HOUR_MS, message_timestamp_after_max_ms=HOUR_MS)
    log = new_log(bounds)

    header, *_ = log.validate_in_thread(memoryview(batch()), AHEAD_NOW_MS, lambda: None, ahead_ms=AHEAD_MS)

    assert header.records_count == 1


# -- min.compaction.lag.ms and max.compaction.lag.ms


def compacted(config: LogConfig) -> CleanedLog:
    """Return a log with an older and a newer record of one key, written while the clock is ahead."""
    log = CleanedLog(config)
    for value in (b"0", b"1"):
        append_ahead(log.log, batch(record(value, b"a")))
    log.roll()
    return log


def test_records_within_the_compaction_lag_are_not_cleaned() -> None:
    log = compacted(replace(COMPACTING, min_compaction_lag_ms=HOUR_MS))

    assert log.clean(AHEAD_NOW_MS + HOUR_MS - 1) == 0
    assert log.clean(AHEAD_NOW_MS + HOUR_MS) == 1


def test_records_are_overdue_for_cleaning_by_the_brokers_clock() -> None:
    log = compacted(replace(COMPACTING, min_cleanable_dirty_ratio=1.0, max_compaction_lag_ms=HOUR_MS))

    assert log.clean(AHEAD_NOW_MS + HOUR_MS) == 0
    assert log.clean(AHEAD_NOW_MS + HOUR_MS + 1) == 1


def test_a_cleaned_segment_is_as_old_as_those_that_it_replaces() -> None:
    log = compacted(replace(COMPACTING, min_compaction_lag_ms=HOUR_MS))
    log.clean(AHEAD_NOW_MS + HOUR_MS)

    cleaned, _ = log.log.segments

    assert (cleaned.largest_timestamp, cleaned.first_batch_timestamp) == (AHEAD_NOW_MS, AHEAD_NOW_MS)
    assert cleaned.max_timestamp == NOW_MS


# -- loading


def test_no_record_of_a_loaded_segment_is_older_than_before() -> None:
    log = loaded_after_append(LogConfig(retention_ms=DAY_MS))

    assert log.enforce_retention(AHEAD_NOW_MS + DAY_MS) == 0
    assert log.enforce_retention(AHEAD_NOW_MS + DAY_MS + 1) == 1


def test_no_producer_expires_by_loading() -> None:
    log = loaded_after_append(LogConfig(), idempotent(0))

    assert log.producers.find(7) is not None
    assert log.producers.remove_expired(AHEAD_NOW_MS + DAY_MS - 1) == 0
    assert log.producers.remove_expired(AHEAD_NOW_MS + DAY_MS) == 1


def test_a_loaded_segment_with_log_append_time_is_on_the_brokers_clock_already() -> None:
    log = loaded_after_append(APPEND_TIME)

    assert log.enforce_retention(AHEAD_NOW_MS + DAY_MS) == 0
    assert log.enforce_retention(AHEAD_NOW_MS + DAY_MS + 1) == 1


def test_records_without_timestamps_in_a_loaded_segment_age_from_its_loading() -> None:
    log = loaded_after_append(LogConfig(retention_ms=DAY_MS), batch(base_timestamp=-1))

    assert log.enforce_retention(AHEAD_NOW_MS + DAY_MS) == 0
    assert log.enforce_retention(AHEAD_NOW_MS + DAY_MS + 1) == 1


# -- lookup


def test_the_first_record_of_the_last_hour_is_found_by_the_brokers_clock() -> None:
    log = new_log(LogConfig(segment_bytes=300))
    append_ahead(log, sized_batch(200), ahead_ms=0)
    append_ahead(log, sized_batch(200, timestamp=NOW_MS + 1))

    found = log.offset_for_timestamp(AHEAD_NOW_MS + 1 - HOUR_MS, is_on_brokers_clock=True)

    assert found is not None
    assert (found.offset, found.timestamp) == (1, NOW_MS + 1)
    assert log.offset_for_timestamp(AHEAD_NOW_MS + 1 - HOUR_MS) is None
