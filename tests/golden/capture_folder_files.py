"""The files of partition folders at every stage of a log: python -m tests.golden.capture_folder_files FILE.

It runs a real Kafka itself, because a stage may begin with a stop, a kill or a start. test_folder_files.py runs
fauxka through the same stages.
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Protocol

from fauxka.protocol.messages.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from fauxka.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)

from ..reference.kafka_process import kafka_process
from .capture_batches import FIRST_TIMESTAMP, batch
from .capture_recorder import POLL_SECONDS, SETTLE_SECONDS_MAX, TOPIC_RESOURCE, Recorder

# Segments are looked after often, and deleted files are removed soon.
CONFIG = {"log.initial.task.delay.ms": "500", "log.retention.check.interval.ms": "500"}
# Kafka writes its recovery points log.initial.task.delay.ms after its start. Between a roll and a kill, that would
# decide whether the segment is recovered.
CHECKPOINTED_SECONDS = 2
HOUR_MS = 3_600_000
TOPIC_CONFIGS = {
    "retention_ms": "-1",
    "segment_ms": str(HOUR_MS),
    "index_interval_bytes": "100",
    "segment_index_bytes": "1000",
    "file_delete_delay_ms": "500",
}
# Batches without a producer, batches of an idempotent producer, and no batches.
PLAIN, PRODUCED, UNUSED = TOPICS = ("plain", "produced", "unused")
PRODUCER_ID = 7000
# Their sizes depend on the leader epochs, which Kafka raises at every start, and on nothing else.
SIZELESS = ("leader-epoch-checkpoint", "partition.metadata")

# Folder, then file name, then size; None where the size is left out.
Files = dict[str, dict[str, int | None]]
# How often a state is seen before it counts.
TIMES_SEEN = 2


class Running(Protocol):
    """A broker that runs."""

    @property
    def address(self) -> str:
        """Its "host:port"."""
        ...

    def kill(self) -> None:
        """Send SIGKILL and wait for the end."""
        ...


# Runs a broker on the data folder, and stops it cleanly at the end of the block if it was not killed.
Run = Callable[[], AbstractContextManager[Running]]


class Scene:
    """The three topics, and the stages recorded so far."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._sequence = 0
        self._hour = 0
        self.stages: dict[str, Files] = {}

    def record(self, stage: str) -> None:
        """Record the files of all partition folders."""
        self.stages[stage] = {topic: _files_of(self._data / f"{topic}-0") for topic in TOPICS}

    @contextmanager
    def client(self, address: str, *, is_new: bool = False) -> Generator[Recorder, None, None]:
        """Connect to a broker, and wait until it leads all partitions."""
        recorder = Recorder(address, io.StringIO(), marker=f"marker-{len(self.stages)}")
        for topic in () if is_new else TOPICS:
            recorder.wait_for_topic(topic, 1)
        yield recorder
        recorder.connection.close()

    def append(self, recorder: Recorder, batch_count: int, *, hours: int = 0) -> None:
        """Append batches of two records to both topics, after so many hours of the records' time."""
        self._hour += hours
        for _ in range(batch_count):
            timestamps = [FIRST_TIMESTAMP + self._hour * HOUR_MS + self._sequence + delta for delta in (0, 1)]
            recorder.produce(PLAIN, batch(timestamps))
            recorder.produce(PRODUCED, batch(timestamps, producer=(PRODUCER_ID, 0, self._sequence)))
            self._sequence += 2

    def wait_until(self, is_done: Callable[[Files], bool]) -> None:
        """Return when the files of the topics are so twice in a row. Both brokers delete files beside their requests.

        A file that is renamed while the folder is read may be seen under neither name.
        """
        deadline = time.monotonic() + SETTLE_SECONDS_MAX
        times_seen = 0
        while times_seen < TIMES_SEEN:
            files = {topic: _files_of(self._data / f"{topic}-0") for topic in TOPICS}
            times_seen = times_seen + 1 if is_done(files) else 0
            assert time.monotonic() < deadline, "the files stay as they are"
            time.sleep(POLL_SECONDS)


def _files_of(folder: Path) -> dict[str, int | None]:
    """Return the files and sizes of a folder, but for those that are about to be renamed or are just deleted."""
    files: dict[str, int | None] = {}
    for path in sorted(folder.iterdir() if folder.exists() else ()):
        if path.suffix != ".tmp":
            with suppress(FileNotFoundError):
                files[path.name] = None if path.name in SIZELESS else path.stat().st_size
    return files


def capture(run: Run, data: Path) -> dict[str, Files]:
    """Take a broker through all stages, and return the files after each."""
    scene = Scene(data)
    with run() as broker, scene.client(broker.address, is_new=True) as recorder:
        _first_run(scene, recorder)
    scene.record("stopped")
    with run() as broker, scene.client(broker.address) as recorder:
        scene.record("started")
        scene.append(recorder, 3)
        scene.record("appended after the start")
        time.sleep(CHECKPOINTED_SECONDS)
        scene.append(recorder, 2, hours=2)
        scene.record("rolled after the start")
        broker.kill()
    scene.record("killed")
    with run() as broker, scene.client(broker.address) as recorder:
        scene.record("started after the kill")
        broker.kill()
    with run() as broker, scene.client(broker.address) as recorder:
        scene.record("started after a kill without appends")
        _last_run(scene, recorder)
        broker.kill()
    with run() as broker, scene.client(broker.address):
        scene.record("started after a kill without records")
    scene.record("stopped without records")
    with run() as broker, scene.client(broker.address) as recorder:
        scene.record("started without records")
        _set_retention(recorder, "-1")
        scene.append(recorder, 1)
        scene.record("one batch more")
    scene.record("stopped at the end")
    with run() as broker, scene.client(broker.address):
        scene.record("started at the end")
    return scene.stages


def _first_run(scene: Scene, recorder: Recorder) -> None:
    for topic in TOPICS:
        recorder.create_topic(topic, 1, **TOPIC_CONFIGS)
    scene.record("new")
    scene.append(recorder, 1)
    scene.record("one batch")
    scene.append(recorder, 5)
    scene.record("more batches")
    for number in (1, 2):
        scene.append(recorder, 4, hours=2)
        scene.record(f"rolled {number}")


def _last_run(scene: Scene, recorder: Recorder) -> None:
    scene.append(recorder, 2)
    scene.record("appended after the kill")
    for topic in (PLAIN, PRODUCED):
        request = DeleteRecordsTopic(name=topic, partitions=[DeleteRecordsPartition(partition_index=0, offset=13)])
        recorder.call(DeleteRecordsRequest(topics=[request], timeout_ms=30_000), 2)
    scene.wait_until(lambda files: not _has_segment(files, 0) and not _has_deleted(files))
    scene.record("segments before the log start are deleted")
    _set_retention(recorder, "1")
    scene.wait_until(lambda files: not _has_segment(files, 12) and not _has_deleted(files))
    scene.record("all segments are expired")


def _set_retention(recorder: Recorder, retention_ms: str) -> None:
    entries = [AlterableConfig(name="retention.ms", config_operation=0, value=retention_ms)]
    resources = [
        AlterConfigsResource(resource_type=TOPIC_RESOURCE, resource_name=topic, configs=entries)
        for topic in (PLAIN, PRODUCED)
    ]
    recorder.call(IncrementalAlterConfigsRequest(resources=resources), 1)
    recorder.settle()


def _has_segment(files: Files, base_offset: int) -> bool:
    return any(f"{base_offset:020}.log" in files[topic] for topic in (PLAIN, PRODUCED))


def _has_deleted(files: Files) -> bool:
    return any(name.endswith(".deleted") for folder in files.values() for name in folder)


def main() -> None:
    """Capture from a real Kafka and write the file named on the command line."""
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m tests.golden.capture_folder_files FILE.json")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        stages = capture(lambda: kafka_process(path / "kafka.log", CONFIG, path / "data"), path / "data")
    Path(sys.argv[1]).write_text(json.dumps(stages, indent=1) + "\n")


if __name__ == "__main__":
    main()
