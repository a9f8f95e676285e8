from __future__ import annotations

import errno
from random import Random

import pytest

from fauxka.faults.files.operation_kind import OperationKind
from fauxka.storage.file_systems.file_system import FileSystem
from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem

from .faulty_file_system import FaultyFileSystem
from .file_fault_rules import Effect, Fail, FileFaultRule, LoseSync, Stop, Tear, disk_full
from .file_operations import MachineStopped

# What is left is drawn; so many times, that each of a handful of possibilities comes up.
TRIES = 200


def new() -> FaultyFileSystem:
    return FaultyFileSystem(MemoryFileSystem())


def rule(kind: OperationKind, effect: Effect, *, skip: int = 0, times: int | None = 1) -> FileFaultRule:
    return FileFaultRule(effect=effect, kinds=frozenset({kind}), skip=skip, times=times)


def append(file_system: FaultyFileSystem, path: str, data: bytes) -> None:
    file_system.open(path).append(data[:1], data[1:])


def sync(file_system: FaultyFileSystem, path: str) -> None:
    file_system.open(path).begin_sync()()


def contents(file_system: FileSystem) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for folder in ["", *file_system.folders()]:
        for name in file_system.names_in(folder):
            path = f"{folder}/{name}" if folder else name
            file = file_system.open(path)
            found[path] = bytes(file.read(0, file.size))
    return found


def after_power_loss(file_system: FaultyFileSystem) -> list[dict[str, bytes]]:
    """Return what may be left, each possibility once, in the order in which it was drawn."""
    found: list[dict[str, bytes]] = []
    for seed in range(TRIES):
        left = contents(file_system.after_power_loss(Random(seed)))
        if left not in found:
            found.append(left)
    return found


def test_without_rules_files_have_the_written_bytes() -> None:
    file_system = new()

    append(file_system, "topic-0/a.log", b"abc")
    append(file_system, "topic-0/a.log", b"def")
    file_system.rename("topic-0/a.log", "topic-0/b.log")
    file_system.replace("meta", b"one")
    file_system.rename_folder("topic-0", "topic-1")

    assert bytes(file_system.open("topic-1/b.log").read(1, 4)) == b"bcde"
    assert file_system.names_in("topic-1") == ["b.log"]
    assert file_system.folders() == ["topic-1"]
    assert contents(file_system.after_kill()) == {"meta": b"one", "topic-1/b.log": b"abcdef"}


def test_failed_write_leaves_the_file_as_it_was() -> None:
    file_system = new()
    append(file_system, "a/a.log", b"abc")
    file_system.plan.add(rule(OperationKind.WRITE, Fail(errno.EIO)))

    with pytest.raises(OSError, match="Input/output error"):
        append(file_system, "a/a.log", b"def")
    append(file_system, "a/a.log", b"ghi")

    assert contents(file_system.after_kill()) == {"a/a.log": b"abcghi"}


def test_torn_write_is_not_seen_and_is_cut_before_the_next_one() -> None:
    file_system = new()
    append(file_system, "a/a.log", b"abc")
    file_system.plan.add(rule(OperationKind.WRITE, Tear(2, Fail(errno.ENOSPC))))

    with pytest.raises(OSError, match="No space left"):
        append(file_system, "a/a.log", b"def")

    file = file_system.open("a/a.log")
    assert file.size == 3
    assert contents(file_system.after_kill()) == {"a/a.log": b"abcde"}


def test_write_after_a_torn_one_follows_the_last_whole_batch() -> None:
    file_system = new()
    append(file_system, "a/a.log", b"abc")
    file_system.plan.add(rule(OperationKind.WRITE, Tear(2, Fail(errno.ENOSPC))))
    with pytest.raises(OSError, match="No space left"):
        append(file_system, "a/a.log", b"def")

    append(file_system, "a/a.log", b"x")

    assert contents(file_system.after_kill()) == {"a/a.log": b"abcx"}


def test_machine_that_stopped_in_a_write_does_nothing_more() -> None:
    file_system = new()
    append(file_system, "a/a.log", b"abc")
    file_system.plan.add(rule(OperationKind.WRITE, Tear(1, Stop())))

    with pytest.raises(MachineStopped):
        append(file_system, "a/a.log", b"def")
    with pytest.raises(MachineStopped):
        file_system.delete("a/a.log")

    assert contents(file_system.after_kill()) == {"a/a.log": b"abcd"}


def test_disk_is_full_until_the_rule_is_lifted() -> None:
    file_system = new()
    full = file_system.plan.add(disk_full())
    with pytest.raises(OSError, match="No space left"):
        file_system.open("a/a.log")
    with pytest.raises(OSError, match="No space left"):
        file_system.replace("meta", b"one")
    file_system.plan.remove(full)

    append(file_system, "a/a.log", b"abc")

    assert contents(file_system.after_kill()) == {"a/a.log": b"abc"}


def test_torn_replace_leaves_the_old_content_and_a_temporary_file() -> None:
    file_system = new()
    file_system.replace("meta", b"old")
    file_system.plan.add(rule(OperationKind.REPLACE, Tear(2, Stop())))

    with pytest.raises(MachineStopped):
        file_system.replace("meta", b"new")

    assert contents(file_system.after_kill()) == {"meta": b"old", "meta.tmp": b"ne"}


def test_preallocated_room_is_zeros_after_a_kill_until_it_is_cut() -> None:
    file_system = new()
    append(file_system, "a/a.index", b"abc")

    file_system.open("a/a.index").preallocate(5)

    assert file_system.open("a/a.index").size == 3
    assert contents(file_system.after_kill()) == {"a/a.index": b"abc\0\0"}


def test_bytes_synced_with_their_folders_survive_every_power_failure() -> None:
    file_system = new()
    append(file_system, "a/a.log", b"abc")
    file_system.replace("b/meta", b"one", is_synced=True)
    sync(file_system, "a/a.log")
    file_system.sync_folder("a")
    file_system.sync_folder("")

    assert after_power_loss(file_system) == [{"a/a.log": b"abc", "b/meta": b"one"}]


def test_file_whose_folder_was_not_synced_may_be_lost() -> None:
    file_system = new()
    append(file_system, "a/a.log", b"abc")
    file_system.sync_folder("")
    sync(file_system, "a/a.log")

    found = after_power_loss(file_system)

    assert {} in found
    assert {"a/a.log": b"abc"} in found


def test_unsynced_bytes_may_be_lost_torn_or_zero_but_never_those_before_the_sync() -> None:
    file_system = new()
    append(file_system, "a/a.log", b"abc")
    sync(file_system, "a/a.log")
    file_system.sync_folder("a")
    file_system.sync_folder("")
    append(file_system, "a/a.log", b"def")

    left = [found["a/a.log"] for found in after_power_loss(file_system)]

    assert all(each[:3] == b"abc" for each in left)
    assert {b"abc", b"abcd", b"abcde", b"abcdef", b"abc\0\0\0"} <= set(left)


def test_unsynced_truncate_may_be_undone() -> None:
    file_system = new()
    append(file_system, "a/a.log", b"abcdef")
    sync(file_system, "a/a.log")
    file_system.sync_folder("a")
    file_system.sync_folder("")
    file_system.open("a/a.log").truncate(2)
    append(file_system, "a/a.log", b"x")

    left = [found["a/a.log"] for found in after_power_loss(file_system)]

    assert {b"abcdef", b"ab", b"abx"} <= set(left)
    assert all(each in (b"abcdef", b"ab", b"abx", b"ab\0", b"ab\0def", b"ab\0\0\0\0") for each in left)


def test_unsynced_rename_delete_and_replace_may_be_undone_but_are_never_half_done() -> None:
    file_system = new()
    for path in ("a/one", "a/two", "a/three"):
        file_system.replace(path, b"old", is_synced=True)
    file_system.sync_folder("")
    file_system.rename("a/one", "a/four")
    file_system.delete("a/two")
    file_system.replace("a/three", b"new", is_synced=False)
    sync(file_system, "a/three")

    found = [sorted(left) for left in after_power_loss(file_system)]

    names = (["a/one", "a/three", "a/two"], ["a/four", "a/three", "a/two"], ["a/four", "a/three"])
    assert all(each in names for each in found)
    assert all(each in found for each in names)


def test_lost_sync_makes_nothing_safe() -> None:
    file_system = new()
    file_system.replace("a/a.log", b"", is_synced=True)
    file_system.sync_folder("")
    append(file_system, "a/a.log", b"abc")
    file_system.plan.add(rule(OperationKind.SYNC, LoseSync()))

    sync(file_system, "a/a.log")

    assert {"a/a.log": b""} in after_power_loss(file_system)


def test_after_a_failed_sync_only_bytes_that_are_written_again_become_durable() -> None:
    file_system = new()
    file_system.replace("a/a.log", b"", is_synced=True)
    file_system.sync_folder("")
    append(file_system, "a/a.log", b"abc")
    file_system.plan.add(rule(OperationKind.SYNC, Fail(errno.EIO)))
    with pytest.raises(OSError, match="Input/output error"):
        sync(file_system, "a/a.log")

    sync(file_system, "a/a.log")
    lost = after_power_loss(file_system)
    file_system.operations.is_stopped = False
    file_system.open("a/a.log").truncate(0)
    append(file_system, "a/a.log", b"abc")
    sync(file_system, "a/a.log")

    assert {"a/a.log": b"\0\0\0"} in lost
    assert after_power_loss(file_system) == [{"a/a.log": b"abc"}]


def test_sync_covers_the_bytes_written_before_it_began() -> None:
    file_system = new()
    file_system.replace("a/a.log", b"", is_synced=True)
    file_system.sync_folder("")
    append(file_system, "a/a.log", b"abc")
    step = file_system.open("a/a.log").begin_sync()
    append(file_system, "a/a.log", b"def")

    step()

    left = {found["a/a.log"] for found in after_power_loss(file_system)}
    assert all(each.startswith(b"abc") for each in left)
    assert b"abc" in left


def test_renamed_file_keeps_its_durable_bytes() -> None:
    file_system = new()
    append(file_system, "a/a.log", b"abc")
    file = file_system.open("a/a.log")
    file_system.rename("a/a.log", "a/b.log")
    file_system.sync_folder("a")
    file_system.sync_folder("")

    file.begin_sync()()

    assert file.path == "a/b.log"
    assert after_power_loss(file_system) == [{"a/b.log": b"abc"}]


def test_rename_between_folders_is_refused() -> None:
    file_system = new()
    append(file_system, "a/a.log", b"abc")
    append(file_system, "b/b.log", b"abc")

    with pytest.raises(OSError, match="cross-device"):
        file_system.rename("a/a.log", "b/a.log")


def test_failed_read_raises_and_has_no_number() -> None:
    file_system = new()
    append(file_system, "a/a.log", b"abc")
    file_system.plan.add(rule(OperationKind.READ, Fail(errno.EIO)))
    count = file_system.operations.count

    with pytest.raises(OSError, match="Input/output error"):
        file_system.open("a/a.log").read(0, 3)

    assert bytes(file_system.open("a/a.log").read(0, 3)) == b"abc"
    assert file_system.operations.count == count


def test_bytes_unsynced_before_a_kill_are_unsynced_after_it() -> None:
    file_system = new()
    file_system.replace("a/a.log", b"", is_synced=True)
    file_system.sync_folder("")
    append(file_system, "a/a.log", b"abc")
    file_system.rename("a/a.log", "a/b.log")

    left = after_power_loss(file_system.after_kill())

    assert {"a/a.log": b""} in left
    assert {"a/b.log": b"abc"} in left


def test_sync_that_rewrites_all_bytes_recovers_those_of_a_lost_sync() -> None:
    file_system = new()
    file_system.replace("a/a.log", b"", is_synced=True)
    file_system.sync_folder("")
    append(file_system, "a/a.log", b"abc")
    file_system.plan.add(rule(OperationKind.SYNC, Fail(errno.EIO)))
    with pytest.raises(OSError, match="Input/output error"):
        sync(file_system, "a/a.log")

    file_system.open("a/a.log").begin_sync(is_written_again=True)()

    assert after_power_loss(file_system) == [{"a/a.log": b"abc"}]
