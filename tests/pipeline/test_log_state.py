"""The files of a folder beside its log: what says that the log once reached further, or began earlier."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from struct import pack

import pytest

from fauxka.pipeline.checks.log_ends import TruncatedLog
from fauxka.pipeline.checks.log_state import LogState, read_state
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.storage.checkpoints.checkpoint_files import (
    CLEAN_SHUTDOWN,
    CLEANER_OFFSET_CHECKPOINT,
    LEADER_EPOCH_CHECKPOINT,
    LOG_START_OFFSET_CHECKPOINT,
    RECOVERY_POINT_CHECKPOINT,
    REPLICATION_OFFSET_CHECKPOINT,
    encode_clean_shutdown,
    encode_leader_epochs,
    encode_offsets,
)
from fauxka.testing import Broker

from ..reference.log_client import log_client
from .logs_on_disk import GOLDEN, batches, write_segment

# Offsets 40 to 45, and 46 to 51.
FIRST, END = 40, 52
Plant = Callable[[Path], object]


def checkpoint(name: str, offset: int) -> Plant:
    return lambda folder: (folder / name).write_bytes(encode_offsets({("t", 0): offset}))


def epochs(*entries: tuple[int, int]) -> Plant:
    return lambda folder: (folder / "t-0" / LEADER_EPOCH_CHECKPOINT).write_bytes(encode_leader_epochs(entries))


def file(name: str, content: bytes) -> Plant:
    return lambda folder: (folder / "t-0" / name).write_bytes(content)


def clean(folder: Path) -> None:
    (folder / CLEAN_SHUTDOWN).write_bytes(encode_clean_shutdown(0))


def two_segments(folder: Path) -> None:
    write_segment(folder / "t-0", batches(FIRST, 3), index_every=1)
    write_segment(folder / "t-0", batches(FIRST + 6, 3), index_every=1)


def state_with(folder: Path, *plants: Plant) -> LogState:
    two_segments(folder)
    for plant in plants:
        plant(folder)
    return read_state({"path": str(folder)})


OFFSET_INDEX_BEYOND = pack(">iiii", 3, 76, 7, 228)
TIME_INDEX_BEYOND = pack(">qiqi", 1000, 1, 2000, 9) + bytes(36)
BEYOND: dict[str, tuple[Plant, str, int]] = {
    "high watermark": (checkpoint(REPLICATION_OFFSET_CHECKPOINT, 60), "high_watermark", 60),
    "recovery point": (checkpoint(RECOVERY_POINT_CHECKPOINT, 53), "recovery_point", 53),
    "log start offset": (checkpoint(LOG_START_OFFSET_CHECKPOINT, 55), "log_start_offset", 55),
    "leader epoch": (epochs((0, 40), (1, 54)), "leader_epoch", 54),
    "offset index": (file(f"{46:020d}.index", OFFSET_INDEX_BEYOND), "offset_index", 54),
    "preallocated time index": (file(f"{46:020d}.timeindex", TIME_INDEX_BEYOND), "time_index", 56),
    "producer snapshot": (file(f"{58:020d}.snapshot", b""), "producer_snapshot", 58),
}
AT_THE_END = (
    checkpoint(REPLICATION_OFFSET_CHECKPOINT, END),
    checkpoint(RECOVERY_POINT_CHECKPOINT, END),
    checkpoint(LOG_START_OFFSET_CHECKPOINT, END),
    epochs((0, 40), (1, END)),
    file(f"{46:020d}.timeindex", pack(">qi", 1000, 5)),
    file(f"{END:020d}.snapshot", b""),
)


@pytest.mark.parametrize("source", BEYOND)
def test_a_log_that_ends_in_front_of_its_files_is_truncated(tmp_path: Path, source: str) -> None:
    plant, cause, reached = BEYOND[source]

    (found,) = state_with(tmp_path, plant).truncated

    assert found[:5] == ("t", 0, END, reached - END, cause)
    assert found.detail == (
        f"the log ends at offset {END}, but its files say that it reached further: {cause.replace('_', ' ')} {reached}"
    )


def test_the_strongest_of_several_is_the_cause_and_the_furthest_counts(tmp_path: Path) -> None:
    plants = [plant for plant, _, _ in BEYOND.values()]

    (found,) = state_with(tmp_path, *plants[1:], plants[0]).truncated

    assert (found.cause, found.missing) == ("high_watermark", 8)


def test_files_that_reach_to_the_end_say_nothing(tmp_path: Path) -> None:
    state = state_with(tmp_path, *AT_THE_END)

    assert state.truncated == []
    assert state.facts[0].begins_at is None


@pytest.mark.parametrize(
    "plant",
    [
        file(f"../{REPLICATION_OFFSET_CHECKPOINT}", b"0\n1\nt 0 60"),
        file(f"{46:020d}.index", pack(">iiii", 9, 300, 3, 152)),
        file(f"{46:020d}.timeindex", b"\xff" * 24),
        file(f"{46:020d}.snapshot.deleted", b""),
        file(LEADER_EPOCH_CHECKPOINT, b"0\n1\n0 99"),
    ],
)
def test_a_damaged_file_says_nothing(tmp_path: Path, plant: Plant) -> None:
    assert state_with(tmp_path, plant).truncated == []


@pytest.mark.parametrize("chosen", ["*/t-0", f"a/t-0/{FIRST:020d}.log", "a/t-0/*0.log"])
def test_part_of_the_segments_or_several_folders_are_not_compared(tmp_path: Path, chosen: str) -> None:
    for name in ("a", "b"):
        two_segments(tmp_path / name)
        checkpoint(REPLICATION_OFFSET_CHECKPOINT, 60)(tmp_path / name)

    write_segment(tmp_path / "b" / "t-0", batches(FIRST + 6, 4))

    assert read_state({"path": str(tmp_path / chosen)}).truncated == []
    assert [one[:4] for one in read_state({"path": str(tmp_path / "a")}).truncated] == [("t", 0, END, 8)]


def test_a_partition_s_folder_has_the_checkpoints_beside_it(tmp_path: Path) -> None:
    two_segments(tmp_path)
    checkpoint(REPLICATION_OFFSET_CHECKPOINT, 60)(tmp_path)

    assert read_state({"path": str(tmp_path / "t-0")}).truncated == [
        TruncatedLog(
            *("t", 0, END, 8, "high_watermark"),
            f"the log ends at offset {END}, but its files say that it reached further: high watermark 60",
        )
    ]


def test_a_log_without_a_batch_in_its_last_segment_ends_there(tmp_path: Path) -> None:
    state = state_with(tmp_path, file(f"{END:020d}.log", b""), checkpoint(REPLICATION_OFFSET_CHECKPOINT, END))

    assert state.truncated == []


def begins_at(state: LogState) -> int | None:
    (facts,) = state.facts
    return facts.begins_at


def late_first_batch(folder: Path) -> None:
    """The first segment has lost its first batch."""
    first = folder / "t-0" / f"{FIRST:020d}.log"
    first.write_bytes(b"".join(batches(FIRST + 2, 2)))


STARTS: dict[str, tuple[list[Plant], int | None]] = {
    "the first batch is missing": ([late_first_batch], 40),
    "DeleteRecords has removed it": ([late_first_batch, checkpoint(LOG_START_OFFSET_CHECKPOINT, 43)], None),
    "DeleteRecords has removed a part of it": ([late_first_batch, checkpoint(LOG_START_OFFSET_CHECKPOINT, 41)], 41),
    "the first segment is missing, by the epochs": ([clean, epochs((0, 20))], 20),
    "the first segment is missing, by the log start offset": (
        [clean, checkpoint(LOG_START_OFFSET_CHECKPOINT, 30)],
        30,
    ),
    "retention removed it before a kill": ([epochs((0, 20)), checkpoint(LOG_START_OFFSET_CHECKPOINT, 30)], None),
    "remote storage has it": (
        [clean, epochs((0, 20)), lambda folder: (folder / "__remote_log_metadata-3").mkdir()],
        None,
    ),
    "the log began with a later epoch": ([clean, epochs((3, 44))], None),
}


@pytest.mark.parametrize("case", STARTS)
def test_the_start_of_a_log_is_missing_only_where_nothing_explains_it(tmp_path: Path, case: str) -> None:
    plants, expected = STARTS[case]

    assert begins_at(state_with(tmp_path, *plants)) == expected


def test_a_cleaned_log_knows_how_far_it_is_cleaned(tmp_path: Path) -> None:
    state = state_with(tmp_path, late_first_batch, checkpoint(CLEANER_OFFSET_CHECKPOINT, 46))

    assert [(one.begins_at, one.cleaned_before) for one in state.facts] == [(40, 46)]


def test_the_folder_of_a_real_kafka_says_nothing() -> None:
    state = read_state({"path": str(GOLDEN), "topics": "demo,compacted,__transaction_state"})

    assert state.truncated == []
    assert {one.topic for one in state.facts if one.begins_at is not None} == {"compacted"}


TOPICS: dict[str, dict[str, str]] = {
    "plain": {},
    "deleted": {},
    "retained": {"retention.bytes": "1000"},
    "compacted": {"cleanup.policy": "compact"},
}
BATCHES = 12
SMALL_SEGMENTS = {"log.segment.bytes": "1048576", "log.cleaner.enable": "false"}


def fill(broker: Broker) -> None:
    """Append more than two segments to each topic, and remove records in each way that is no loss."""
    with log_client(broker.bootstrap_servers) as client:
        for topic, configs in TOPICS.items():
            client.create_topic(topic, configs=configs)
            for number in range(BATCHES):
                record = Record(b"v" * 200_000, key=b"key-%d" % (number % 2), timestamp=round(time.time() * 1000))
                client.append(topic, build_batch([record], BatchOptions()))
        client.delete_records("deleted", 7)
    broker.topics.apply_retention("retained")
    broker.topics.compact("compacted")


@pytest.fixture(scope="module", params=["stopped cleanly", "killed"])
def of_fauxka(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[LogState]]:
    """Return the folder of a fauxka, and what is known of it while it runs and after its end."""
    data = tmp_path_factory.mktemp("fauxka") / "data"
    with Broker(SMALL_SEGMENTS, data_dir=data) as broker:
        fill(broker)
        running = read_state({"path": str(data)})
        if request.param == "killed":
            broker.crash()
    return data, [running, read_state({"path": str(data)})]


def test_the_folder_of_a_fauxka_says_nothing(of_fauxka: tuple[Path, list[LogState]]) -> None:
    _, states = of_fauxka

    assert [state.truncated for state in states] == [[], []]
    for state in states:
        assert {one.topic for one in state.facts} == set(TOPICS)
        assert {one.topic for one in state.facts if one.begins_at is not None} == {"compacted"}


def test_a_cut_segment_of_a_fauxka_is_truncated(of_fauxka: tuple[Path, list[LogState]], tmp_path: Path) -> None:
    shutil.copytree(of_fauxka[0], tmp_path / "data")
    last = max((tmp_path / "data" / "plain-0").glob("*.log"))
    last.write_bytes(last.read_bytes()[:-1])

    (found,) = read_state({"path": str(tmp_path / "data")}).truncated

    assert (found.topic, found.offset, found.missing) == ("plain", BATCHES - 1, 1)
