"""The files that logs are made of: what storage needs of them, and files that live in memory.

A log appends, reads and cuts; it never asks what is behind. Received bytes are appended as two parts, a few bytes
stamped by the broker and the rest as it came, so that neither kind of file needs a joined copy of them.
"""

from __future__ import annotations

import mmap
import sys
from bisect import bisect_left, bisect_right
from typing import Protocol

# Memory comes in blocks that grow by this factor from the first to the last size: an idle partition takes little, a
# loaded one is a few large blocks, and what is reserved and unused is one block a file.
_BLOCK_BYTES_FIRST = 4 * 1024
_BLOCK_GROWTH = 4
_BLOCK_BYTES_MAX = 1024 * 1024

# From this size on a block is memory of its own from the operating system, given back at once when it is dropped. The
# largest blocks are filled with pages in one step, which costs half of what a fault for each page does. They are not
# huge pages: a virtual machine that reports its free memory to the host gets each of those from there in 512 faults
# (measured on one: 1,500 us a MB, against 280 us in this way and 450 us a page at a time).
_MAPPED_BYTES_MIN = 256 * 1024
_POPULATE = getattr(mmap, "MAP_POPULATE", 0)


class File(Protocol):
    """One file; positions and sizes are bytes."""

    @property
    def size(self) -> int:
        """The bytes in the file."""
        ...

    def append(self, head: bytes, body: memoryview | bytes) -> int:
        """Write head and, right behind it, body to the end, and return the position of head."""
        ...

    def read(self, position: int, size: int) -> memoryview:
        """Return size bytes from position as one piece; they must be in the file."""
        ...

    def views(self, position: int, size: int) -> list[memoryview]:
        """Return size bytes from position in as many pieces as saves copying them; they must be in the file.

        The pieces stay what they are while the file grows, is truncated or deleted.
        """
        ...

    def write_at(self, position: int, data: bytes) -> None:
        """Overwrite bytes that are in the file."""
        ...

    def preallocate(self, size: int) -> None:
        """Reserve room for size bytes without changing what the file is; may do nothing."""
        ...

    def truncate(self, size: int) -> None:
        """Cut the file to its first size bytes."""
        ...

    def sync(self) -> None:
        """Return when everything written is safe from a crash of the machine."""
        ...

    def close(self) -> None:
        """Give back what an open file costs; it is opened again by FileSystem.open."""
        ...


class FileSystem(Protocol):
    """A tree of files; a path is names joined by "/", relative to the folder of the logs."""

    def open(self, path: str) -> File:
        """Return the file at path, created empty, with its folder, if it is not there."""
        ...

    def exists(self, path: str) -> bool:
        """Whether there is a file at path."""
        ...

    def names_in(self, folder: str) -> list[str]:
        """Return the names of the files in folder, sorted; none if there is no such folder."""
        ...

    def folders(self) -> list[str]:
        """Return the names of the folders, sorted."""
        ...

    def rename(self, path: str, new_path: str) -> None:
        """Give the file at path another path, replacing what is there; open files stay usable."""
        ...

    def delete(self, path: str) -> None:
        """Delete the file at path, if it is there; pieces that were read from it stay readable."""
        ...

    def delete_folder(self, folder: str) -> None:
        """Delete a folder with all its files, if it is there."""
        ...


class MemoryFile:
    """A file that is a list of blocks of memory.

    Blocks are never moved, so that pieces can be handed out as views; what was written stays where it is, and a piece
    may begin in one block and end in the next.
    """

    __slots__ = ("_blocks", "_free", "_last", "_readable", "_size", "_starts", "_used")

    def __init__(self) -> None:
        """Start empty, without any block."""
        self._size = 0
        self._blocks: list[memoryview] = []
        self._readable: list[memoryview] = []
        self._starts: list[int] = []
        self._last = memoryview(bytearray())
        self._used = 0
        self._free = 0

    @property
    def size(self) -> int:
        """See File."""
        return self._size

    def append(self, head: bytes, body: memoryview | bytes) -> int:
        """See File."""
        position = self._size
        head_size = len(head)
        size = head_size + len(body)
        if size <= self._free:
            block = self._last
            middle = self._used + head_size
            end = self._used + size
            block[self._used : middle] = head
            block[middle:end] = body
            self._used = end
            self._free -= size
        else:
            self._append_across(memoryview(head))
            self._append_across(memoryview(body))
        self._size = position + size
        return position

    def _append_across(self, data: memoryview) -> None:
        """Fill the last block, and as many new ones as data needs."""
        while len(data):
            if not self._free:
                self._add_block()
            size = min(len(data), self._free)
            self._last[self._used : self._used + size] = data[:size]
            self._used += size
            self._free -= size
            data = data[size:]

    def _add_block(self) -> None:
        size = min(_BLOCK_BYTES_FIRST * _BLOCK_GROWTH ** len(self._blocks), _BLOCK_BYTES_MAX)
        start = self._starts[-1] + len(self._last) if self._starts else 0
        self._last = _new_block(size)
        self._used = 0
        self._free = size
        self._starts.append(start)
        self._blocks.append(self._last)
        self._readable.append(self._last.toreadonly())

    def read(self, position: int, size: int) -> memoryview:
        """See File."""
        index = bisect_right(self._starts, position) - 1
        start = position - self._starts[index] if index >= 0 else 0
        view = self._readable[index][start : start + size] if index >= 0 else memoryview(b"")
        return view if len(view) == size else memoryview(b"".join(self.views(position, size)))

    def views(self, position: int, size: int) -> list[memoryview]:
        """See File."""
        assert position >= 0 and position + size <= self._size, f"{size} bytes at {position} of {self._size}"
        pieces: list[memoryview] = []
        index = bisect_right(self._starts, position) - 1
        while size > 0:
            start = position - self._starts[index]
            piece = self._readable[index][start : start + size]
            pieces.append(piece)
            position += len(piece)
            size -= len(piece)
            index += 1
        return pieces

    def write_at(self, position: int, data: bytes) -> None:
        """See File."""
        assert position + len(data) <= self._size, f"{len(data)} bytes at {position} of {self._size}"
        rest = memoryview(data)
        index = bisect_right(self._starts, position) - 1
        while len(rest):
            start = position - self._starts[index]
            size = min(len(rest), len(self._blocks[index]) - start)
            self._blocks[index][start : start + size] = rest[:size]
            position += size
            rest = rest[size:]
            index += 1

    def preallocate(self, size: int) -> None:
        """Do nothing: memory is reserved when it is written to."""

    def truncate(self, size: int) -> None:
        """See File.

        The last block that is kept is copied, so that pieces handed out before keep what they were.
        """
        assert size <= self._size, f"cut to {size} of {self._size}"
        kept = bisect_left(self._starts, size)
        del self._starts[kept:], self._blocks[kept:], self._readable[kept:]
        self._size = size
        if not kept:
            self._last, self._used, self._free = memoryview(bytearray()), 0, 0
            return
        self._used = size - self._starts[-1]
        self._last = _new_block(len(self._blocks[-1]))
        self._last[: self._used] = self._blocks[-1][: self._used]
        self._free = len(self._last) - self._used
        self._blocks[-1] = self._last
        self._readable[-1] = self._last.toreadonly()

    def sync(self) -> None:
        """Do nothing: there is nothing safer than memory here."""

    def close(self) -> None:
        """Do nothing: the memory is the file."""


def _new_block(size: int) -> memoryview:
    if size < _MAPPED_BYTES_MIN or sys.platform == "win32":
        return memoryview(bytearray(size))
    populate = _POPULATE if size == _BLOCK_BYTES_MAX else 0
    block = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | populate)
    return memoryview(block)


class MemoryFileSystem:
    """Files in memory, gone with the process."""

    def __init__(self) -> None:
        """Start without any file."""
        self._folders: dict[str, dict[str, MemoryFile]] = {}

    def open(self, path: str) -> MemoryFile:
        """See FileSystem."""
        folder, _, name = path.rpartition("/")
        files = self._folders.setdefault(folder, {})
        file = files.get(name)
        if file is None:
            file = files[name] = MemoryFile()
        return file

    def exists(self, path: str) -> bool:
        """See FileSystem."""
        folder, _, name = path.rpartition("/")
        return name in self._folders.get(folder, {})

    def names_in(self, folder: str) -> list[str]:
        """See FileSystem."""
        return sorted(self._folders.get(folder, {}))

    def folders(self) -> list[str]:
        """See FileSystem."""
        return sorted(self._folders)

    def rename(self, path: str, new_path: str) -> None:
        """See FileSystem."""
        folder, _, name = path.rpartition("/")
        new_folder, _, new_name = new_path.rpartition("/")
        file = self._folders[folder].pop(name)
        self._folders.setdefault(new_folder, {})[new_name] = file

    def delete(self, path: str) -> None:
        """See FileSystem."""
        folder, _, name = path.rpartition("/")
        self._folders.get(folder, {}).pop(name, None)

    def delete_folder(self, folder: str) -> None:
        """See FileSystem."""
        self._folders.pop(folder, None)
