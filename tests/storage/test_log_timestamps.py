"""Lookup of records by timestamp, in plain and compressed batches, across segments."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fauxka.protocol.batches.record_batch import Compression, TimestampType
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.storage.log_config import LogConfig
from fauxka.storage.partition_log import PartitionLog
from fauxka.storage.segments.log_segments import TimestampOffset

from ..protocol.batch_bytes import NOW_MS, batch
from ..run_counts import examples
from .logs import append, new_log


def log_with(batches: list[list[int]], config: LogConfig | None = None, codec: int = 0) -> PartitionLog:
    log = new_log(config)
    for timestamps in batches:
        sent = [Record(b"v", timestamp=timestamp) for timestamp in timestamps]
        append(log, build_batch(sent, BatchOptions(compression=Compression(codec))), leader_epoch=4)
    return log


@pytest.mark.parametrize("codec", Compression)
def test_first_record_at_or_after_the_timestamp_is_found_inside_its_batch(codec: Compression) -> None:
    log = log_with([[10, 20, 30], [25, 40, 35]], codec=codec)

    found = [log.offset_for_timestamp(timestamp) for timestamp in (-5, 10, 11, 30, 31, 40, 41)]

    assert found == [
        TimestampOffset(10, 0, 4),
        TimestampOffset(10, 0, 4),
        TimestampOffset(20, 1, 4),
        TimestampOffset(30, 2, 4),
        TimestampOffset(40, 4, 4),
        TimestampOffset(40, 4, 4),
        None,
    ]


def test_empty_log_has_no_record_at_any_timestamp() -> None:
    log = new_log()

    assert (log.offset_for_timestamp(0), log.offset_of_max_timestamp()) == (None, None)


def test_records_before_the_log_start_are_not_found() -> None:
    log = log_with([[10, 20, 30], [40, 50]])

    log.delete_records_before(2)

    assert log.offset_for_timestamp(0) == TimestampOffset(30, 2, 4)


def test_first_record_with_the_greatest_timestamp_is_found() -> None:
    log = log_with([[10, 70, 30], [70, 60]], LogConfig(segment_bytes=100))

    assert log.offset_of_max_timestamp() == TimestampOffset(70, 1, 4)


def test_records_without_timestamps_have_no_greatest_one() -> None:
    log = new_log()
    append(log, batch(base_timestamp=-1))

    assert log.offset_of_max_timestamp() is None


def test_lookup_by_timestamp_uses_the_log_append_time() -> None:
    log = new_log(LogConfig(message_timestamp_type=TimestampType.LOG_APPEND_TIME))
    sent = [Record(b"v", timestamp=timestamp) for timestamp in (10, 20)]
    append(log, build_batch(sent), now_ms=NOW_MS)
    append(log, build_batch(sent), now_ms=NOW_MS + 5)

    assert log.offset_for_timestamp(NOW_MS + 1) == TimestampOffset(NOW_MS + 5, 2, 0)
    assert log.offset_of_max_timestamp() == TimestampOffset(NOW_MS + 5, 2, 0)


@given(
    st.lists(st.lists(st.integers(0, 60), min_size=1, max_size=6), min_size=1, max_size=40),
    st.integers(300, 3000),
    st.integers(1, 400),
    st.integers(0, 61),
    st.data(),
)
@settings(derandomize=True, max_examples=examples(150), deadline=None)
def test_look_up_is_that_of_a_plain_list_of_records(
    batches: list[list[int]], segment_bytes: int, interval: int, timestamp: int, choose: st.DataObject
) -> None:
    log = log_with(batches, LogConfig(segment_bytes=segment_bytes, index_interval_bytes=interval))
    flat = [each for timestamps in batches for each in timestamps]
    log.delete_records_before(choose.draw(st.sampled_from([0, 0, len(flat) // 2])))

    found = log.offset_for_timestamp(timestamp)

    later = [offset for offset, each in enumerate(flat) if each >= timestamp and offset >= log.log_start_offset]
    expected = TimestampOffset(flat[later[0]], later[0], 4) if later else None
    # As in Kafka, the lookup ends at the first segment with such a timestamp, even if its record is deleted.
    if found is not None or not log.log_start_offset:
        assert found == expected
    newest = log.offset_of_max_timestamp()
    assert newest is not None
    assert (newest.timestamp, newest.offset) == (max(flat), flat.index(max(flat)))
