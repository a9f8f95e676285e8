"""The producer snapshots that a closed log leaves."""

from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem

from .logs import new_log, produce

SNAPSHOT_AT_END = f"{10:020d}.snapshot"


def closed_after_deletion(deleted_before: int) -> list[str]:
    """Return the files of a closed log of ten records, after deleting the records before an offset."""
    files = MemoryFileSystem()
    log = new_log(file_system=files)
    for base_sequence in range(0, 10, 2):
        produce(log, base_sequence, 2)
    log.delete_records_before(deleted_before)
    log.close()
    return files.names_in("topic-0")


def test_closed_log_leaves_a_snapshot_at_its_end() -> None:
    assert SNAPSHOT_AT_END in closed_after_deletion(9)


def test_closed_log_without_records_leaves_none() -> None:
    """As in Kafka 4.3; see tests/reference/test_same_files.py."""
    assert SNAPSHOT_AT_END not in closed_after_deletion(10)
