"""Links and foreign files when topics are deleted: each stage of the captured Kafka, and where fauxka deletes less."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ..reference.kafka_process import kafka_process
from .capture_foreign_files import CONFIG, Tree, capture
from .captures import FOLDER, KAFKA_VERSION
from .test_folder_files import running_fauxka

CAPTURED = FOLDER / f"foreign_files-{KAFKA_VERSION}.json"
Stages = dict[str, dict[str, Tree]]
STAGES: Stages = json.loads(CAPTURED.read_text())
BEFORE, DELETED, RENAMED, STARTED = STAGES
# Kafka leaves these of its own files behind a link; fauxka deletes them.
OWN_FILES_THAT_KAFKA_LEAVES = ("leader-epoch-checkpoint", "partition.metadata", "00000000000000000004.snapshot")
# Where the folder has what is not of a log, Kafka deletes that too. In fauxka it stays, with its folder.
KEPT = {
    "foreign-file": {"important.txt": "foreign"},
    "killed-foreign-file": {"important.txt": "foreign"},
    "sub-folder": {"sub": "folder", "sub/important.txt": "foreign"},
    "foreign-links": {"file": "link", "folder": "link"},
    "similar-names": {"important.log.txt": "foreign", "notes.deleted": "foreign", "notes.tmp": "foreign"},
}
SWAPPED = "swapped-folder"
COMPARED = [(stage, topic) for stage, topics in STAGES.items() for topic in topics]


@pytest.fixture(scope="module")
def stages_of_fauxka(tmp_path_factory: pytest.TempPathFactory) -> Stages:
    folder = tmp_path_factory.mktemp("foreign")
    data = folder / "data"
    return capture(lambda: running_fauxka(folder, data, CONFIG), data, folder / "behind")


@pytest.mark.parametrize(("stage", "topic"), COMPARED)
def test_folders_have_what_kafkas_have_and_what_is_foreign(stages_of_fauxka: Stages, stage: str, topic: str) -> None:
    assert stages_of_fauxka[stage][topic] == expected_of_fauxka(stage, topic)


@pytest.mark.parametrize(("stage", "topic"), COMPARED)
def test_nothing_foreign_changes_in_any_stage(stages_of_fauxka: Stages, stage: str, topic: str) -> None:
    found = stages_of_fauxka[stage][topic]

    assert foreign_names(found) == foreign_names(stages_of_fauxka[BEFORE][topic])


def foreign_names(tree: Tree) -> list[str]:
    """Return the names of the foreign files, wherever they are: a folder may have another name than before."""
    return sorted(Path(path).name for path, kind in tree.items() if kind == "foreign")


def expected_of_fauxka(stage: str, topic: str) -> Tree:
    expected = dict(STAGES[stage][topic])
    if topic == SWAPPED:
        return expected_of_swapped(stage)
    if stage in (DELETED, STARTED):
        expected = {
            path: kind
            for path, kind in expected.items()
            if kind != "file" or not path.endswith(OWN_FILES_THAT_KAFKA_LEAVES)
        }
        if topic in KEPT:
            folder = f"data/{topic}-0.ID-delete"
            expected |= {folder: "folder", **{f"{folder}/{name}": kind for name, kind in KEPT[topic].items()}}
    elif topic == "similar-names":
        # Kafka deletes every file with this suffix when it starts.
        expected[f"data/{topic}-0/notes.deleted"] = "foreign"
    return expected


def expected_of_swapped(stage: str) -> Tree:
    """Return what stays of a folder that was replaced by a link: everything. Kafka deletes the files with log names."""
    expected = dict(STAGES[BEFORE][SWAPPED])
    if stage == STARTED:
        # The link has no topic any more.
        expected[f"data/{SWAPPED}-0.ID-stray"] = expected.pop(f"data/{SWAPPED}-0")
    return expected


@pytest.mark.reference
def test_captured_folders_are_those_that_kafka_has_today(tmp_path: Path) -> None:
    data = tmp_path / "data"

    assert capture(lambda: kafka_process(tmp_path / "kafka.log", CONFIG, data), data, tmp_path / "behind") == STAGES
