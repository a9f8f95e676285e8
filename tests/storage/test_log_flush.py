"""Flushes of a log: what they sync, and deferred producer snapshots."""

from __future__ import annotations

import pytest

from fauxka.storage import partition_log
from fauxka.storage.append_refused import AppendRefused
from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem
from fauxka.storage.log_config import LogConfig
from fauxka.storage.log_loader import LoadState, LogLocation
from fauxka.storage.partition_log import PartitionLog
from fauxka.storage.producers.emulated_version import EmulatedVersion

from ..protocol.batch_bytes import NOW_MS
from .logs import new_log, produce

SMALL = LogConfig(segment_bytes=400)
PRODUCERS = 3


@pytest.fixture(autouse=True)
def two_producers_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition_log, "_PRODUCERS_WRITTEN_AT_ONCE_MAX", 2)


def rolled_log(files: MemoryFileSystem) -> PartitionLog:
    """Return a log whose first roll had too many producers for a snapshot at once."""
    log = new_log(SMALL, file_system=files)
    sequence = 0
    while len(log.segments) == 1:
        for producer_id in range(PRODUCERS):
            produce(log, sequence, producer_id=producer_id, value=b"%050d" % sequence)
        sequence += 1
    return log


def flush(log: PartitionLog) -> None:
    step = log.begin_flush()
    step.run()
    log.finish_flush(step)


def snapshots(files: MemoryFileSystem) -> list[int]:
    return [int(name[:20]) for name in files.names_in("topic-0") if name.endswith(".snapshot")]


def load(files: MemoryFileSystem, recovery_point: int = 0) -> PartitionLog:
    place = LogLocation(files, "topic", 0, EmulatedVersion.latest())
    return PartitionLog(place, SMALL, now_ms=NOW_MS, state=LoadState(recovery_point=recovery_point))


def test_snapshot_of_many_producers_is_written_by_the_next_flush() -> None:
    files = MemoryFileSystem()
    log = rolled_log(files)
    before = snapshots(files)

    flush(log)

    assert before == []
    assert snapshots(files) == [log.segments.active.base_offset]


def test_many_producers_survive_a_crash_before_their_snapshot_was_written() -> None:
    files = MemoryFileSystem()
    log = rolled_log(files)
    last_sequences = {entry.producer_id: entry.last_sequence for entry in log.producers.active_producers()}

    loaded = load(files)

    assert {entry.producer_id: entry.last_sequence for entry in loaded.producers.active_producers()} == last_sequences


def test_snapshot_written_by_a_flush_has_the_producers_of_the_roll() -> None:
    files = MemoryFileSystem()
    log = rolled_log(files)
    flush(log)
    last_sequences = {entry.producer_id: entry.last_sequence for entry in log.producers.active_producers()}

    loaded = load(files, recovery_point=log.segments.active.base_offset)

    assert {entry.producer_id: entry.last_sequence for entry in loaded.producers.active_producers()} == last_sequences


def test_flush_covers_the_log_as_it_was_when_the_flush_began() -> None:
    log = new_log(SMALL)
    produce(log, 0)
    step = log.begin_flush()
    produce(log, 1)

    step.run()
    log.finish_flush(step)

    assert (log.recovery_point, log.log_end_offset) == (1, 2)


def test_batches_are_refused_after_a_failed_flush_until_one_succeeds() -> None:
    log = new_log(SMALL)
    produce(log, 0)
    log.fail_flush()

    with pytest.raises(AppendRefused, match="KAFKA_STORAGE_ERROR"):
        produce(log, 1)
    flush(log)

    assert produce(log, 1).base_offset == 1
