"""The file of a sparse index: entries of fixed size, each a pair of increasing numbers.

The first append preallocates the maximum size; sealing truncates the file to its entries. Kafka preallocates when a
segment becomes active, and so has to flush the indexes of unchanged logs at a clean shutdown.
Entries of the active segment are also kept in memory. Those of other segments are read from the file, so that memory
does not grow with the log.
Source: AbstractIndex, Kafka 4.3.0.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable
from struct import Struct

from ..file_systems.file_system import File, FileSystem


class IndexFile:
    """The entries of one index: (first, second)."""

    __slots__ = (
        "_entry",
        "_file",
        "_file_system",
        "_firsts",
        "_is_in_memory",
        "_is_preallocated",
        "_path",
        "_seconds",
        "count",
        "count_max",
    )

    def __init__(self, file_system: FileSystem, path: str, entry: Struct, index_bytes_max: int) -> None:
        """Open the index at path; the first entry creates the file.

        entry: the format of two integers; index_bytes_max: segment.index.bytes.
        """
        self._file_system = file_system
        self._path = path
        self._entry = entry
        self.count_max = index_bytes_max // entry.size
        self._file: File | None = file_system.open(path) if file_system.exists(path) else None
        self.count = self._file.size // entry.size if self._file is not None else 0
        self._is_in_memory = not self.count
        self._is_preallocated = False
        self._firsts = array("q")
        self._seconds = array("q")

    @property
    def size(self) -> int:
        """The bytes of the entries."""
        return self.count * self._entry.size

    def entry(self, index: int) -> tuple[int, int]:
        """Return an existing entry; index -1 is the last."""
        if self._is_in_memory:
            return self._firsts[index], self._seconds[index]
        assert self._file is not None, f"{self._path} has entries and no file"
        position = (index % self.count) * self._entry.size
        first, second = self._entry.unpack(self._file.read(position, self._entry.size))
        return first, second

    def find_last(self, first: int) -> tuple[int, int] | None:
        """Return the last entry whose first number is at most first."""
        if self._is_in_memory:
            index = bisect_right(self._firsts, first) - 1
        else:
            index = bisect_right(range(self.count), first, key=lambda index: self.entry(index)[0]) - 1
        return self.entry(index) if index >= 0 else None

    def find_last_second(self, second: int) -> tuple[int, int] | None:
        """Return the last entry whose second number is at most second, if the entries are in memory."""
        index = bisect_right(self._seconds, second) - 1
        return (self._firsts[index], self._seconds[index]) if index >= 0 else None

    def append(self, first: int, second: int) -> None:
        """Add an entry; first must be at least that of the previous entry."""
        file = self._file or self._require_file()
        if not self._is_preallocated:
            file.preallocate(self.count_max * self._entry.size)
            self._is_preallocated = True
        file.append(self._entry.pack(first, second), b"")
        self.count += 1
        if self._is_in_memory:
            self._firsts.append(first)
            self._seconds.append(second)

    def create(self) -> None:
        """Create the file if it does not exist. Raises OSError."""
        self._require_file()

    def _require_file(self) -> File:
        if self._file is None:
            self._file = self._file_system.open(self._path)
        return self._file

    def clear(self) -> None:
        """Delete all entries, and create the file if it does not exist."""
        self.count = 0
        self.seal()

    def seal(self) -> None:
        """Truncate the file to its entries and free their memory; creates the file if it does not exist."""
        self._require_file().truncate(self.size)
        self._is_preallocated = False
        self._firsts = array("q")
        self._seconds = array("q")
        self._is_in_memory = not self.count

    def sync_steps(self) -> list[Callable[[], None]]:
        """Return the steps that sync the file.

        The file is small and is always written again, because an earlier failed sync may have lost its content.
        """
        return [] if self._file is None else [self._file.begin_sync(is_written_again=True)]

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        if self._file is not None:
            self._file.close()
