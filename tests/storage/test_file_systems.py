"""The FileSystem contract: in memory, on disk, and as an overlay."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fauxka.storage.file_systems.file_system import File, FileSystem
from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem
from fauxka.storage.file_systems.open_descriptors import OpenDescriptors
from fauxka.storage.file_systems.os_file_system import OsFileSystem
from fauxka.storage.file_systems.overlay_file_system import OverlayFileSystem
from fauxka.storage.log_files import LOG_SUFFIX, file_name

from ..run_counts import examples

# More than one view, and more than the first memory blocks.
LARGE = 3 * 1024 * 1024
# Names of segments: other files stay when a folder is deleted.
FIRST, SECOND = file_name(0, LOG_SUFFIX), file_name(1, LOG_SUFFIX)

Settle = Callable[[], FileSystem]


@pytest.fixture(params=["memory", "os", "overlay"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def files(kind: str, tmp_path: Path) -> FileSystem:
    return MemoryFileSystem() if kind == "memory" else OsFileSystem(tmp_path / "logs")


@pytest.fixture
def settle(kind: str, files: FileSystem, tmp_path: Path) -> Settle:
    """Return a file system with the same files, as after a restart or as a read-only overlay."""
    if kind == "os":
        return lambda: OsFileSystem(tmp_path / "logs")
    return lambda: files if kind == "memory" else OverlayFileSystem(files, MemoryFileSystem())


class TestFileSystem:
    def test_open_creates_the_file(self, files: FileSystem) -> None:
        file = files.open("a-0/1.log")

        assert (file.size, files.exists("a-0/1.log"), files.exists("a-0/2.log")) == (0, True, False)
        assert (files.folders(), files.names_in("a-0"), files.names_in("b-0")) == (["a-0"], ["1.log"], [])

    def test_appended_bytes_are_read_through_another_open(self, files: FileSystem, settle: Settle) -> None:
        file = files.open("a-0/1.log")
        positions = [file.append(b"head", memoryview(b"body")), file.append(b"", b"more")]

        found = settle().open("a-0/1.log")

        assert (positions, found.size) == ([0, 8], 12)
        assert (bytes(found.read(4, 6)), b"".join(found.views(0, 12))) == (b"bodymo", b"headbodymore")

    def test_existing_file_is_appended_to(self, files: FileSystem, settle: Settle) -> None:
        files.open("a-0/1.log").append(b"old", b"")
        found = settle().open("a-0/1.log")

        assert found.append(b"n", b"ew") == 3

        assert (found.size, bytes(found.read(0, 6)), bytes(found.read(2, 2))) == (6, b"oldnew", b"dn")

    def test_large_range_is_read_whole(self, files: FileSystem, settle: Settle) -> None:
        content = bytes(range(256)) * (LARGE // 256)
        files.open("1.log").append(content, b"end")
        found = settle().open("1.log")

        assert b"".join(found.views(7, LARGE - 6)) == content[7:] + b"e"
        assert bytes(found.read(LARGE - 9, 12)) == content[-9:] + b"end"

    def test_read_beyond_the_end_fails(self, files: FileSystem, settle: Settle) -> None:
        files.open("1.log").append(b"12", b"")
        found = settle().open("1.log")
        found.append(b"3", b"")

        assert (bytes(found.read(3, 0)), found.views(0, 0)) == (b"", [])
        with pytest.raises(AssertionError):
            found.views(1, 3)

    def test_truncated_file_is_appended_to_at_its_new_end(self, files: FileSystem, settle: Settle) -> None:
        files.open("1.log").append(b"123456", b"")
        found = settle().open("1.log")
        found.append(b"78", b"")
        before = found.views(0, 8)

        found.truncate(7)
        found.truncate(4)
        found.append(b"x", b"y")

        assert (found.size, bytes(found.read(0, 6)), b"".join(before)) == (6, b"1234xy", b"12345678")

    def test_preallocated_room_is_not_counted_and_is_removed_by_a_cut(self, files: FileSystem, settle: Settle) -> None:
        file = files.open("1.index")
        file.preallocate(1000)
        file.append(b"entry", b"")
        sizes = [file.size]
        file.truncate(5)
        found = settle().open("1.index")
        found.preallocate(10)
        found.append(b"!", b"")

        assert (sizes, found.size, bytes(found.read(0, 6))) == ([5], 6, b"entry!")

    def test_file_stays_usable_after_a_rename(self, files: FileSystem, settle: Settle) -> None:
        files.open("a-0/1.log").append(b"1", b"")
        found = settle()
        file = found.open("a-0/1.log")
        found.rename("a-0/1.log", "a-0/1.log.deleted")
        file.close()
        file.append(b"2", b"")
        file.close()

        assert bytes(found.open("a-0/1.log.deleted").read(0, 2)) == bytes(file.read(0, 2)) == b"12"
        assert (found.names_in("a-0"), found.exists("a-0/1.log")) == (["1.log.deleted"], False)
        assert found.open("a-0/1.log").size == 0

    def test_rename_replaces_the_target(self, files: FileSystem, settle: Settle) -> None:
        for name in ("1.log", "1.log.swap", "2.log.swap"):
            files.open(f"a-0/{name}").append(name.encode(), b"")
        files.open("a-0/2.log")
        found = settle()
        found.open("a-0/1.log").append(b"old", b"")
        found.open("a-0/2.log.swap").append(b"new", b"")

        found.rename("a-0/1.log.swap", "a-0/1.log")
        found.rename("a-0/2.log.swap", "a-0/2.log")

        assert found.names_in("a-0") == ["1.log", "2.log"]
        assert bytes(found.open("a-0/1.log").read(0, found.open("a-0/1.log").size)) == b"1.log.swap"
        assert bytes(found.open("a-0/2.log").read(0, found.open("a-0/2.log").size)) == b"2.log.swapnew"

    def test_file_moves_to_another_folder(self, files: FileSystem, settle: Settle) -> None:
        files.open("a-0/1").append(b"1", b"")
        files.open("b-0/1")
        found = settle()
        found.open("a-0/1").append(b"2", b"")

        found.rename("a-0/1", "b-0/2")
        found.rename("b-0/2", "b-0/2")

        assert (found.folders(), found.names_in("a-0"), found.names_in("b-0")) == (["a-0", "b-0"], [], ["1", "2"])
        assert bytes(found.open("b-0/2").read(0, 2)) == b"12"

    @pytest.mark.parametrize(("path", "new_path"), [("a-0/2", "a-0/3"), ("b-0/1", "a-0/3"), ("a-0/1", "b-0/1")])
    def test_rename_without_file_or_folder_fails(
        self, files: FileSystem, settle: Settle, path: str, new_path: str
    ) -> None:
        files.open("a-0/1").append(b"1", b"")
        found = settle()

        with pytest.raises(FileNotFoundError):
            found.rename(path, new_path)

        assert (found.folders(), found.names_in("a-0"), found.open("a-0/1").size) == (["a-0"], ["1"], 1)

    def test_files_stay_usable_in_a_renamed_folder(self, files: FileSystem, settle: Settle) -> None:
        files.open("a-0/1.log").append(b"1", b"")
        files.open("a-0/2.log").append(b"2", b"")
        found = settle()
        file = found.open("a-0/1.log")
        file.append(b"+", b"")

        found.rename_folder("a-0", "a-0.x-delete")
        file.close()
        file.append(b"3", b"")
        file.close()

        assert (found.folders(), found.names_in("a-0"), found.names_in("a-0.x-delete")) == (
            ["a-0.x-delete"],
            [],
            ["1.log", "2.log"],
        )
        assert bytes(found.open("a-0.x-delete/1.log").read(0, 3)) == bytes(file.read(0, 3)) == b"1+3"
        assert bytes(found.open("a-0.x-delete/2.log").read(0, 1)) == b"2"

    def test_folder_cannot_be_renamed_to_one_with_files(self, files: FileSystem, settle: Settle) -> None:
        files.open("a-0/1")
        files.open("b-0/2")
        found = settle()

        with pytest.raises(OSError, match="not empty"):
            found.rename_folder("a-0", "b-0")
        with pytest.raises(FileNotFoundError):
            found.rename_folder("c-0", "d-0")

        assert (found.names_in("a-0"), found.names_in("b-0")) == (["1"], ["2"])

    def test_deleted_file_does_not_exist_and_its_views_stay_valid(self, files: FileSystem, settle: Settle) -> None:
        files.open("a-0/1").append(b"123", b"")
        found = settle()
        file = found.open("a-0/1")
        file.append(b"4", b"")
        views = file.views(0, 4)

        found.delete("a-0/1")
        found.delete("a-0/1")
        found.delete("c-0/1")

        assert (b"".join(views), found.exists("a-0/1"), found.names_in("a-0")) == (b"1234", False, [])
        assert (found.folders(), found.open("a-0/1").size) == (["a-0"], 0)

    def test_deleted_folder_does_not_exist_nor_its_files(self, files: FileSystem, settle: Settle) -> None:
        files.open(f"a-0/{FIRST}").append(b"1", b"")
        files.open(f"a-0/{SECOND}")
        files.open("b-0/1")
        found = settle()
        found.open(f"a-0/{FIRST}").append(b"2", b"")

        found.delete_folder("a-0")
        found.delete_folder("a-0")

        assert (found.folders(), found.names_in("a-0"), found.exists(f"a-0/{FIRST}")) == (["b-0"], [], False)
        assert found.open(f"a-0/{FIRST}").size == 0

    @pytest.mark.parametrize("is_synced", [False, True])
    def test_replace_replaces_the_whole_content(self, files: FileSystem, settle: Settle, is_synced: bool) -> None:
        files.replace("checkpoint", b"0\n0\n", is_synced=is_synced)
        found = settle()
        before = found.open("checkpoint")
        before.append(b"dirt", b"")

        found.replace("checkpoint", b"0\n1\n", is_synced=is_synced)
        found.replace("a-0/partition.metadata", b"version: 0", is_synced=is_synced)

        after = found.open("checkpoint")
        assert (after.size, bytes(after.read(0, 4))) == (4, b"0\n1\n")
        assert (found.names_in(""), found.names_in("a-0")) == (["checkpoint"], ["partition.metadata"])

    def test_files_of_the_top_folder_are_not_folders(self, files: FileSystem, settle: Settle) -> None:
        files.open("top")
        files.open("a-0/1")
        found = settle()
        found.rename("top", "renamed")

        assert (found.names_in(""), found.folders(), found.exists("renamed")) == (["renamed"], ["a-0"], True)
        assert not found.exists("a-0")

    def test_syncs_succeed_after_any_writes(self, files: FileSystem, settle: Settle) -> None:
        files.open("a-0/1").append(b"1", b"")
        found = settle()
        file = found.open("a-0/1")

        file.begin_sync()()
        file.append(b"2", b"")
        file.begin_sync()()
        found.sync_folder("a-0")
        found.sync_folder("")

        assert bytes(file.read(0, 2)) == b"12"

    def test_modified_ms_of_a_missing_file_fails(self, files: FileSystem, settle: Settle) -> None:
        files.open("1").append(b"1", b"")
        found = settle()

        assert found.modified_ms("1") >= 0
        with pytest.raises(FileNotFoundError):
            found.modified_ms("2")


PATHS = ["top", f"a-0/{FIRST}", f"a-0/{SECOND}", f"b-0/{FIRST}", f"b-0/{SECOND}"]
FOLDERS = ["a-0", "b-0", "c-0"]

paths = st.sampled_from(PATHS)
operations = st.one_of(
    st.tuples(st.just("append"), paths, st.integers(0, 5000)),
    st.tuples(st.just("truncate"), paths, st.integers(0, 6000)),
    st.tuples(st.just("preallocate"), paths, st.integers(0, 9000)),
    st.tuples(st.sampled_from(["delete", "replace", "close", "sync"]), paths, st.integers(0, 100)),
    st.tuples(st.just("rename"), paths, paths),
    st.tuples(st.just("rename_folder"), st.sampled_from(FOLDERS), st.sampled_from(FOLDERS)),
    st.tuples(st.just("delete_folder"), st.sampled_from(FOLDERS), st.just(0)),
)
Operations = list[tuple[str, str, int | str]]


def carry_out(files: FileSystem, held: list[File], operation: str, path: str, argument: int | str) -> str:
    """Run the operation, and return the type of its exception, if any.

    held: keeps references to the files, because a reopened file has its preallocated space as zero bytes.
    """
    try:
        match operation, argument:
            case "rename", str(new_path):
                files.rename(path, new_path)
            case "rename_folder", str(new_folder) if path != new_folder:
                files.rename_folder(path, new_folder)
            case "delete_folder", _:
                files.delete_folder(path)
            case "delete", _:
                files.delete(path)
            case "replace", int(size):
                files.replace(path, b"r" * size)
            case _, int(size):
                held.append(change(files, operation, path, size))
            case _:
                pass
    except OSError as error:
        return type(error).__name__
    return ""


def change(files: FileSystem, operation: str, path: str, size: int) -> File:
    file = files.open(path)
    match operation:
        case "append":
            file.append(b"h" * (size % 62), bytes(size % 251 for _ in range(size)))
        case "truncate":
            file.truncate(min(size, file.size))
        case "preallocate":
            file.preallocate(size)
        case "sync":
            file.begin_sync()()
        case _:
            file.close()
    return file


def contents(files: FileSystem) -> dict[str, bytes]:
    names = [("", name) for name in files.names_in("")]
    names += [(f"{folder}/", name) for folder in files.folders() for name in files.names_in(folder)]
    found: dict[str, bytes] = {}
    for folder, name in names:
        file = files.open(folder + name)
        found[folder + name] = b"".join(file.views(0, file.size))
        middle, size = file.size // 2, file.size // 4
        assert bytes(file.read(middle, size)) == found[folder + name][middle : middle + size]
    return found


@given(st.lists(operations, max_size=30), st.lists(operations, max_size=30))
@settings(derandomize=True, max_examples=examples(150), deadline=None)
def test_file_systems_agree_after_any_operations(before: Operations, after: Operations) -> None:
    held: list[File] = []
    with tempfile.TemporaryDirectory() as folder:
        memory = MemoryFileSystem()
        # Two descriptors for five files: they are constantly opened and closed.
        disk = OsFileSystem(folder, OpenDescriptors(2))
        for operation in before:
            assert carry_out(disk, held, *operation) == carry_out(memory, held, *operation), operation
        for path in contents(memory):
            disk.open(path).truncate(memory.open(path).size)
        below = contents(disk)
        overlay = OverlayFileSystem(OsFileSystem(folder), MemoryFileSystem())

        for operation in after:
            assert carry_out(overlay, held, *operation) == carry_out(memory, held, *operation), operation

        assert contents(overlay) == contents(memory)
        assert overlay.folders() == memory.folders()
        assert contents(OsFileSystem(folder)) == below
