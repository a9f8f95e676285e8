"""The ready file."""

import json
from pathlib import Path

import pytest

from fauxka.broker.lifecycle.serve_command import ReadyFile


def test_file_has_one_json_object_and_no_partial_file_is_left(tmp_path: Path) -> None:
    path = tmp_path / "ready.json"

    ReadyFile(str(path)).write("127.0.0.1:9092", 7)

    assert json.loads(path.read_text()) == {"bootstrap": "127.0.0.1:9092", "admin": None, "pid": 7}
    assert list(tmp_path.iterdir()) == [path]


def test_file_of_an_earlier_run_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "ready.json"
    path.write_text("of an earlier run, and longer than what is written now" * 10)

    ReadyFile(str(path)).write("127.0.0.1:9092", 7)

    assert json.loads(path.read_text())["pid"] == 7


def test_file_is_removed(tmp_path: Path) -> None:
    ready_file = ReadyFile(str(tmp_path / "ready.json"))
    ready_file.write("127.0.0.1:9092", 7)

    ready_file.remove()

    assert list(tmp_path.iterdir()) == []


def test_file_of_another_process_is_not_removed(tmp_path: Path) -> None:
    path = tmp_path / "ready.json"
    path.write_text("somebody's")

    ReadyFile(str(path)).remove()

    assert path.read_text() == "somebody's"


def test_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        ReadyFile(str(tmp_path / "none" / "ready.json")).write("127.0.0.1:9092", 7)


def test_path_that_is_a_folder_is_an_error_and_no_partial_file_is_left(tmp_path: Path) -> None:
    path = tmp_path / "ready.json"
    path.mkdir()

    with pytest.raises(OSError, match="directory"):
        ReadyFile(str(path)).write("127.0.0.1:9092", 7)

    assert list(tmp_path.iterdir()) == [path]
