"""Each action on each operation, on files in memory: what the caller sees, what is in the file, and after a stop."""

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from fauxka.faults.files.file_rules import FileCrash, FileRule
from fauxka.faults.rules.fault_rules import When
from fauxka.faults.rules.match import Pattern
from fauxka.storage.file_systems.os_file_system import OsFileSystem

from .files_on_rules import LOG, SNAPSHOT, FilesOnRules

FOR_EVER = When(times=None)


@pytest.fixture
def files() -> FilesOnRules:
    return FilesOnRules()


def error_of(operation: Callable[[], object]) -> int | None:
    """The number of the error that the operation fails by; None where it does not."""
    try:
        operation()
    except OSError as error:
        return error.errno
    return None


def test_without_rules_all_is_done(files: FilesOnRules) -> None:
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


def test_file_that_was_open_before_the_rule_goes_wrong_too(files: FilesOnRules) -> None:
    file = files.system.open(LOG)
    files.add(FileRule(action="fail"))

    assert error_of(lambda: file.append(b"abc", b"")) == errno.EIO
    assert file.append(b"abc", b"") == 0


# fail


def test_failed_write_leaves_the_file_alone(files: FilesOnRules) -> None:
    files.append(b"abc")
    files.add(FileRule(action="fail", operation="write"))

    assert error_of(files.append) == errno.EIO
    assert files.content() == b"abc"


def test_failed_write_of_a_small_file_leaves_what_was_there(files: FilesOnRules) -> None:
    files.system.replace(SNAPSHOT, b"old")
    files.add(FileRule(action="fail", operation="write"))

    assert error_of(lambda: files.system.replace(SNAPSHOT, b"new")) == errno.EIO
    assert files.content(SNAPSHOT) == b"old"


def test_failed_fsync_is_an_error_of_its_step(files: FilesOnRules) -> None:
    files.append()
    files.add(FileRule(action="fail", operation="fsync", when=FOR_EVER))

    step = files.system.open(LOG).begin_sync()

    assert error_of(step) == errno.EIO
    assert error_of(lambda: files.system.sync_folder("orders-0")) == errno.EIO
    assert error_of(lambda: files.system.replace(SNAPSHOT, b"new", is_synced=True)) == errno.EIO
    assert error_of(lambda: files.system.replace(SNAPSHOT, b"new")) is None


def test_failed_rename_leaves_the_names_alone(files: FilesOnRules) -> None:
    files.append()
    files.add(FileRule(action="fail", operation="rename", when=FOR_EVER))

    assert error_of(lambda: files.system.rename(LOG, LOG + ".deleted")) == errno.EIO
    assert error_of(lambda: files.system.rename_folder("orders-0", "orders-1")) == errno.EIO
    assert error_of(lambda: files.system.replace(SNAPSHOT, b"new")) == errno.EIO
    assert files.inner.names_in("orders-0") == [LOG.removeprefix("orders-0/")]


# tear


def test_torn_write_is_an_error_and_its_bytes_do_not_count(files: FilesOnRules) -> None:
    files.append(b"abc")
    file = files.system.open(LOG)
    files.add(FileRule(action="tear", bytes=2))

    assert error_of(lambda: file.append(b"d", b"efg")) == errno.EIO
    assert file.size == 3
    assert files.content() == b"abcde"


@pytest.mark.parametrize("is_lifted", [False, True])
def test_next_write_stands_right_behind_what_was_whole(files: FilesOnRules, is_lifted: bool) -> None:
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


def test_torn_write_never_lands_whole(files: FilesOnRules) -> None:
    files.add(FileRule(action="tear", bytes=100))

    error_of(lambda: files.append(b"abcd"))

    assert files.content() == b"abc"


def test_torn_tail_stays_when_the_machine_stops(files: FilesOnRules) -> None:
    file = files.system.open(LOG)
    files.add(FileRule(action="tear", bytes=2))
    error_of(lambda: file.append(b"abcd", b""))

    files.faults.machine_stopped()

    assert files.content() == b"ab"


def test_torn_small_file_leaves_what_was_there_and_its_first_bytes_beside_it(files: FilesOnRules) -> None:
    files.system.replace(SNAPSHOT, b"old")
    files.add(FileRule(action="tear", bytes=2))

    assert error_of(lambda: files.system.replace(SNAPSHOT, b"new!")) == errno.EIO
    assert (files.content(SNAPSHOT), files.content(SNAPSHOT + ".tmp")) == (b"old", b"ne")


def test_torn_write_stops_the_machine_where_it_was(files: FilesOnRules) -> None:
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


def test_lost_write_is_seen_until_the_machine_stops(files: FilesOnRules) -> None:
    file = files.system.open(LOG)
    file.append(b"abc", b"")
    files.add(FileRule(action="lose", operation="write"))

    position = file.append(b"def", b"")
    seen = bytes(file.read(0, 6))
    files.faults.machine_stopped()

    assert (position, seen) == (3, b"abcdef")
    assert files.content() == b"abc"


def test_lost_write_in_front_of_another_is_a_hole(files: FilesOnRules) -> None:
    file = files.system.open(LOG)
    files.add(FileRule(action="lose", operation="write", when=When(skip=1, times=2)))
    for content in (b"ab", b"cd", b"ef", b"gh"):
        file.append(content, b"")

    files.faults.machine_stopped()

    assert files.content() == b"ab\0\0\0\0gh"


def test_lost_write_that_was_cut_off_again_leaves_nothing(files: FilesOnRules) -> None:
    file = files.system.open(LOG)
    files.add(FileRule(action="lose", operation="write", when=When(skip=1)))
    file.append(b"abc", b"")
    file.append(b"def", b"")

    file.truncate(2)
    file.append(b"xyz", b"")
    files.faults.machine_stopped()

    assert files.content() == b"abxyz"


def test_lost_write_is_lost_though_the_rule_and_the_file_are_gone(files: FilesOnRules) -> None:
    armed = files.add(FileRule(action="lose", operation="write"))
    files.append(b"abc")
    files.faults.plan.remove(armed.id)

    files.faults.machine_stopped()

    assert files.content() == b""


def test_lost_write_of_a_small_file_writes_nothing(files: FilesOnRules) -> None:
    files.add(FileRule(action="lose", file_kind="snapshot"))

    files.system.replace(SNAPSHOT, b"producers", is_synced=True)

    assert not files.system.exists(SNAPSHOT)


def test_lost_fsync_loses_what_it_was_to_make_safe_when_the_machine_stops(files: FilesOnRules) -> None:
    files.add(FileRule(action="lose", operation="fsync", when=When(skip=1)))
    file = files.system.open(LOG)
    file.append(b"abc", b"")
    file.begin_sync()()
    file.append(b"def", b"")

    file.begin_sync()()
    files.faults.machine_stopped()

    assert files.content() == b"abc"


def test_fsync_after_a_lost_one_makes_all_safe(files: FilesOnRules) -> None:
    files.add(FileRule(action="lose", operation="fsync"))
    file = files.system.open(LOG)
    file.append(b"abc", b"")
    file.begin_sync()()

    file.begin_sync()()
    files.faults.machine_stopped()

    assert files.content() == b"abc"


def test_what_was_there_before_the_rule_counts_as_safe(files: FilesOnRules) -> None:
    file = files.system.open(LOG)
    file.append(b"abc", b"")
    files.add(FileRule(action="lose", operation="fsync"))
    file.append(b"def", b"")

    file.begin_sync()()
    files.faults.machine_stopped()

    assert files.content() == b"abc"


def test_what_is_known_of_syncs_is_forgotten_with_the_last_rule(files: FilesOnRules) -> None:
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


def test_lost_rename_is_undone_when_the_machine_stops(files: FilesOnRules) -> None:
    files.append(b"abc")
    files.add(FileRule(action="lose", operation="rename", when=FOR_EVER))

    files.system.rename(LOG, LOG + ".deleted")
    files.system.rename_folder("orders-0", "orders-1")
    seen = files.system.folders()
    files.faults.machine_stopped()

    assert seen == ["orders-1"]
    assert files.content(LOG) == b"abc"


def test_lost_rename_of_a_small_file_leaves_what_was_there(files: FilesOnRules) -> None:
    files.system.replace(SNAPSHOT, b"old")
    files.add(FileRule(action="lose", operation="rename"))

    files.system.replace(SNAPSHOT, b"new")

    assert files.content(SNAPSHOT) == b"old"


def test_lost_things_of_a_deleted_file_are_no_matter(files: FilesOnRules) -> None:
    files.add(FileRule(action="lose", when=FOR_EVER))
    files.append()
    files.system.rename(LOG, LOG + ".deleted")
    files.system.delete(LOG + ".deleted")

    files.faults.machine_stopped()

    assert files.inner.names_in("orders-0") == []


# slow


def test_slow_write_on_the_event_loop_is_added_up_for_the_answer(files: FilesOnRules) -> None:
    files.add(FileRule(action="slow", ms=30, when=When(times=2)))

    files.append(b"ab")
    files.append(b"cd")

    assert files.faults.is_late
    assert [files.faults.take_delay_ms(), files.faults.take_delay_ms()] == [60, 0]
    assert files.content() == b"abcd"


def test_delay_that_nobody_took_goes_by(files: FilesOnRules) -> None:
    files.add(FileRule(action="slow", ms=30, when=FOR_EVER))
    files.append()
    files.now_ms += 20
    files.append()

    assert files.faults.take_delay_ms() == 40


def test_slow_operations_in_other_threads_wait(files: FilesOnRules) -> None:
    files.append()
    files.threads.is_loop = False
    files.add(FileRule(action="slow", ms=30, when=FOR_EVER))

    files.system.open(LOG).begin_sync()()
    files.system.sync_folder("orders-0")
    files.system.replace(SNAPSHOT, b"new")

    assert files.threads.waited_ms == [30, 30, 30, 30]
    assert not files.faults.is_late


# disk_full and read_only


def test_full_disk_takes_nothing_more_until_it_is_lifted(files: FilesOnRules) -> None:
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


def test_full_disk_of_one_folder_leaves_the_others_alone(files: FilesOnRules) -> None:
    files.add(FileRule(action="disk_full", folder=Pattern("orders-.*")))

    assert error_of(files.append) == errno.ENOSPC
    assert error_of(lambda: files.append(path="users-0/00000000000000000000.log")) is None


def test_read_only_files_are_read_and_synced_and_nothing_else(files: FilesOnRules) -> None:
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


def test_corrupt_write_changes_its_last_bytes(files: FilesOnRules) -> None:
    files.append(b"abc")
    files.add(FileRule(action="corrupt", when=When(times=1)))

    files.append(b"def")
    files.append(b"ghi")

    assert files.content() == b"abcde" + bytes([ord("f") ^ 0xFF]) + b"ghi"


def test_corrupt_small_file_is_written_with_so_many_wrong_bytes(files: FilesOnRules) -> None:
    files.add(FileRule(action="corrupt", file_kind="snapshot", bytes=2))

    files.system.replace(SNAPSHOT, b"abc")

    assert files.content(SNAPSHOT) == b"a" + bytes([ord("b") ^ 0xFF, ord("c") ^ 0xFF])


def test_files_on_disk_lose_and_tear_as_those_in_memory_do(tmp_path: Path) -> None:
    files = FilesOnRules(OsFileSystem(tmp_path))
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


def test_files_that_are_wrapped_twice_go_wrong_once(files: FilesOnRules) -> None:
    again = files.faults.wrap(files.system)
    armed = files.add(FileRule(action="slow", ms=1, when=FOR_EVER))

    again.open(LOG).append(b"abc", b"")

    assert armed.hits == 1
