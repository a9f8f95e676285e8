"""A follower's log is truncated to an offset, and is then as if the records after it had never been written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fauxka.protocol.batches.record_batch import TRANSACTIONAL_BIT, parse_header
from fauxka.storage.coordinator_batch import TransactionMarker
from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem
from fauxka.storage.log_config import LogConfig
from fauxka.storage.log_manager import LogManager
from fauxka.storage.partition_log import PartitionLog

from ..protocol.batch_bytes import NOW_MS, batch, records
from .logs import append, batches_in, produce, read_all, read_bytes

SMALL_SEGMENTS = LogConfig(segment_bytes=400, index_interval_bytes=1)


def new_logs(config: LogConfig = SMALL_SEGMENTS) -> tuple[LogManager, PartitionLog]:
    logs = LogManager(MemoryFileSystem())
    return logs, logs.create("topic", 0, config, now_ms=NOW_MS)


def producers_of(log: PartitionLog) -> dict[int, tuple[int, ...]]:
    return {
        entry.producer_id: tuple(each.last_sequence for each in entry.batches)
        for entry in log.producers.active_producers()
    }


@given(counts=st.lists(st.integers(1, 3), min_size=1, max_size=30), kept=st.integers(0, 30))
def test_a_truncated_log_equals_one_that_never_had_the_records(counts: list[int], kept: int) -> None:
    kept = min(kept, len(counts))
    (logs, log), (_, expected) = new_logs(), new_logs()
    sequence = end_offset = 0
    for number, count in enumerate(counts):
        if number < kept:
            end_offset += count
            produce(expected, sequence, count)
        produce(log, sequence, count)
        sequence += count
    truncated = logs.truncate("topic", 0, end_offset, now_ms=NOW_MS)
    assert truncated.log_end_offset == end_offset
    assert batches_in(read_all(truncated)) == batches_in(read_all(expected))
    assert producers_of(truncated) == producers_of(expected)
    assert truncated.leader_epochs.entries() == expected.leader_epochs.entries()
    if kept < len(counts):
        repeated = produce(truncated, end_offset, counts[kept])
        assert (repeated.base_offset, repeated.is_duplicate) == (end_offset, False)


def test_truncation_removes_the_epochs_that_start_after_it() -> None:
    logs, log = new_logs()
    produce(log, 0)
    log.assign_leader_epoch(4)
    produce(log, 1)
    log.assign_leader_epoch(6)
    produce(log, 2)
    assert logs.truncate("topic", 0, 1, now_ms=NOW_MS).leader_epochs.entries() == [(0, 0), (4, 1)]


def test_an_epoch_without_records_is_dropped_when_records_of_an_earlier_one_are_fetched() -> None:
    _, leader = new_logs()
    logs, log = new_logs()
    for sequence in range(2):
        produce(leader, sequence)
    first, second = (memoryview(each) for each in batches_in(read_all(leader)))
    log.append_replicated(first, now_ms=NOW_MS)
    log.assign_leader_epoch(4)

    log.append_replicated(second, now_ms=NOW_MS)

    assert log.leader_epochs.entries() == [(0, 0)]
    assert logs.truncate("topic", 0, 2, now_ms=NOW_MS).leader_epochs.entries() == [(0, 0)]


def test_truncation_opens_a_transaction_whose_marker_it_removes() -> None:
    logs, log = new_logs()
    begun = batch(records(1), producer_id=7, producer_epoch=0, base_sequence=0, attributes=TRANSACTIONAL_BIT)
    append(log, begun)
    marker = TransactionMarker(
        producer_id=7, producer_epoch=0, is_commit=True, coordinator_epoch=0, transaction_version=1
    )
    log.append_coordinated(marker, now_ms=NOW_MS, leader_epoch=0)
    assert log.last_stable_offset == 2
    truncated = logs.truncate("topic", 0, 1, now_ms=NOW_MS)
    assert (truncated.log_end_offset, truncated.last_stable_offset) == (1, 0)


@pytest.mark.parametrize("offset", [3, 50])
def test_a_log_that_restarts_at_an_offset_is_empty_there(offset: int) -> None:
    logs, log = new_logs()
    for sequence in range(10):
        produce(log, sequence)
    restarted = logs.restart_at("topic", 0, offset, now_ms=NOW_MS)
    assert (restarted.log_start_offset, restarted.log_end_offset) == (offset, offset)
    assert read_all(restarted) == b""
    assert logs.find("topic", 0) is restarted
    assert produce(restarted, 0).base_offset == offset
    assert parse_header(memoryview(read_bytes(restarted, offset))).base_offset == offset
