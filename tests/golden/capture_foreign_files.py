"""Links and foreign files in the folders of deleted topics: python -m tests.golden.capture_foreign_files FILE.

It runs a real Kafka itself, because folders are changed while it is stopped. test_foreign_files.py takes fauxka through
the same stages. Each scene is a topic; what is not of a log has the content FOREIGN.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from fauxka.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState

from ..reference.kafka_process import kafka_process
from .capture_batches import FIRST_TIMESTAMP, batch
from .capture_folder_files import HOUR_MS, PRODUCER_ID, Run
from .capture_recorder import POLL_SECONDS, SETTLE_SECONDS_MAX, Recorder

# Long enough to look at what was renamed and is not deleted yet, or to kill the broker meanwhile.
DELETE_DELAY_MS = "3000"
CONFIG = {"log.segment.delete.delay.ms": DELETE_DELAY_MS, "log.initial.task.delay.ms": "500"}
TOPIC_CONFIGS = {"retention_ms": "-1", "segment_ms": str(HOUR_MS), "file_delete_delay_ms": DELETE_DELAY_MS}
FOREIGN = "not of a log\n"
FIRST_SEGMENT, FIRST_INDEX = "00000000000000000000.log", "00000000000000000000.index"
# Nothing changes for this long when a deletion has ended.
QUIET_SECONDS = 4
_UNIQUE_ID = re.compile(r"\.[0-9a-f]{32}-")

# What is done to the folder of a partition. behind: a folder outside the data folder, for what links lead to.
Change = Callable[[Path, Path], None]
# By path from the data folder or from the folder behind it: what is there.
Tree = dict[str, str]


def _nothing(folder: Path, behind: Path) -> None:
    """Change nothing."""


def _foreign(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(FOREIGN)


def _foreign_file(folder: Path, behind: Path) -> None:
    _foreign(folder / "important.txt")


def _sub_folder(folder: Path, behind: Path) -> None:
    _foreign(folder / "sub" / "important.txt")


def _moved_behind_a_link(folder: Path, behind: Path) -> None:
    folder.rename(behind)
    folder.symlink_to(behind)


def _linked_folder(folder: Path, behind: Path) -> None:
    _moved_behind_a_link(folder, behind)
    _foreign(behind / "important.txt")
    _foreign(behind / "sub" / "important.txt")


def _foreign_links(folder: Path, behind: Path) -> None:
    _foreign(behind / "important.txt")
    _foreign(behind / "sub" / "important.txt")
    (folder / "file").symlink_to(behind / "important.txt")
    (folder / "folder").symlink_to(behind / "sub")


def _linked_files(folder: Path, behind: Path) -> None:
    behind.mkdir()
    for name in (FIRST_SEGMENT, FIRST_INDEX):
        (folder / name).rename(behind / name)
        (folder / name).symlink_to(behind / name)


def _hard_links(folder: Path, behind: Path) -> None:
    behind.mkdir()
    for name in (FIRST_SEGMENT, FIRST_INDEX):
        os.link(folder / name, behind / name)


def _names_like_those_of_logs(folder: Path, behind: Path) -> None:
    for name in ("notes.deleted", "notes.tmp", "important.log.txt"):
        _foreign(folder / name)


def _another_folder_in_its_place(folder: Path, behind: Path) -> None:
    """Move the folder away, and lead to one with the same names in which no file is of a log."""
    names = [path.name for path in folder.iterdir()]
    folder.rename(behind.with_name(behind.name + "-moved"))
    for name in (*names, "important.txt"):
        _foreign(behind / name)
    folder.symlink_to(behind)


# Changed while the broker is stopped.
AT_REST: dict[str, Change] = {
    "unchanged": _nothing,
    "foreign-file": _foreign_file,
    "sub-folder": _sub_folder,
    "linked-folder": _linked_folder,
    "foreign-links": _foreign_links,
    "linked-files": _linked_files,
    "hard-links": _hard_links,
    "similar-names": _names_like_those_of_logs,
}
# Changed while the broker runs.
WHILE_RUNNING: dict[str, Change] = {"swapped-folder": _another_folder_in_its_place}
# The broker is killed between the renaming of the folder and its deletion.
KILLED: dict[str, Change] = {
    "killed-unchanged": _nothing,
    "killed-foreign-file": _foreign_file,
    "killed-linked-folder": _linked_folder,
}
SCENES = (*AT_REST, *WHILE_RUNNING, *KILLED)


class Scene:
    """The data folder and the folder behind it, and the stages recorded so far."""

    def __init__(self, data: Path, behind: Path) -> None:
        self._data = data
        self._behind = behind
        self.stages: dict[str, dict[str, Tree]] = {}

    def change(self, changes: dict[str, Change]) -> None:
        """Do to each folder what the table says."""
        self._behind.mkdir(exist_ok=True)
        for topic, change in changes.items():
            change(self._data / f"{topic}-0", self._behind / topic)

    def record(self, stage: str, topics: Sequence[str] = SCENES) -> None:
        """Record what is in the folders of each topic, and behind them."""
        self.stages[stage] = {topic: self._tree_of(topic) for topic in topics}

    def wait_until_renamed(self, topics: Sequence[str]) -> None:
        """Return when no folder of the topics has its name any more."""
        deadline = time.monotonic() + SETTLE_SECONDS_MAX
        while any(os.path.lexists(self._data / f"{topic}-0") for topic in topics):
            assert time.monotonic() < deadline, "the folders keep their names"
            time.sleep(POLL_SECONDS)

    def wait_until_quiet(self, topics: Sequence[str]) -> None:
        """Return when nothing has changed for a while."""
        before, since = None, time.monotonic()
        while time.monotonic() < since + QUIET_SECONDS:
            time.sleep(POLL_SECONDS)
            now = {topic: self._tree_of(topic) for topic in topics}
            before, since = now, since if now == before else time.monotonic()

    def _tree_of(self, topic: str) -> Tree:
        found: Tree = {}
        for folder in sorted(self._data.glob(f"{topic}-0*")):
            _add_tree(found, "data", folder)
        for folder in sorted(self._behind.glob(topic)) + sorted(self._behind.glob(f"{topic}-moved")):
            _add_tree(found, "behind", folder)
        return found


def _add_tree(found: Tree, prefix: str, path: Path) -> None:
    """Add the kind of a path and of everything below it; links are not followed. A path may vanish meanwhile."""
    name = f"{prefix}/{_UNIQUE_ID.sub('.ID-', path.name)}"
    try:
        if path.is_symlink():
            found[name] = "link"
        elif path.is_dir():
            found[name] = "folder"
            for each in sorted(path.iterdir()):
                _add_tree(found, name, each)
        else:
            found[name] = "foreign" if path.read_bytes() == FOREIGN.encode() else "file"
    except FileNotFoundError:
        found.pop(name, None)


@contextmanager
def _connected(address: str, marker: str) -> Generator[Recorder, None, None]:
    recorder = Recorder(address, io.StringIO(), marker=marker)
    yield recorder
    recorder.connection.close()


def _fill(recorder: Recorder, topic: str) -> None:
    """Create a topic with two segments, the second of which begins with a snapshot of a producer."""
    recorder.create_topic(topic, 1, **TOPIC_CONFIGS)
    for sequence, hours in ((0, 0), (2, 2)):
        timestamps = [FIRST_TIMESTAMP + hours * HOUR_MS + delta for delta in (0, 1)]
        recorder.produce(topic, batch(timestamps, producer=(PRODUCER_ID, 0, sequence)))


def _delete(recorder: Recorder, topics: Sequence[str]) -> None:
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name=topic) for topic in topics], timeout_ms=30_000)
    response = recorder.call(request, 6, DeleteTopicsResponse)
    assert {answer.error_code for answer in response.responses} == {0}, response


def capture(run: Run, data: Path, behind: Path) -> dict[str, dict[str, Tree]]:
    """Take a broker through all stages, and return what is in the folders after each."""
    scene = Scene(data, behind)
    with run() as broker, _connected(broker.address, "filled") as recorder:
        for topic in SCENES:
            _fill(recorder, topic)
    scene.change({**AT_REST, **KILLED})
    kept = (*AT_REST, *WHILE_RUNNING)
    with run() as broker, _connected(broker.address, "deleted") as recorder:
        for topic in SCENES:
            recorder.wait_for_topic(topic, 1)
        recorder.settle()
        scene.change(WHILE_RUNNING)
        scene.record("before the deletion")
        _delete(recorder, kept)
        scene.wait_until_quiet(kept)
        scene.record("deleted", kept)
        _delete(recorder, [*KILLED])
        scene.wait_until_renamed([*KILLED])
        scene.record("renamed", [*KILLED])
        broker.kill()
    with run() as broker, _connected(broker.address, "started") as recorder:
        recorder.settle()
        scene.wait_until_quiet(SCENES)
    scene.record("started again")
    return scene.stages


def main() -> None:
    """Capture from a real Kafka and write the file named on the command line."""
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m tests.golden.capture_foreign_files FILE.json")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        stages = capture(
            lambda: kafka_process(path / "kafka.log", CONFIG, path / "data"), path / "data", path / "behind"
        )
    Path(sys.argv[1]).write_text(json.dumps(stages, indent=1) + "\n")


if __name__ == "__main__":
    main()
