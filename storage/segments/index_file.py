"""The entries of a segment's sparse index: pairs of numbers that both grow, in a file of fixed-size entries.

With the first entry that is appended the file becomes as large as it may ever be, with a hole for what is not written
yet; it is cut to its entries when the segment takes no more. Until then the entries are kept in memory as well; those
of any other segment are looked up in the file, so that memory does not grow with the log.
Source: AbstractIndex, Kafka 4.3.0.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable
from struct import Struct

from ..file_systems.file_system import File, FileSystem


class IndexFile:
    """The entries of one index, first number and second."""

    __slots__ = (
        "_entry",
        "_file",
        "_file_system",
        "_firsts",
        "_has_room",
        "_is_in_memory",
        "_path",
        "_seconds",
        "count",
        "count_max",
    )

    def __init__(self, file_system: FileSystem, path: str, entry: Struct, index_bytes_max: int) -> None:
        """Open the index at path; the file is made with the first entry.

        entry: how two whole numbers are packed; index_bytes_max: segment.index.bytes.
        """
        self._file_system = file_system
        self._path = path
        self._entry = entry
        self.count_max = index_bytes_max // entry.size
        self._file: File | None = file_system.open(path) if file_system.exists(path) else None
        self.count = self._file.size // entry.size if self._file is not None else 0
        self._is_in_memory = not self.count
        self._has_room = False
        self._firsts = array("q")
        self._seconds = array("q")

    @property
    def size(self) -> int:
        """The bytes of the entries."""
        return self.count * self._entry.size

    def entry(self, index: int) -> tuple[int, int]:
        """Return an entry that is there; index -1 is the last."""
        if self._is_in_memory:
            return self._firsts[index], self._seconds[index]
        assert self._file is not None, f"{self._path} has entries and no file"
        position = (index % self.count) * self._entry.size
        first, second = self._entry.unpack(self._file.read(position, self._entry.size))
        return first, second

    def find_last(self, first: int) -> tuple[int, int] | None:
        """Return the last entry whose first number is not above first."""
        if self._is_in_memory:
            index = bisect_right(self._firsts, first) - 1
        else:
            index = bisect_right(range(self.count), first, key=lambda index: self.entry(index)[0]) - 1
        return self.entry(index) if index >= 0 else None

    def append(self, first: int, second: int) -> None:
        """Add an entry; first is not below that of the entry before."""
        file = self._file or self._opened()
        if not self._has_room:
            file.preallocate(self.count_max * self._entry.size)
            self._has_room = True
        file.append(self._entry.pack(first, second), b"")
        self.count += 1
        if self._is_in_memory:
            self._firsts.append(first)
            self._seconds.append(second)

    def _opened(self) -> File:
        if self._file is None:
            self._file = self._file_system.open(self._path)
        return self._file

    def clear(self) -> None:
        """Drop all entries, which are to be written anew; there is a file from now on."""
        self._opened().truncate(0)
        self._has_room = False
        self._forget_entries()
        self.count = 0
        self._is_in_memory = True

    def seal(self) -> None:
        """Cut the file to its entries, none of which is kept in memory any more; there is a file from now on."""
        self._opened().truncate(self.size)
        self._has_room = False
        self._forget_entries()
        self._is_in_memory = not self.count

    def _forget_entries(self) -> None:
        self._firsts = array("q")
        self._seconds = array("q")

    def sync_steps(self) -> list[Callable[[], None]]:
        """Return what makes the file safe; see File.begin_sync.

        It is written once more: little beside the log, and a sync that failed before may have lost it.
        """
        return [] if self._file is None else [self._file.begin_sync(is_written_again=True)]

    def close(self) -> None:
        """Give back what the open file costs."""
        if self._file is not None:
            self._file.close()
