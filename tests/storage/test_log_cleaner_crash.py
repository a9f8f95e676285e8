"""Cleanings interrupted between any two changes of the folder, by a crash or an OSError."""

from __future__ import annotations

from errno import EIO

import pytest

from fauxka.storage.file_systems.file_system import FileSystem
from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem
from fauxka.storage.partition_log import PartitionLog

from ..protocol.batch_bytes import NOW_MS
from .cleaned_logs import FOLDER, CleanedLog, Pair, batch_of, marker, stored_log, transactional
from .logs import append, read_all, records_in

# The maximum wait before a failed cleaning is repeated.
RETRY_MS = 15_000


class InterruptedFileSystem(MemoryFileSystem):
    """Renames deleted files, as on disk, and calls a function before every change of a name."""

    def __init__(self) -> None:
        super().__init__()
        self.copies: list[MemoryFileSystem] = []
        self.is_copying = False
        self.refused_change: int | None = None
        self.changes = 0

    @property
    def is_persistent(self) -> bool:
        return True

    def _before_change(self) -> None:
        if self.is_copying:
            self.copies.append(copy_of(self, InterruptedFileSystem()))
        if self.refused_change == self.changes:
            self.refused_change = None
            raise OSError(EIO, "refused once")
        self.changes += 1

    def rename(self, path: str, new_path: str) -> None:
        self._before_change()
        super().rename(path, new_path)

    def delete(self, path: str) -> None:
        self._before_change()
        super().delete(path)

    def replace(self, path: str, content: bytes, *, is_synced: bool = False) -> None:
        self._before_change()
        super().replace(path, content, is_synced=is_synced)

    def sync_folder(self, folder: str) -> None:
        self._before_change()


def copy_of(files: FileSystem, into: MemoryFileSystem) -> MemoryFileSystem:
    for folder in ["", *files.folders()]:
        for name in files.names_in(folder):
            path = f"{folder}/{name}" if folder else name
            file = files.open(path)
            into.open(path).append(bytes(file.read(0, file.size)) if file.size else b"", b"")
    return into


def log_to_clean(files: MemoryFileSystem) -> CleanedLog:
    """Return an uncleaned log of several segments with an aborted transaction and two producers."""
    source = stored_log(
        [transactional(1, 0, ("a", "0")), marker(1, is_commit=True)],
        [transactional(1, 1, ("b", "2")), marker(1, is_commit=False), transactional(2, 0, ("b", "4"))],
        [marker(2, is_commit=True), batch_of(("a", "6")), batch_of(("c", "7"), ("c", "8"))],
        [batch_of(("d", "9"))],
    )
    return CleanedLog(file_system=copy_of(source.file_system, files))


def latest(log: PartitionLog) -> dict[str, str | None]:
    """Return the last value of each key for a reader of committed records."""
    aborted = {
        offset
        for segment in log.segments
        for abort in segment.transaction_index.entries()
        for offset in range(abort.first_offset, abort.last_offset)
    }
    pairs: list[Pair] = [
        ((record.key or b"").decode(), (record.value or b"").decode())
        for record in records_in(read_all(log))
        if record.offset not in aborted
    ]
    return {key: value for key, value in pairs if key in ("a", "b", "c", "d")}


EXPECTED = {"a": "6", "b": "4", "c": "8", "d": "9"}


def crashed_copies() -> list[MemoryFileSystem]:
    files = InterruptedFileSystem()
    log = log_to_clean(files)
    files.is_copying = True
    log.clean()
    files.is_copying = False
    return [*files.copies, copy_of(files, InterruptedFileSystem())]


COPIES = crashed_copies()


def test_cleaning_changes_names_in_many_steps() -> None:
    assert len(COPIES) > 20


@pytest.mark.parametrize("number", range(len(COPIES)))
def test_crash_between_any_two_steps_leaves_a_complete_log(number: int) -> None:
    log = CleanedLog(file_system=copy_of(COPIES[number], InterruptedFileSystem()))

    names = log.file_system.names_in(FOLDER)
    assert not [name for name in names if name.endswith((".cleaned", ".swap", ".deleted"))]
    assert log.log.truncated_bytes == 0
    assert log.log.log_end_offset == 10
    assert latest(log.log) == EXPECTED
    assert append(log.log, transactional(2, 0, ("b", "4"))).is_duplicate
    log.put(("z", "news"))
    log.roll()
    log.clean()
    assert latest(log.log) == EXPECTED


@pytest.mark.parametrize("number", range(len(COPIES)))
def test_crash_during_recovery_leaves_a_complete_log(number: int) -> None:
    files = InterruptedFileSystem()
    copy_of(COPIES[number], files)
    files.is_copying = True
    CleanedLog(file_system=files)

    found = [latest(CleanedLog(file_system=copy).log) for copy in files.copies]

    assert found == [EXPECTED] * len(found)


@pytest.mark.parametrize("number", range(len(COPIES) - 1))
def test_step_that_failed_with_oserror_is_repeated_later(number: int) -> None:
    files = InterruptedFileSystem()
    log = log_to_clean(files)
    files.refused_change = files.changes + number

    cleaning = log.cleaner.begin(NOW_MS)
    assert cleaning is not None
    cleaning.run()
    while log.cleaner.advance(cleaning):
        cleaning.run()
    assert files.refused_change is None
    assert latest(log.log) == EXPECTED
    log.clean(NOW_MS + RETRY_MS)

    assert latest(log.log) == EXPECTED
    assert not [name for name in files.names_in(FOLDER) if name.endswith((".cleaned", ".swap"))]
    assert latest(CleanedLog(file_system=copy_of(files, InterruptedFileSystem())).log) == EXPECTED


def test_log_with_failing_files_is_cleaned_again_after_the_retry_time() -> None:
    files = InterruptedFileSystem()
    log = log_to_clean(files)
    cleaning = log.cleaner.begin(NOW_MS)
    assert cleaning is not None
    cleaning.run()
    files.refused_change = files.changes

    assert not log.cleaner.advance(cleaning)

    assert log.cleaner.begin(NOW_MS + RETRY_MS - 1) is None
    assert log.cleaner.begin(NOW_MS + RETRY_MS) is not None
