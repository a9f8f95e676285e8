"""The files of a real Kafka say nothing about a truncation: while it runs, after SIGKILL, and after a clean stop.

Its topics are retained, deleted from, compacted and written in transactions. Cut files are then found.
"""

import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from fauxka.pipeline.checks.log_state import LogState, read_state
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch

from .kafka_process import kafka_process
from .log_client import LogClient, log_client

pytestmark = [pytest.mark.reference, pytest.mark.timeout(300)]

SECONDS_MAX = 60
VALUE = bytes(range(256)) * 800
# The smallest that a broker accepts: five batches of a value each fill a segment.
SEGMENT = {"segment.bytes": str(1024 * 1024)}
COMPACTION = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01", "segment.ms": "500"}
CONFIG = {
    "log.retention.check.interval.ms": "300",
    "log.initial.task.delay.ms": "300",
    "log.cleaner.backoff.ms": "100",
    "log.segment.delete.delay.ms": "100",
}
TOPICS: dict[str, dict[str, str]] = {
    "plain": SEGMENT,
    "retained": {**SEGMENT, "retention.bytes": "2500000"},
    "deleted": SEGMENT,
    "compacted": {**SEGMENT, **COMPACTION},
}
BATCHES = 24


@dataclass(frozen=True)
class Folders:
    """The log state of the folder at each step of its broker, and the folder after the clean stop."""

    states: dict[str, LogState]
    stopped: Path


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Folders]:
    folder = tmp_path_factory.mktemp("audited")
    data, states = folder / "data", dict[str, LogState]()
    with kafka_process(folder / "killed.log", CONFIG, data) as kafka:
        with log_client(kafka.address) as client:
            for topic, configs in TOPICS.items():
                client.create_topic(topic, configs=configs)
                client.wait_until_led(topic)
                append(client, topic, BATCHES)
            client.delete_records("deleted", 7)
            wait_for(lambda: first_segment(data / "retained-0") > 0)
            wait_for(lambda: (data / "cleaner-offset-checkpoint").exists())
            states["running"] = read_state({"path": str(data)})
        # The checkpoint of the high watermarks is written every five seconds.
        wait_for(lambda: b"plain 0 24" in (data / "replication-offset-checkpoint").read_bytes())
        kafka.kill()
        states["killed"] = read_state({"path": str(data)})
    with kafka_process(folder / "stopped.log", CONFIG, data) as kafka, log_client(kafka.address) as client:
        for topic in TOPICS:
            client.wait_until_led(topic)
            append(client, topic, BATCHES)
        client.delete_records("deleted", 31)
    states["stopped cleanly"] = read_state({"path": str(data)})
    yield Folders(states, data)


def append(client: LogClient, topic: str, count: int) -> None:
    for number in range(count):
        record = Record(VALUE, key=b"key-%d" % (number % 3), timestamp=round(time.time() * 1000))
        client.append(topic, build_batch([record], BatchOptions()))


def first_segment(folder: Path) -> int:
    return min(int(file.stem) for file in folder.glob("*.log"))


def wait_for(is_true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS_MAX
    while not is_true():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.parametrize("state", ["running", "killed", "stopped cleanly"])
def test_no_log_is_truncated_and_only_the_compacted_one_lacks_its_start(folders: Folders, state: str) -> None:
    known = folders.states[state]

    assert known.truncated == []
    assert {one.topic for one in known.facts if one.begins_at is not None} <= {"compacted"}
    assert {one.topic for one in known.facts if one.cleaned_before} == {"compacted"}
    assert {one.topic for one in known.facts} == set(TOPICS)


def test_a_cut_segment_is_found_by_each_file_that_reaches_further(folders: Folders, tmp_path: Path) -> None:
    shutil.copytree(folders.stopped, tmp_path / "data")
    last = max((tmp_path / "data" / "plain-0").glob("*.log"))
    size = last.stat().st_size // 2
    last.write_bytes(last.read_bytes()[:size])

    (found,) = read_state({"path": str(tmp_path / "data")}).truncated

    assert (found.topic, found.cause, found.offset + found.missing) == ("plain", "high_watermark", 2 * BATCHES)
    for cause in ("recovery point", "offset index", "time index", "producer snapshot"):
        assert cause in found.detail


def test_a_removed_first_segment_is_found_behind_a_clean_stop(folders: Folders, tmp_path: Path) -> None:
    shutil.copytree(folders.stopped, tmp_path / "data")
    for topic in ("plain", "retained"):
        base = first_segment(tmp_path / "data" / f"{topic}-0")
        for file in (tmp_path / "data" / f"{topic}-0").glob(f"{base:020d}.*"):
            file.unlink()
    expected = {topic: first_segment(folders.stopped / f"{topic}-0") for topic in ("plain", "retained")}

    facts = read_state({"path": str(tmp_path / "data")}).facts

    assert {one.topic: one.begins_at for one in facts if one.topic in expected} == expected
