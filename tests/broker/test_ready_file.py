"""The ready file, and the folder of running brokers."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fauxka.broker.lifecycle.ready_file import (
    ReadyFile,
    ReadyFileError,
    RunningBroker,
    find_ready_file_problem,
    read_ready_file,
    register_broker,
    registered_brokers,
    running_brokers_folder,
)


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


def test_file_may_be_deleted_as_soon_as_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "ready.json"
    replace = os.replace

    def replace_and_delete(source: str, target: str, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        replace(source, target, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
        path.unlink()

    monkeypatch.setattr(os, "replace", replace_and_delete)
    ready_file = ReadyFile(str(path))

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


def test_written_file_is_read(tmp_path: Path) -> None:
    path = str(tmp_path / "ready.json")
    ReadyFile(path).write("127.0.0.1:9092", 7, admin="127.0.0.1:9099")

    assert read_ready_file(path) == RunningBroker("127.0.0.1:9092", "127.0.0.1:9099", 7)


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"bootstrap": "a:1", "admin": null, "pid": "x"}'])
def test_another_file_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "ready.json"
    path.write_text(content)

    with pytest.raises(ReadyFileError, match=r"ready\.json is not a ready file of fauxka serve"):
        read_ready_file(str(path))


def test_path_in_an_existing_folder_is_no_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert find_ready_file_problem("ready.json") is None
    assert find_ready_file_problem(str(tmp_path / "ready.json")) is None


@pytest.fixture
def runtime_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A runtime folder without brokers."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path


def test_registered_broker_is_found_until_it_is_removed(runtime_folder: Path) -> None:
    ready_file = register_broker("127.0.0.1:9092", os.getpid(), "127.0.0.1:9099")
    found = registered_brokers()
    mode = (runtime_folder / "fauxka").stat().st_mode & 0o777
    assert ready_file is not None
    ready_file.remove()

    assert mode == 0o700
    assert found == [RunningBroker("127.0.0.1:9092", "127.0.0.1:9099", os.getpid())]
    assert (registered_brokers(), list(runtime_folder.iterdir())) == ([], [])


def test_folder_of_running_brokers_stays_while_another_one_is_registered(runtime_folder: Path) -> None:
    first = register_broker("127.0.0.1:9092", os.getpid(), "127.0.0.1:9099")
    register_broker("127.0.0.1:9093", os.getppid(), "127.0.0.1:9098")
    assert first is not None
    first.remove()

    assert registered_brokers() == [RunningBroker("127.0.0.1:9093", "127.0.0.1:9098", os.getppid())]


def test_ready_file_of_another_broker_is_not_removed(tmp_path: Path) -> None:
    path = tmp_path / "ready.json"
    first, second = ReadyFile(str(path)), ReadyFile(str(path))
    first.write("127.0.0.1:9092", os.getpid())
    second.write("127.0.0.1:9093", os.getpid())
    first.remove()

    assert read_ready_file(str(path)).bootstrap == "127.0.0.1:9093"


def test_ready_file_replaces_a_link_and_is_not_written_through_one(tmp_path: Path) -> None:
    important, path = tmp_path / "important.txt", tmp_path / "ready.json"
    important.write_text("important")
    path.symlink_to(important)
    (tmp_path / f".ready.json.{os.getpid()}").symlink_to(important)
    ready_file = ReadyFile(str(path))
    ready_file.write("127.0.0.1:9092", os.getpid())
    ready_file.remove()

    assert important.read_text() == "important"
    assert [each.name for each in tmp_path.iterdir()] == ["important.txt"]


def test_broker_that_was_killed_is_not_found_and_its_file_is_deleted(runtime_folder: Path) -> None:
    killed = subprocess.Popen([sys.executable, "-c", ""])
    killed.wait()
    register_broker("127.0.0.1:9092", killed.pid, "127.0.0.1:9099")

    assert registered_brokers() == []
    assert list((runtime_folder / "fauxka").iterdir()) == []


def test_folder_of_another_user_is_neither_written_nor_read(
    runtime_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register_broker("127.0.0.1:9092", os.getpid(), "127.0.0.1:9099")
    owner = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)

    assert register_broker("127.0.0.1:9093", os.getpid(), "127.0.0.1:9098") is None
    assert registered_brokers() == []


def test_link_in_the_place_of_the_folder_is_not_followed(
    runtime_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (runtime_folder / "fauxka").symlink_to(elsewhere)

    assert register_broker("127.0.0.1:9092", os.getpid(), "127.0.0.1:9099") is None
    assert list(elsewhere.iterdir()) == []


def test_without_a_runtime_folder_brokers_are_in_the_temporary_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setenv("TMPDIR", "/some/tmp")

    assert running_brokers_folder() == f"/some/tmp/fauxka-{os.getuid()}"
