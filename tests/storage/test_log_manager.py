"""All logs of a broker on one file system."""

from __future__ import annotations

from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem
from fauxka.storage.leader_epoch_cache import EpochEndOffset
from fauxka.storage.log_config import LogConfig
from fauxka.storage.log_manager import LogManager
from fauxka.storage.producers.emulated_version import EmulatedVersion

from ..protocol.batch_bytes import NOW_MS, batch
from .logs import append, produce, read_all

DAY_MS = 86_400_000


def test_log_is_created_found_and_deleted_with_its_files() -> None:
    files = MemoryFileSystem()
    logs = LogManager(files)
    log = logs.create("topic", 3, LogConfig(), now_ms=NOW_MS)
    append(log, batch())
    content = log.read(0, 1000, upper_offset=1, min_one_batch=True).views

    assert logs.find("topic", 3) is log
    logs.delete("topic", 3)
    logs.delete("topic", 3)

    assert (logs.find("topic", 3), files.folders(), list(logs)) == (None, [], [])
    assert len(b"".join(content)) == len(batch())


def test_topic_created_again_starts_empty() -> None:
    logs = LogManager(MemoryFileSystem())
    produce(logs.create("topic", 0, LogConfig(), now_ms=NOW_MS), 0)
    logs.delete("topic", 0)

    again = logs.create("topic", 0, LogConfig(), now_ms=NOW_MS)

    assert (again.log_end_offset, read_all(again), list(again.producers.active_producers())) == (0, b"", [])


def test_new_log_has_a_leader_epoch_from_offset_0() -> None:
    log = LogManager(MemoryFileSystem()).create("topic", 0, LogConfig(), now_ms=NOW_MS, leader_epoch=2)

    assert log.end_offset_for_epoch(2) == EpochEndOffset(2, 0)


def test_retention_and_expiry_apply_to_every_log() -> None:
    logs = LogManager(MemoryFileSystem(), EmulatedVersion.parse("2.4"))
    for partition in range(3):
        produce(logs.create("topic", partition, LogConfig(retention_ms=DAY_MS), now_ms=NOW_MS), 0)

    assert sum(logs.remove_expired_producers(NOW_MS + DAY_MS).values()) == 3
    assert sum(logs.enforce_retention(NOW_MS + DAY_MS + 1).values()) == 3
    assert [log.log_start_offset for log in logs] == [1, 1, 1]
