"""A read-only folder with a writable file system on top."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fauxka.storage.file_systems.file_system import FileSystem
from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem
from fauxka.storage.file_systems.os_file_system import OsFileSystem
from fauxka.storage.file_systems.overlay_file_system import OverlayFileSystem


def lower_with(content: dict[str, bytes]) -> MemoryFileSystem:
    files = MemoryFileSystem()
    for path, data in content.items():
        files.open(path).append(data, b"")
    return files


def all_of(files: FileSystem, path: str) -> bytes:
    file = files.open(path)
    return b"".join(file.views(0, file.size))


def test_upper_file_system_is_empty_before_the_first_write() -> None:
    upper = MemoryFileSystem()
    files = OverlayFileSystem(lower_with({"a-0/1.log": b"below"}), upper)

    file = files.open("a-0/1.log")
    file.read(0, 5)
    file.truncate(3)
    file.begin_sync()()
    file.close()
    files.rename("a-0/1.log", "a-0/2.log")
    files.sync_folder("a-0")

    assert (all_of(files, "a-0/2.log"), upper.folders()) == (b"bel", [])


def test_only_appended_bytes_are_in_the_upper_file() -> None:
    upper = MemoryFileSystem()
    files = OverlayFileSystem(lower_with({"a-0/1.log": b"below"}), upper)

    files.open("a-0/1.log").append(b"+", b"above")

    assert (all_of(files, "a-0/1.log"), all_of(upper, "a-0/1.log")) == (b"below+above", b"+above")


def test_lower_file_truncated_to_0_is_written_again() -> None:
    files = OverlayFileSystem(lower_with({"a-0/1.index": b"damaged"}), MemoryFileSystem())
    file = files.open("a-0/1.index")

    file.truncate(0)
    file.append(b"new", b"")

    assert (file.size, all_of(files, "a-0/1.index")) == (3, b"new")


def test_lower_bytes_are_not_copied(tmp_path: Path) -> None:
    OsFileSystem(tmp_path).open("1.log").append(b"below", b"")
    files = OverlayFileSystem(OsFileSystem(tmp_path), MemoryFileSystem())
    file = files.open("1.log")
    file.append(b"above", b"")

    reads = [bytes(file.read(position, 3)) for position in range(8)]

    assert reads == [b"bel", b"elo", b"low", b"owa", b"wab", b"abo", b"bov", b"ove"]


def test_upper_file_hides_the_lower_one() -> None:
    upper = lower_with({"a-0/1.log": b"upper"})

    files = OverlayFileSystem(lower_with({"a-0/1.log": b"lower", "a-0/2.log": b"2"}), upper)

    assert (all_of(files, "a-0/1.log"), files.names_in("a-0")) == (b"upper", ["1.log", "2.log"])


def test_modified_ms_is_that_of_the_last_written_part(tmp_path: Path) -> None:
    OsFileSystem(tmp_path / "lower").open("1.log").append(b"1", b"")
    os.utime(tmp_path / "lower/1.log", ns=(0, 5_000_000))
    files = OverlayFileSystem(OsFileSystem(tmp_path / "lower"), OsFileSystem(tmp_path / "upper"))
    before = files.modified_ms("1.log")

    files.open("1.log").append(b"2", b"")

    assert (before, files.modified_ms("1.log") > 5) == (5, True)


def test_deleted_lower_file_fails_and_is_not_created_again(tmp_path: Path) -> None:
    OsFileSystem(tmp_path).open("a-0/1.log")
    files = OverlayFileSystem(OsFileSystem(tmp_path), MemoryFileSystem())
    (tmp_path / "a-0/1.log").unlink()

    with pytest.raises(FileNotFoundError):
        files.open("a-0/1.log")
    assert not (tmp_path / "a-0/1.log").exists()


def test_read_only_folder_is_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    below = OsFileSystem(tmp_path)
    below.open("a-0/1.log").append(b"1", b"")
    below.replace(".kafka_cleanshutdown", b"{}")
    open_file = os.open

    def read_only(path: str, flags: int, mode: int = 0o777) -> int:
        assert not flags & (os.O_RDWR | os.O_WRONLY | os.O_CREAT), path
        return open_file(path, flags, mode)

    monkeypatch.setattr(os, "open", read_only)
    files = OverlayFileSystem(OsFileSystem(tmp_path), MemoryFileSystem())

    file = files.open("a-0/1.log")
    file.append(b"2", b"")
    file.preallocate(100)
    file.truncate(2)
    files.delete(".kafka_cleanshutdown")
    files.replace("checkpoint", b"0\n0\n", is_synced=True)
    files.rename_folder("a-0", "a-0.x-delete")
    files.delete_folder("a-0.x-delete")

    assert (files.folders(), files.names_in("")) == ([], ["checkpoint"])
    assert (tmp_path / "a-0/1.log").read_bytes() == b"1"
    assert sorted(os.listdir(tmp_path)) == [".kafka_cleanshutdown", "a-0"]


def test_lower_file_renamed_over_an_appended_one_replaces_all_of_it() -> None:
    files = OverlayFileSystem(lower_with({"a-0/1.log": b"old", "a-0/1.log.swap": b"new"}), MemoryFileSystem())
    files.open("a-0/1.log").append(b"appended", b"")
    files.open("a-0/2.log").append(b"above", b"")

    files.rename("a-0/1.log.swap", "a-0/1.log")
    files.open("a-0/1.log").append(b"+", b"")
    files.rename("a-0/1.log", "a-0/2.log")

    assert (all_of(files, "a-0/2.log"), files.names_in("a-0")) == (b"new+", ["2.log"])


def test_file_opened_before_a_folder_rename_is_appended_to_in_the_new_folder() -> None:
    upper = MemoryFileSystem()
    files = OverlayFileSystem(lower_with({"a-0/1.log": b"below"}), upper)
    file = files.open("a-0/1.log")

    files.rename_folder("a-0", "a-0.x-delete")
    file.append(b"above", b"")

    assert (upper.folders(), all_of(files, "a-0.x-delete/1.log")) == (["a-0.x-delete"], b"belowabove")
