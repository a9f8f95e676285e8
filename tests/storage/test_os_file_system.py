"""Files on disk: limited descriptors, syncs, and no writes by opening."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
import sys
import threading
from errno import EIO, EMFILE, ENOSPC
from pathlib import Path

import pytest

from fauxka.storage.file_systems.open_descriptors import OpenDescriptors
from fauxka.storage.file_systems.os_file_system import OsFileSystem
from fauxka.storage.log_files import LOG_SUFFIX, file_name

FIRST = file_name(0, LOG_SUFFIX)


def open_descriptors(folder: Path) -> list[str]:
    """Return what this process's descriptors of files in folder name; others may come and go meanwhile."""
    names: list[str] = []
    for descriptor in os.listdir("/proc/self/fd"):
        # The descriptor of this listing is closed by now.
        with contextlib.suppress(FileNotFoundError):
            names.append(os.readlink(f"/proc/self/fd/{descriptor}"))
    return [name for name in names if name.startswith(f"{folder}/")]


def test_many_files_share_few_descriptors(tmp_path: Path) -> None:
    descriptors = OpenDescriptors(10)
    files = OsFileSystem(tmp_path, descriptors)
    opened = [files.open(f"a-{number}/1.log") for number in range(50)]
    for turn in range(3):
        for number, file in enumerate(opened):
            file.append(b"%d" % turn, b"%02d" % number)

    contents = [bytes(file.read(0, 9)) for file in opened]

    assert contents == [b"0%02d1%02d2%02d" % (number, number, number) for number in range(50)]
    assert len(descriptors) == len(open_descriptors(tmp_path)) == 10
    assert [(tmp_path / f"a-{number}/1.log").read_bytes() for number in range(50)] == contents


def test_most_recently_used_descriptor_stays_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = OsFileSystem(tmp_path, OpenDescriptors(3))
    often = files.open("often")
    opened: list[str] = []
    open_file = os.open

    def counted(path: str, flags: int, mode: int = 0o777) -> int:
        opened.append(os.path.basename(path))
        return open_file(path, flags, mode)

    monkeypatch.setattr(os, "open", counted)

    for number in range(20):
        files.open(str(number)).append(b"1", b"")
        often.append(b"2", b"")

    assert "often" not in opened


def test_descriptors_are_closed_with_the_file_system(tmp_path: Path) -> None:
    files = OsFileSystem(tmp_path)
    for number in range(20):
        files.open(str(number)).append(b"1", b"")
    before = open_descriptors(tmp_path)

    del files

    assert len(before) == 20
    assert open_descriptors(tmp_path) == []


def test_limit_is_a_share_of_the_process_limit_of_open_files() -> None:
    program = "from fauxka.storage.file_systems.open_descriptors import OpenDescriptors as D; print(D()._open_max)"

    def limit_with(soft: int) -> int:
        limits = (soft, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
        command = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, {limits}); {program}"
        return int(subprocess.run([sys.executable, "-c", command], check=True, capture_output=True, timeout=60).stdout)

    assert (limit_with(300), limit_with(4000), limit_with(12)) == (100, 1000, 8)


def test_cached_descriptors_are_closed_when_the_process_has_none_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    descriptors = OpenDescriptors(100)
    files = OsFileSystem(tmp_path, descriptors)
    opened = [files.open(str(number)) for number in range(20)]
    open_file = os.open

    def none_left(path: str, flags: int, mode: int = 0o777) -> int:
        if len(descriptors) >= 20:
            raise OSError(EMFILE, "Too many open files")
        return open_file(path, flags, mode)

    monkeypatch.setattr(os, "open", none_left)

    opened.append(files.open("20"))
    for file in opened:
        file.append(b"1", b"")

    assert [file.size for file in opened] == [1] * 21


WRITE_MANY_FILES = """
import os, resource, sys
from fauxka.storage.file_systems.open_descriptors import OpenDescriptors
from fauxka.storage.file_systems.os_file_system import OsFileSystem

resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
files = OsFileSystem(sys.argv[1], OpenDescriptors(100))
written = []
for number in range(100):
    written.append(files.open(str(number)))
    written[-1].append(b"1", b"")
    for other in [os.open(os.devnull, os.O_RDONLY) for _ in range(8)]:
        os.close(other)
print(sum(file.size for file in written))
"""


def test_cached_descriptors_leave_some_of_the_process_limit_to_other_files(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITE_MANY_FILES, str(tmp_path)]

    ended = subprocess.run(command, check=True, capture_output=True, text=True)

    assert ended.stdout == "100\n"


@pytest.mark.parametrize("what_happens", ["evicted", "renamed", "deleted", "folder deleted"])
def test_sync_in_progress_completes_after_the_file_is_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what_happens: str
) -> None:
    files = OsFileSystem(tmp_path, OpenDescriptors(1))
    file = files.open(f"a-0/{FIRST}")
    file.append(b"1", b"")
    inode = (tmp_path / f"a-0/{FIRST}").stat().st_ino
    synced: list[int] = []

    def note(number: int) -> None:
        synced.append(os.fstat(number).st_ino)

    monkeypatch.setattr("fauxka.storage.file_systems.os_file._sync_data", note)
    before = len(open_descriptors(tmp_path))
    step = file.begin_sync()
    files.open("b-0/1.log").append(b"1", b"")
    match what_happens:
        case "renamed":
            files.rename(f"a-0/{FIRST}", f"a-0/{FIRST}.deleted")
        case "deleted":
            files.delete(f"a-0/{FIRST}")
        case "folder deleted":
            files.delete_folder("a-0")
        case _:
            pass

    thread = threading.Thread(target=step)
    thread.start()
    thread.join(10)
    del step, thread

    assert synced == [inode]
    assert len(open_descriptors(tmp_path)) == before


def test_bytes_of_a_failed_sync_are_written_again_before_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = OsFileSystem(tmp_path).open("1.log")
    content = bytes(range(250)) * 10_000
    file.append(content, b"")
    file.preallocate(3_000_000)
    events: list[str | tuple[int, bytes]] = []

    def note_write(number: int, data: memoryview, position: int) -> int:
        events.append((position, bytes(data)))
        return len(data)

    def note_sync(number: int) -> None:
        events.append("synced")

    monkeypatch.setattr(os, "pwrite", note_write)
    monkeypatch.setattr("fauxka.storage.file_systems.os_file._sync_data", note_sync)

    file.begin_sync(is_written_again=True)()

    first, second, third, last = events
    assert (first, second) == ((0, content[: 2**20]), (2**20, content[2**20 : 2**21]))
    assert (third, last) == ((2**21, content[2**21 :]), "synced")


def test_failed_sync_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(number: int) -> None:
        raise OSError(EIO, "Input/output error")

    monkeypatch.setattr("fauxka.storage.file_systems.os_file._sync_data", fail)
    file = OsFileSystem(tmp_path).open("1.log")
    step = file.begin_sync()

    with pytest.raises(OSError, match="Input/output"):
        step()


def test_reads_on_another_thread_never_read_another_file_while_descriptors_are_reused(tmp_path: Path) -> None:
    files = OsFileSystem(tmp_path, OpenDescriptors(2))
    opened = [files.open(str(number)) for number in range(8)]
    for number, file in enumerate(opened):
        file.append(b"%d" % number * 64, b"")
    wrong: list[bytes] = []

    def read() -> None:
        for turn in range(4000):
            number = turn % 8
            data = bytes(opened[number].read(0, 64))
            if data != b"%d" % number * 64:
                wrong.append(data)

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for turn in range(4000):
        opened[turn * 5 % 8].append(b"x", b"")
    for thread in threads:
        thread.join(60)

    assert wrong == []
    assert not any(thread.is_alive() for thread in threads)


def test_files_are_opened_for_writing_by_the_first_write_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    OsFileSystem(tmp_path).open("a-0/1.log").append(b"0123", b"")
    open_file = os.open

    def read_only(path: str, flags: int, mode: int = 0o777) -> int:
        if flags & (os.O_RDWR | os.O_WRONLY | os.O_CREAT):
            raise PermissionError(13, "Permission denied")
        return open_file(path, flags, mode)

    monkeypatch.setattr(os, "open", read_only)
    file = OsFileSystem(tmp_path).open("a-0/1.log")

    file.truncate(4)
    assert (file.size, bytes(file.read(1, 2)), b"".join(file.views(0, 4))) == (4, b"12", b"0123")
    file.begin_sync()()
    with pytest.raises(PermissionError):
        file.append(b"4", b"")
    assert (file.size, bytes(file.read(0, 4))) == (4, b"0123")


def test_missing_folder_is_empty_and_created_with_the_first_file(tmp_path: Path) -> None:
    files = OsFileSystem(tmp_path / "x" / "logs")

    assert (files.folders(), files.names_in(""), files.exists("a")) == ([], [], False)
    assert not (tmp_path / "x").exists()
    files.open("a-0/1.log")
    assert (tmp_path / "x/logs/a-0/1.log").read_bytes() == b""


def test_relative_root_is_resolved_at_construction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files = OsFileSystem("logs")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    files.open("1.log")

    assert (tmp_path / "logs/1.log").exists()


@pytest.mark.parametrize("path", ["../x", "a/../../x", "/etc/x", "a/b/c", "a//b", "..", ".", "a/..", "a/"])
def test_paths_outside_the_folder_fail(tmp_path: Path, path: str) -> None:
    files = OsFileSystem(tmp_path / "logs")

    with pytest.raises(AssertionError):
        files.open(path)
    with pytest.raises(AssertionError):
        files.replace(path, b"")
    assert list(tmp_path.iterdir()) == []


def test_folders_and_other_things_are_not_files(tmp_path: Path) -> None:
    files = OsFileSystem(tmp_path)
    files.open("a-0/1.log")
    (tmp_path / "a-0/folder").mkdir()
    os.mkfifo(tmp_path / "a-0/pipe")

    assert (files.names_in("a-0"), files.exists("a-0"), files.exists("a-0/pipe")) == (["1.log"], False, False)
    with pytest.raises(IsADirectoryError):
        files.open("a-0/pipe")
    with pytest.raises(OSError, match="not empty"):
        files.delete_folder("a-0")


def test_deleted_file_closes_its_descriptor_and_later_uses_fail(tmp_path: Path) -> None:
    files = OsFileSystem(tmp_path)
    before = open_descriptors(tmp_path)
    file = files.open("1.log")
    file.append(b"1", b"")

    files.delete("1.log")

    assert open_descriptors(tmp_path) == before
    with pytest.raises(FileNotFoundError):
        file.read(0, 1)
    with pytest.raises(FileNotFoundError):
        file.append(b"2", b"")
    assert not (tmp_path / "1.log").exists()


def test_file_has_one_size_for_all_open_handles(tmp_path: Path) -> None:
    files = OsFileSystem(tmp_path)
    file = files.open("1.index")
    file.preallocate(100)
    file.append(b"12", b"")

    assert files.open("1.index") is file
    assert OsFileSystem(tmp_path).open("1.index").size == 100


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_failed_replacement_leaves_the_old_content_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    files = OsFileSystem(tmp_path)
    files.replace("checkpoint", b"old")

    def fail(*arguments: object, **named: object) -> None:
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr(os, failing, fail)

    with pytest.raises(OSError, match="No space"):
        files.replace("checkpoint", b"new", is_synced=True)

    assert (files.names_in(""), (tmp_path / "checkpoint").read_bytes()) == (["checkpoint"], b"old")


def test_replacement_is_synced_before_it_has_the_name_and_the_name_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = OsFileSystem(tmp_path)
    files.replace("a-0/checkpoint", b"old")
    synced: list[tuple[str, bytes]] = []

    def note(number: int) -> None:
        path = os.readlink(f"/proc/self/fd/{number}")
        synced.append((os.path.relpath(path, tmp_path), (tmp_path / "a-0/checkpoint").read_bytes()))

    monkeypatch.setattr(os, "fsync", note)

    files.replace("a-0/checkpoint", b"new", is_synced=True)
    files.replace("a-0/checkpoint", b"newer")

    assert synced == [("a-0/checkpoint.tmp", b"old"), ("a-0", b"new")]


def test_modified_ms_is_the_time_of_the_disk(tmp_path: Path) -> None:
    files = OsFileSystem(tmp_path)
    files.open("1.log")
    os.utime(tmp_path / "1.log", ns=(0, 1_700_000_000_123_456_789))

    assert files.modified_ms("1.log") == 1_700_000_000_123
