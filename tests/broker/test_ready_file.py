"""The file that says that clients can connect."""

import json
from pathlib import Path

import pytest

from fauxka.broker.lifecycle.serve_command import ReadyFile


def test_file_holds_one_json_object_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
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


def test_file_that_was_not_written_by_us_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "ready.json"
    path.write_text("somebody's")

    ReadyFile(str(path)).remove()

    assert path.read_text() == "somebody's"


def test_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        ReadyFile(str(tmp_path / "none" / "ready.json")).write("127.0.0.1:9092", 7)


def test_path_that_is_a_folder_is_an_error_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "ready.json"
    path.mkdir()

    with pytest.raises(OSError, match="directory"):
        ReadyFile(str(path)).write("127.0.0.1:9092", 7)

    assert list(tmp_path.iterdir()) == [path]
