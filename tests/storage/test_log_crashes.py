"""Logs after crashes and failing files; each case was found by the simulation."""

from __future__ import annotations

import errno
import os
from random import Random

import pytest

from fauxka.faults.files.operation_kind import CHANGES, OperationKind
from fauxka.storage.append_refused import AppendRefused
from fauxka.storage.checkpoints.checkpoint_files import CLEAN_SHUTDOWN
from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem
from fauxka.storage.log_config import LogConfig
from fauxka.storage.log_manager import LogManager
from fauxka.storage.partition_log import PartitionLog

from ..faulty_files.faulty_file_system import FaultyFileSystem
from ..faulty_files.file_fault_rules import Fail, FileFaultRule, Tear
from ..protocol.batch_bytes import NOW_MS
from .logs import append, batches_in, produce, read_all, sized_batch

FOLDER = "topic-0"
CONFIG = LogConfig(segment_bytes=400, index_interval_bytes=0, segment_index_bytes=480)
# The result of a power loss is random; enough repetitions reach each of the few possibilities.
TRIES = 50


def started(disk: FaultyFileSystem, config: LogConfig = CONFIG) -> tuple[LogManager, PartitionLog]:
    manager = LogManager(disk)
    manager.prepare_loading()
    return manager, manager.load("topic", 0, config, now_ms=NOW_MS)


def new_disk() -> FaultyFileSystem:
    return FaultyFileSystem(MemoryFileSystem())


def flush(log: PartitionLog) -> None:
    step = log.begin_flush()
    step.run()
    log.finish_flush(step)


def fail(disk: FaultyFileSystem, kind: OperationKind, suffix: str = "", *, times: int | None = 1) -> FileFaultRule:
    return disk.plan.add(FileFaultRule(effect=Fail(), kinds=frozenset({kind}), suffix=suffix, times=times))


@pytest.mark.parametrize("suffix", [".log", ".timeindex", ".snapshot"])
def test_batch_in_the_old_segment_after_a_failed_roll_survives_a_kill(suffix: str) -> None:
    disk = new_disk()
    _, log = started(disk)
    append(log, sized_batch(300))
    rule = disk.plan.add(FileFaultRule(effect=Fail(), kinds=CHANGES, suffix=suffix, times=None))
    with pytest.raises(AppendRefused):
        append(log, sized_batch(300))
    disk.plan.remove(rule)

    append(log, sized_batch(80))
    append(log, sized_batch(300))

    _, left = started(disk.after_kill())
    assert left.log_end_offset == 3
    assert [len(each) for each in batches_in(read_all(left))] == [300, 80, 300]


def test_torn_tail_in_a_rolled_segment_does_not_drop_later_segments() -> None:
    disk = new_disk()
    _, log = started(disk)
    append(log, sized_batch(300))
    disk.plan.add(FileFaultRule(effect=Tear(50), kinds=frozenset({OperationKind.WRITE}), suffix=".log"))
    with pytest.raises(AppendRefused):
        append(log, sized_batch(90))

    append(log, sized_batch(300))

    _, left = started(disk.after_kill())
    assert len(left.segments) == 2
    assert left.log_end_offset == 2


def test_log_starts_at_its_first_file_after_a_failed_deletion() -> None:
    disk = new_disk()
    _, log = started(disk, LogConfig(segment_bytes=400, retention_bytes=0))
    for _ in range(4):
        append(log, sized_batch(300))
    fail(disk, OperationKind.RENAME, ".timeindex")

    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        log.enforce_retention(NOW_MS)

    assert log.log_start_offset >= 3
    assert len(batches_in(read_all(log))) == log.log_end_offset - log.log_start_offset
    log.enforce_retention(NOW_MS)
    _, left = started(disk.after_kill())
    assert left.log_start_offset == log.log_start_offset


def test_deleted_clean_shutdown_mark_does_not_reappear() -> None:
    disk = new_disk()
    manager, _ = started(disk)
    manager.close()
    started(disk := disk.after_kill())

    left = [disk.after_power_loss(Random(seed)).exists(CLEAN_SHUTDOWN) for seed in range(TRIES)]

    assert True not in left


def test_clean_shutdown_mark_does_not_reappear_after_a_killed_start() -> None:
    disk = new_disk()
    manager, _ = started(disk)
    manager.close()
    disk = disk.after_kill()
    fail(disk, OperationKind.SYNC_FOLDER)
    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        started(disk)
    started(disk := disk.after_kill())

    left = [disk.after_power_loss(Random(seed)).exists(CLEAN_SHUTDOWN) for seed in range(TRIES)]

    assert True not in left


def test_segments_after_damage_do_not_reappear() -> None:
    disk = new_disk()
    _, log = started(disk)
    for _ in range(4):
        append(log, sized_batch(300))
    flush(log)
    damaged = disk.after_power_loss(Random(0))
    damaged.open(f"{FOLDER}/{1:020d}.log").truncate(200)

    _, recovered = started(disk := FaultyFileSystem(damaged))

    assert recovered.log_end_offset == 1
    for seed in range(TRIES):
        names = disk.after_power_loss(Random(seed)).names_in(FOLDER)
        assert f"{2:020d}.log" not in names
        assert f"{3:020d}.log" not in names


def test_segment_after_a_lost_end_is_dropped() -> None:
    disk = new_disk()
    manager, log = started(disk)
    append(log, sized_batch(100))
    manager.write_checkpoints()
    for _ in range(3):
        append(log, sized_batch(150))
    left = disk.after_kill()
    left.open(f"{FOLDER}/{0:020d}.log").truncate(250)

    _, recovered = started(left)

    assert recovered.log_end_offset == 2
    assert len(recovered.segments) == 1


def test_gap_between_segments_of_a_compacted_log_stays() -> None:
    disk = new_disk()
    _, log = started(disk)
    for _ in range(4):
        append(log, sized_batch(150))
    left = disk.after_kill()
    left.open(f"{FOLDER}/{0:020d}.log").truncate(150)

    _, recovered = started(left)

    assert recovered.log_end_offset == 4
    assert len(recovered.segments) == 2


def test_bytes_of_a_failed_flush_are_durable_after_the_next_successful_flush() -> None:
    config = LogConfig(flush_messages=1)
    disk = new_disk()
    _, log = started(disk, config)
    flush(log)
    append(log, sized_batch(300))
    fail(disk, OperationKind.SYNC, ".log")
    step = log.begin_flush()
    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        step.run()

    _, log = started(disk := disk.after_kill(), config)
    flush(log)

    for seed in range(TRIES):
        _, left = started(FaultyFileSystem(disk.after_power_loss(Random(seed))), config)
        assert left.log_end_offset == 1


def test_time_index_lost_in_a_power_loss_is_rebuilt() -> None:
    disk = new_disk()
    manager, log = started(disk)
    append(log, sized_batch(300, timestamp=NOW_MS))
    flush(log)
    manager.write_checkpoints()
    append(log, sized_batch(300, timestamp=NOW_MS + 5))

    for seed in range(TRIES):
        _, left = started(FaultyFileSystem(disk.after_power_loss(Random(seed))))
        found = left.offset_for_timestamp(NOW_MS)
        assert found is not None
        assert found.offset == 0


def test_producers_of_deleted_records_are_dropped_at_start_as_in_kafka() -> None:
    disk = new_disk()
    manager, log = started(disk)
    produce(log, 0, producer_id=7, value=bytes(250))
    append(log, sized_batch(300))
    log.delete_records_before(1)
    manager.write_checkpoints()

    log.enforce_retention(NOW_MS)

    _, left = started(disk.after_kill())
    assert left.log_start_offset == 1
    assert list(left.producers.active_producers()) == []


def test_leader_epoch_without_records_is_replaced_by_the_next() -> None:
    _, log = started(new_disk())

    log.assign_leader_epoch(0)
    append(log, sized_batch(80), leader_epoch=1)

    assert log.leader_epochs.entries() == [(1, 0)]
