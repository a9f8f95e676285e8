"""Loading of logs: after a clean shutdown, after a crash, and those of a real Kafka."""

from __future__ import annotations

from pathlib import Path

import pytest

from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem
from fauxka.storage.log_config import LogConfig
from fauxka.storage.log_loader import LoadState, LogLocation
from fauxka.storage.partition_log import PartitionLog
from fauxka.storage.producers.emulated_version import EmulatedVersion
from fauxka.storage.producers.producer_snapshot import decode_snapshot

from ..protocol.batch_bytes import NOW_MS
from .logs import new_log, produce, read_all

KAFKA_FOLDER = Path(__file__).parent.parent / "golden" / "kafka-4.3.0-data-dir"
# Shortly after the folder was written, so that no producer is expired.
KAFKA_NOW_MS = 1_795_242_100_000
KAFKA_CONFIGS = {"demo": LogConfig(index_interval_bytes=100)}
# Kafka deletes it at loading too: a snapshot at the log start is not needed.
SNAPSHOT_AT_LOG_START = f"{2:020d}.snapshot"
SMALL = LogConfig(segment_bytes=400, index_interval_bytes=100)


def kafka_files(folder: str) -> MemoryFileSystem:
    files = MemoryFileSystem()
    for path in (KAFKA_FOLDER / folder).iterdir():
        files.replace(f"{folder}/{path.name}", path.read_bytes())
    return files


def contents(files: MemoryFileSystem, folder: str) -> dict[str, bytes]:
    read = {name: files.open(f"{folder}/{name}") for name in files.names_in(folder)}
    return {name: bytes(file.read(0, file.size)) for name, file in read.items()}


def comparable(name: str, files: dict[str, bytes]) -> object:
    """Return the comparable content of a file: the order of a snapshot's producers does not matter."""
    if name.endswith(".snapshot"):
        return {entry.producer_id: entry for entry in decode_snapshot(files[name])}
    return files[name]


def load(
    files: MemoryFileSystem,
    state: LoadState,
    *,
    topic: str = "topic",
    config: LogConfig = SMALL,
    now_ms: int = NOW_MS,
) -> PartitionLog:
    return PartitionLog(LogLocation(files, topic, 0, EmulatedVersion.latest()), config, now_ms=now_ms, state=state)


def load_kafka(files: MemoryFileSystem, state: LoadState, topic: str = "demo") -> PartitionLog:
    return load(files, state, topic=topic, config=KAFKA_CONFIGS.get(topic, LogConfig()), now_ms=KAFKA_NOW_MS)


def three_segments() -> tuple[MemoryFileSystem, PartitionLog]:
    files = MemoryFileSystem()
    log = new_log(SMALL, file_system=files)
    for number in range(12):
        produce(log, number, value=b"%050d" % number)
    assert len(log.segments) >= 3
    return files, log


# -- a real Kafka's folder


def test_kafkas_folder_is_loaded_after_a_clean_shutdown() -> None:
    files = kafka_files("demo-0")
    before = contents(files, "demo-0")

    log = load_kafka(files, LoadState(is_clean=True, recovery_point=15, log_start_offset=2))

    assert (log.log_start_offset, log.log_end_offset, log.truncated_bytes) == (2, 15, 0)
    assert log.producers.first_unstable_offset == 9
    before.pop(SNAPSHOT_AT_LOG_START)
    assert contents(files, "demo-0") == before


@pytest.mark.parametrize("topic", ["demo", "compacted", "__transaction_state"])
def test_recovery_writes_the_files_that_kafka_had_written(topic: str) -> None:
    folder = f"{topic}-0"
    files = kafka_files(folder)
    before = contents(files, folder)
    for name in before:
        if not name.endswith((".log", "leader-epoch-checkpoint", "partition.metadata")):
            files.delete(f"{folder}/{name}")

    log = load_kafka(files, LoadState(log_start_offset=2 if topic == "demo" else 0), topic)
    log.close()

    after = contents(files, folder)
    assert before.keys() - after.keys() <= {SNAPSHOT_AT_LOG_START}
    changed = {name for name in before if name in after and comparable(name, after) != comparable(name, before)}
    assert changed == set()


def test_recovery_restores_the_producers_of_kafka() -> None:
    known = load_kafka(kafka_files("demo-0"), LoadState(is_clean=True, recovery_point=15, log_start_offset=2))
    files = kafka_files("demo-0")
    for name in files.names_in("demo-0"):
        if name.endswith(".snapshot"):
            files.delete(f"demo-0/{name}")

    recovered = load_kafka(files, LoadState())

    expected = {entry.producer_id: entry for entry in known.producers.active_producers()}
    assert {entry.producer_id: entry for entry in recovered.producers.active_producers()} == expected


# -- clean shutdowns


def test_log_is_the_same_after_a_clean_shutdown() -> None:
    files, log = three_segments()
    log.close()

    loaded = load(files, LoadState(is_clean=True, recovery_point=12))

    assert read_all(loaded) == read_all(log)
    assert (loaded.log_start_offset, loaded.log_end_offset, len(loaded.segments)) == (0, 12, len(log.segments))
    assert loaded.recovery_point == 12


def test_only_the_newest_batch_is_recognised_as_a_duplicate_after_a_restart() -> None:
    files, log = three_segments()
    log.close()

    loaded = load(files, LoadState(is_clean=True, recovery_point=12))

    assert produce(loaded, 11).is_duplicate
    with pytest.raises(Exception, match="expected sequence 12"):
        produce(loaded, 10)


def test_sequences_continue_after_a_restart() -> None:
    files, log = three_segments()
    log.close()

    loaded = load(files, LoadState(is_clean=True, recovery_point=12))

    assert produce(loaded, 12).base_offset == 12


def test_clean_shutdown_without_snapshots_leaves_no_producers() -> None:
    files, log = three_segments()
    log.close()
    for name in files.names_in("topic-0"):
        if name.endswith(".snapshot"):
            files.delete(f"topic-0/{name}")

    loaded = load(files, LoadState(is_clean=True, recovery_point=12))

    assert list(loaded.producers.active_producers()) == []
    assert f"{12:020d}.snapshot" in files.names_in("topic-0")


def test_expired_producers_are_not_loaded() -> None:
    files, log = three_segments()
    log.close()

    loaded = load(files, LoadState(is_clean=True, recovery_point=12), now_ms=NOW_MS + 86_400_000)

    assert list(loaded.producers.active_producers()) == []


# -- crashes


def test_log_is_the_same_after_a_crash() -> None:
    files, log = three_segments()
    indexes = {name: data for name, data in contents(files, "topic-0").items() if name.endswith("index")}

    loaded = load(files, LoadState())

    assert read_all(loaded) == read_all(log)
    assert loaded.truncated_bytes == 0
    assert produce(loaded, 11).is_duplicate
    after = contents(files, "topic-0")
    assert {name: data for name, data in after.items() if name.endswith(".index") and name in indexes} == {
        name: data for name, data in indexes.items() if name.endswith(".index")
    }


def test_torn_batch_is_truncated_and_its_sequence_is_accepted_again() -> None:
    files, _ = three_segments()
    last = max(name for name in files.names_in("topic-0") if name.endswith(".log"))
    file = files.open(f"topic-0/{last}")
    file.truncate(file.size - 1)

    loaded = load(files, LoadState())

    assert loaded.log_end_offset == 11
    assert loaded.truncated_bytes > 0
    assert produce(loaded, 11).base_offset == 11


def test_zeros_after_the_last_batch_are_truncated() -> None:
    files, _ = three_segments()
    last = max(name for name in files.names_in("topic-0") if name.endswith(".log"))
    files.open(f"topic-0/{last}").append(bytes(100), b"")

    loaded = load(files, LoadState())

    assert (loaded.log_end_offset, loaded.truncated_bytes) == (12, 100)


def test_batches_after_a_damaged_one_are_dropped() -> None:
    files, log = three_segments()
    before = read_all(log)
    names = [name for name in files.names_in("topic-0") if name.endswith(".log")]
    data = bytearray(contents(files, "topic-0")[names[1]])
    data[100] ^= 1
    files.replace(f"topic-0/{names[1]}", bytes(data))

    loaded = load(files, LoadState())

    base_offset = int(names[1].removesuffix(".log"))
    assert loaded.log_end_offset == base_offset
    assert before.startswith(read_all(loaded))
    assert [name for name in files.names_in("topic-0") if name.endswith(".log")] == names[:2]


def test_segments_before_the_recovery_point_are_not_read() -> None:
    files, _ = three_segments()
    names = [name for name in files.names_in("topic-0") if name.endswith(".log")]
    data = bytearray(contents(files, "topic-0")[names[0]])
    data[100] ^= 1
    files.replace(f"topic-0/{names[0]}", bytes(data))

    loaded = load(files, LoadState(recovery_point=int(names[1].removesuffix(".log"))))

    assert (loaded.log_end_offset, loaded.truncated_bytes) == (12, 0)


def test_torn_batch_is_truncated_after_a_clean_shutdown_too() -> None:
    files, log = three_segments()
    log.close()
    last = max(name for name in files.names_in("topic-0") if name.endswith(".log"))
    file = files.open(f"topic-0/{last}")
    file.truncate(file.size - 1)

    loaded = load(files, LoadState(is_clean=True, recovery_point=12))

    assert loaded.log_end_offset == 11


def test_missing_index_is_rebuilt_after_a_clean_shutdown() -> None:
    files, log = three_segments()
    log.close()
    before = contents(files, "topic-0")
    index = next(name for name in before if name.endswith(".index") and before[name])
    files.delete(f"topic-0/{index}")

    load(files, LoadState(is_clean=True, recovery_point=12))

    assert contents(files, "topic-0")[index] == before[index]


def test_corrupt_snapshot_is_deleted_and_the_previous_one_is_used() -> None:
    files, log = three_segments()
    log.close()
    path = f"topic-0/{12:020d}.snapshot"
    files.replace(path, b"broken")

    loaded = load(files, LoadState(is_clean=True, recovery_point=12))

    assert produce(loaded, 11).is_duplicate
    assert contents(files, "topic-0")[f"{12:020d}.snapshot"] != b"broken"


def test_log_that_ends_before_its_checkpointed_start_starts_empty_there() -> None:
    files, _ = three_segments()

    loaded = load(files, LoadState(log_start_offset=20))

    assert (loaded.log_start_offset, loaded.log_end_offset) == (20, 20)
    assert [name for name in files.names_in("topic-0") if name.endswith(".log")] == [f"{20:020d}.log"]


def test_deleted_records_stay_deleted() -> None:
    files, log = three_segments()
    log.delete_records_before(5)

    loaded = load(files, LoadState(log_start_offset=5))

    assert loaded.log_start_offset == 5
    assert loaded.leader_epochs.entries() == log.leader_epochs.entries()
