"""Each action on each operation, on files in memory: the result, the content, and the content after a stop."""

import errno
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fauxka.faults.files.file_rules import FileCrash, FileRule
from fauxka.faults.rules.fault_rules import When
from fauxka.faults.rules.match import Pattern
from fauxka.storage.file_systems.os_file_system import OsFileSystem

from .fault_injecting_files import LOG, SNAPSHOT, FaultInjectingFiles

FOR_EVER = When(times=None)


@pytest.fixture
def files() -> FaultInjectingFiles:
    return FaultInjectingFiles()


def error_of(operation: Callable[[], object]) -> int | None:
    """Return the errno of the operation; None if it succeeds."""
    try:
        operation()
    except OSError as error:
        return error.errno
    return None


def test_without_rules_all_operations_succeed(files: FaultInjectingFiles) -> None:
    file = files.system.open(LOG)
    file.append(b"ab", b"cd")
    file.preallocate(100)
    file.truncate(3)
    file.begin_sync()()
    files.system.replace(SNAPSHOT, b"producers", is_synced=True)
    files.system.rename(LOG, LOG + ".deleted")
    files.system.sync_folder("orders-0")

    assert files.content(LOG + ".deleted") == b"abc"
    assert files.content(SNAPSHOT) == b"producers"
    assert (file.size, bytes(file.read(1, 2)), [bytes(view) for view in file.views(0, 3)]) == (3, b"bc", [b"abc"])
    assert (files.system.folders(), files.system.exists(LOG)) == (["orders-0"], False)


def test_rule_applies_to_a_file_opened_before(files: FaultInjectingFiles) -> None:
    file = files.system.open(LOG)
    files.add(FileRule(action="fail"))

    assert error_of(lambda: file.append(b"abc", b"")) == errno.EIO
    assert file.append(b"abc", b"") == 0


# fail


def test_failed_write_does_not_change_the_file(files: FaultInjectingFiles) -> None:
    files.append(b"abc")
    files.add(FileRule(action="fail", operation="write"))

    assert error_of(files.append) == errno.EIO
    assert files.content() == b"abc"


def test_failed_replace_keeps_the_old_content(files: FaultInjectingFiles) -> None:
    files.system.replace(SNAPSHOT, b"old")
    files.add(FileRule(action="fail", operation="write"))

    assert error_of(lambda: files.system.replace(SNAPSHOT, b"new")) == errno.EIO
    assert files.content(SNAPSHOT) == b"old"


def test_failed_fsync_is_an_error_of_its_step(files: FaultInjectingFiles) -> None:
    files.append()
    files.add(FileRule(action="fail", operation="fsync", when=FOR_EVER))

    step = files.system.open(LOG).begin_sync()

    assert error_of(step) == errno.EIO
    assert error_of(lambda: files.system.sync_folder("orders-0")) == errno.EIO
    assert error_of(lambda: files.system.replace(SNAPSHOT, b"new", is_synced=True)) == errno.EIO
    assert error_of(lambda: files.system.replace(SNAPSHOT, b"new")) is None


def test_failed_rename_does_not_change_names(files: FaultInjectingFiles) -> None:
    files.append()
    files.add(FileRule(action="fail", operation="rename", when=FOR_EVER))

    assert error_of(lambda: files.system.rename(LOG, LOG + ".deleted")) == errno.EIO
    assert error_of(lambda: files.system.rename_folder("orders-0", "orders-1")) == errno.EIO
    assert error_of(lambda: files.system.replace(SNAPSHOT, b"new")) == errno.EIO
    assert files.inner.names_in("orders-0") == [LOG.removeprefix("orders-0/")]


# tear


def test_torn_write_fails_and_size_excludes_its_bytes(files: FaultInjectingFiles) -> None:
    files.append(b"abc")
    file = files.system.open(LOG)
    files.add(FileRule(action="tear", bytes=2))

    assert error_of(lambda: file.append(b"d", b"efg")) == errno.EIO
    assert file.size == 3
    assert files.content() == b"abcde"


@pytest.mark.parametrize("is_lifted", [False, True])
def test_next_write_follows_the_last_complete_one(files: FaultInjectingFiles, is_lifted: bool) -> None:
    file = files.system.open(LOG)
    file.append(b"abc", b"")
    armed = files.add(FileRule(action="tear", bytes=2))
    error_of(lambda: file.append(b"defg", b""))
    if is_lifted:
        files.faults.plan.remove(armed.id)

    position = file.append(b"XY", b"")

    assert position == 3
    assert files.content() == b"abcXY"
    assert files.faults.is_armed is not is_lifted


def test_torn_write_is_never_complete(files: FaultInjectingFiles) -> None:
    files.add(FileRule(action="tear", bytes=100))

    error_of(lambda: files.append(b"abcd"))

    assert files.content() == b"abc"


def test_torn_bytes_stay_after_a_stop(files: FaultInjectingFiles) -> None:
    file = files.system.open(LOG)
    files.add(FileRule(action="tear", bytes=2))
    error_of(lambda: file.append(b"abcd", b""))

    files.faults.machine_stopped()

    assert files.content() == b"ab"


def test_torn_replace_keeps_the_old_content_and_writes_the_temporary_file(files: FaultInjectingFiles) -> None:
    files.system.replace(SNAPSHOT, b"old")
    files.add(FileRule(action="tear", bytes=2))

    assert error_of(lambda: files.system.replace(SNAPSHOT, b"new!")) == errno.EIO
    assert (files.content(SNAPSHOT), files.content(SNAPSHOT + ".tmp")) == (b"old", b"ne")


def test_torn_write_with_crash_stops_the_node(files: FaultInjectingFiles) -> None:
    crashes: list[int | None] = []

    def crash(restart_after_ms: int | None) -> None:
        crashes.append(restart_after_ms)
        files.faults.machine_stopped()

    files.faults.on_crash = crash
    file = files.system.open(LOG)
    files.add(FileRule(action="tear", bytes=2, crash=FileCrash(restart_after_ms=100)))

    assert error_of(lambda: file.append(b"abcd", b"")) == errno.EIO
    after_crash = [error_of(files.append), error_of(lambda: files.system.replace(SNAPSHOT, b""))]
    files.faults.machine_started()
    files.append(b"XY")

    assert crashes == [100]
    assert after_crash == [errno.EIO, errno.EIO]
    assert files.content() == b"abXY"


# lose


def test_lost_write_is_readable_until_the_node_stops(files: FaultInjectingFiles) -> None:
    file = files.system.open(LOG)
    file.append(b"abc", b"")
    files.add(FileRule(action="lose", operation="write"))

    position = file.append(b"def", b"")
    seen = bytes(file.read(0, 6))
    files.faults.machine_stopped()

    assert (position, seen) == (3, b"abcdef")
    assert files.content() == b"abc"


def test_lost_write_before_another_is_a_hole(files: FaultInjectingFiles) -> None:
    file = files.system.open(LOG)
    files.add(FileRule(action="lose", operation="write", when=When(skip=1, times=2)))
    for content in (b"ab", b"cd", b"ef", b"gh"):
        file.append(content, b"")

    files.faults.machine_stopped()

    assert files.content() == b"ab\0\0\0\0gh"


def test_truncated_lost_write_leaves_nothing(files: FaultInjectingFiles) -> None:
    file = files.system.open(LOG)
    files.add(FileRule(action="lose", operation="write", when=When(skip=1)))
    file.append(b"abc", b"")
    file.append(b"def", b"")

    file.truncate(2)
    file.append(b"xyz", b"")
    files.faults.machine_stopped()

    assert files.content() == b"abxyz"


def test_lost_write_stays_lost_without_the_rule_and_the_file_object(files: FaultInjectingFiles) -> None:
    armed = files.add(FileRule(action="lose", operation="write"))
    files.append(b"abc")
    files.faults.plan.remove(armed.id)

    files.faults.machine_stopped()

    assert files.content() == b""


def test_lost_replace_writes_nothing(files: FaultInjectingFiles) -> None:
    files.add(FileRule(action="lose", file_kind="snapshot"))

    files.system.replace(SNAPSHOT, b"producers", is_synced=True)

    assert not files.system.exists(SNAPSHOT)


def test_lost_fsync_loses_its_writes_at_a_stop(files: FaultInjectingFiles) -> None:
    files.add(FileRule(action="lose", operation="fsync", when=When(skip=1)))
    file = files.system.open(LOG)
    file.append(b"abc", b"")
    file.begin_sync()()
    file.append(b"def", b"")

    file.begin_sync()()
    files.faults.machine_stopped()

    assert files.content() == b"abc"


def test_later_fsync_makes_all_writes_safe(files: FaultInjectingFiles) -> None:
    files.add(FileRule(action="lose", operation="fsync"))
    file = files.system.open(LOG)
    file.append(b"abc", b"")
    file.begin_sync()()

    file.begin_sync()()
    files.faults.machine_stopped()

    assert files.content() == b"abc"


def test_content_from_before_the_rule_is_safe(files: FaultInjectingFiles) -> None:
    file = files.system.open(LOG)
    file.append(b"abc", b"")
    files.add(FileRule(action="lose", operation="fsync"))
    file.append(b"def", b"")

    file.begin_sync()()
    files.faults.machine_stopped()

    assert files.content() == b"abc"


def test_synced_sizes_are_deleted_with_the_last_rule(files: FaultInjectingFiles) -> None:
    lifted = files.add(FileRule(action="slow", operation="rename", ms=1))
    file = files.system.open(LOG)
    file.append(b"abc", b"")
    files.faults.plan.remove(lifted.id)
    file.append(b"def", b"")
    file.begin_sync()()

    files.add(FileRule(action="lose", operation="fsync"))
    file.append(b"ghi", b"")
    file.begin_sync()()
    files.faults.machine_stopped()

    assert files.content() == b"abcdef"


def test_lost_rename_is_undone_at_a_stop(files: FaultInjectingFiles) -> None:
    files.append(b"abc")
    files.add(FileRule(action="lose", operation="rename", when=FOR_EVER))

    files.system.rename(LOG, LOG + ".deleted")
    files.system.rename_folder("orders-0", "orders-1")
    seen = files.system.folders()
    files.faults.machine_stopped()

    assert seen == ["orders-1"]
    assert files.content(LOG) == b"abc"


def test_lost_rename_of_a_replace_keeps_the_old_content(files: FaultInjectingFiles) -> None:
    files.system.replace(SNAPSHOT, b"old")
    files.add(FileRule(action="lose", operation="rename"))

    files.system.replace(SNAPSHOT, b"new")

    assert files.content(SNAPSHOT) == b"old"


def test_lost_writes_of_a_deleted_file_are_ignored(files: FaultInjectingFiles) -> None:
    files.add(FileRule(action="lose", when=FOR_EVER))
    files.append()
    files.system.rename(LOG, LOG + ".deleted")
    files.system.delete(LOG + ".deleted")

    files.faults.machine_stopped()

    assert files.inner.names_in("orders-0") == []


# slow


def test_slow_writes_on_the_event_loop_delay_the_response_by_their_sum(files: FaultInjectingFiles) -> None:
    files.add(FileRule(action="slow", ms=30, when=When(times=2)))

    files.append(b"ab")
    files.append(b"cd")

    assert files.faults.is_late
    assert [files.faults.take_delay_ms(), files.faults.take_delay_ms()] == [60, 0]
    assert files.content() == b"abcd"


def test_unused_delay_expires(files: FaultInjectingFiles) -> None:
    files.add(FileRule(action="slow", ms=30, when=FOR_EVER))
    files.append()
    files.now_ms += 20
    files.append()

    assert files.faults.take_delay_ms() == 40


def test_slow_operations_block_other_threads(files: FaultInjectingFiles) -> None:
    files.append()
    files.threads.is_loop = False
    files.add(FileRule(action="slow", ms=30, when=FOR_EVER))

    files.system.open(LOG).begin_sync()()
    files.system.sync_folder("orders-0")
    files.system.replace(SNAPSHOT, b"new")

    assert files.threads.waited_ms == [30, 30, 30, 30]
    assert not files.faults.is_late


# disk_full and read_only


def test_full_disk_refuses_writes_until_the_rule_is_removed(files: FaultInjectingFiles) -> None:
    files.append(b"abc")
    armed = files.add(FileRule(action="disk_full"))

    errors = [
        error_of(files.append),
        error_of(lambda: files.system.replace(SNAPSHOT, b"new")),
        error_of(lambda: files.system.open("users-0/00000000000000000000.log")),
        error_of(lambda: files.system.rename(LOG, LOG + ".deleted")),
        error_of(lambda: files.system.delete(LOG + ".deleted")),
    ]
    files.faults.plan.remove(armed.id)

    assert errors == [errno.ENOSPC, errno.ENOSPC, errno.ENOSPC, None, None]
    assert error_of(files.append) is None


def test_full_disk_of_one_folder_does_not_affect_others(files: FaultInjectingFiles) -> None:
    files.add(FileRule(action="disk_full", folder=Pattern("orders-.*")))

    assert error_of(files.append) == errno.ENOSPC
    assert error_of(lambda: files.append(path="users-0/00000000000000000000.log")) is None


def test_read_only_files_allow_only_reads_and_syncs(files: FaultInjectingFiles) -> None:
    files.append(b"abc")
    file = files.system.open(LOG)
    files.add(FileRule(action="read_only"))

    refused = [
        error_of(lambda: file.append(b"d", b"")),
        error_of(lambda: file.truncate(1)),
        error_of(lambda: file.preallocate(100)),
        error_of(lambda: files.system.open("users-0/a")),
        error_of(lambda: files.system.rename(LOG, LOG + ".deleted")),
        error_of(lambda: files.system.rename_folder("orders-0", "orders-1")),
        error_of(lambda: files.system.replace(SNAPSHOT, b"")),
        error_of(lambda: files.system.delete(LOG)),
        error_of(lambda: files.system.delete_folder("orders-0")),
    ]

    assert refused == [errno.EROFS] * 9
    assert bytes(file.read(0, 3)) == b"abc"
    assert error_of(file.begin_sync()) is None


# corrupt


def test_corrupt_write_changes_its_last_bytes(files: FaultInjectingFiles) -> None:
    files.append(b"abc")
    files.add(FileRule(action="corrupt", when=When(times=1)))

    files.append(b"def")
    files.append(b"ghi")

    assert files.content() == b"abcde" + bytes([ord("f") ^ 0xFF]) + b"ghi"


def test_corrupt_replace_changes_its_last_bytes(files: FaultInjectingFiles) -> None:
    files.add(FileRule(action="corrupt", file_kind="snapshot", bytes=2))

    files.system.replace(SNAPSHOT, b"abc")

    assert files.content(SNAPSHOT) == b"a" + bytes([ord("b") ^ 0xFF, ord("c") ^ 0xFF])


@pytest.mark.skipif(sys.platform == "win32", reason="data folders need Linux or macOS")
def test_files_on_disk_lose_and_tear_like_files_in_memory(tmp_path: Path) -> None:
    files = FaultInjectingFiles(OsFileSystem(tmp_path))
    file = files.system.open(LOG)
    files.add(FileRule(action="lose", operation="write", when=When(skip=1)))
    files.add(FileRule(action="tear", bytes=1, when=When(skip=2)))
    file.append(b"ab", b"")
    file.append(b"cd", b"")
    file.append(b"ef", b"")

    torn = error_of(lambda: file.append(b"gh", b""))
    files.faults.machine_stopped()

    assert torn == errno.EIO
    assert (tmp_path / LOG).read_bytes() == b"ab\0\0efg"


def test_rules_apply_once_to_files_wrapped_twice(files: FaultInjectingFiles) -> None:
    again = files.faults.wrap(files.system)
    armed = files.add(FileRule(action="slow", ms=1, when=FOR_EVER))

    again.open(LOG).append(b"abc", b"")

    assert armed.hits == 1
