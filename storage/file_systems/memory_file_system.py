"""Files that live in memory: the default of a broker, and what most tests run on."""

from __future__ import annotations

import mmap
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from errno import ENOENT, ENOTEMPTY

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


class MemoryFile:
    """A file that is a list of blocks of memory.

    Blocks are never moved, so that pieces can be handed out as views; what was written stays where it is, and a piece
    may begin in one block and end in the next.
    """

    # _last_start: where the last block begins in the file; _used: how much of it is written.
    __slots__ = ("_blocks", "_last", "_last_bytes", "_last_start", "_readable", "_starts", "_used")

    def __init__(self) -> None:
        """Start empty, without any block."""
        self._blocks: list[memoryview] = []
        self._readable: list[memoryview] = []
        self._starts: list[int] = []
        self._last = memoryview(bytearray())
        self._last_bytes = 0
        self._last_start = 0
        self._used = 0

    @property
    def size(self) -> int:
        """See File."""
        return self._last_start + self._used

    def append(self, head: bytes, body: memoryview | bytes) -> int:
        """See File."""
        used = self._used
        position = self._last_start + used
        middle = used + len(head)
        end = middle + len(body)
        if end <= self._last_bytes:
            block = self._last
            block[used:middle] = head
            block[middle:end] = body
            self._used = end
        else:
            self._append_across(memoryview(head))
            self._append_across(memoryview(body))
        return position

    def _append_across(self, data: memoryview) -> None:
        """Fill the last block, and as many new ones as data needs."""
        while len(data):
            if self._used == self._last_bytes:
                self._add_block()
            size = min(len(data), self._last_bytes - self._used)
            self._last[self._used : self._used + size] = data[:size]
            self._used += size
            data = data[size:]

    def _add_block(self) -> None:
        size = min(_BLOCK_BYTES_FIRST * _BLOCK_GROWTH ** len(self._blocks), _BLOCK_BYTES_MAX)
        start = self._last_start + self._last_bytes
        self._last = _new_block(size)
        self._last_bytes = size
        self._last_start = start
        self._used = 0
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
        assert position >= 0 and position + size <= self.size, f"{size} bytes at {position} of {self.size}"
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

    def preallocate(self, size: int) -> None:
        """Do nothing: memory is reserved when it is written to."""

    def truncate(self, size: int) -> None:
        """See File.

        The last block that is kept is copied, so that pieces handed out before keep what they were.
        """
        assert size <= self.size, f"cut to {size} of {self.size}"
        if size == self.size:
            return
        kept = bisect_left(self._starts, size)
        del self._starts[kept:], self._blocks[kept:], self._readable[kept:]
        if not kept:
            self._last, self._last_bytes, self._last_start, self._used = memoryview(bytearray()), 0, 0, 0
            return
        self._copy_last_block(size - self._starts[-1])

    def copy(self) -> MemoryFile:
        """Return a file with the same content, which goes its own way from here on.

        Full blocks are never written to again, and are shared; the last one is copied.
        """
        other = MemoryFile()
        other._blocks = list(self._blocks)
        other._readable = list(self._readable)
        other._starts = list(self._starts)
        if self._blocks:
            other._copy_last_block(self._used)
        return other

    def _copy_last_block(self, used: int) -> None:
        """Write to a copy of the last block from now on, of which so many bytes are used."""
        before = self._blocks[-1]
        self._last = _new_block(len(before))
        self._last[:used] = before[:used]
        self._last_bytes = len(before)
        self._last_start = self._starts[-1]
        self._used = used
        self._blocks[-1] = self._last
        self._readable[-1] = self._last.toreadonly()

    def begin_sync(self, *, is_written_again: bool = False) -> Callable[[], None]:
        """Return a step that does nothing: there is nothing safer than memory here."""
        return _do_nothing

    def close(self) -> None:
        """Do nothing: the memory is the file."""


def _do_nothing() -> None:
    """Be the step of a sync in memory."""


def _new_block(size: int) -> memoryview:
    if size < _MAPPED_BYTES_MIN or sys.platform == "win32":
        return memoryview(bytearray(size))
    populate = _POPULATE if size == _BLOCK_BYTES_MAX else 0
    block = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | populate)
    return memoryview(block)


class MemoryFileSystem:
    """Files in memory, gone with the process; as strict about what is not there as the operating system is."""

    def __init__(self) -> None:
        """Start without any file; the top folder is there."""
        self._folders: dict[str, dict[str, MemoryFile]] = {"": {}}

    @property
    def is_persistent(self) -> bool:
        """See FileSystem."""
        return False

    def open(self, path: str) -> MemoryFile:
        """See FileSystem."""
        folder, _, name = path.rpartition("/")
        files = self._folders.setdefault(folder, {})
        file = files.get(name)
        if file is None:
            file = files[name] = MemoryFile()
        return file

    def copy(self) -> MemoryFileSystem:
        """Return the same files, which go their own way from here on; it costs little more than their number."""
        other = MemoryFileSystem()
        other._folders = {
            folder: {name: file.copy() for name, file in files.items()} for folder, files in self._folders.items()
        }
        return other

    def exists(self, path: str) -> bool:
        """See FileSystem."""
        folder, _, name = path.rpartition("/")
        return name in self._folders.get(folder, {})

    def names_in(self, folder: str) -> list[str]:
        """See FileSystem."""
        return sorted(self._folders.get(folder, {}))

    def folders(self) -> list[str]:
        """See FileSystem."""
        return sorted(folder for folder in self._folders if folder)

    def rename(self, path: str, new_path: str) -> None:
        """See FileSystem."""
        folder, _, name = path.rpartition("/")
        new_folder, _, new_name = new_path.rpartition("/")
        self._check_is_there(path)
        if new_folder not in self._folders:
            raise FileNotFoundError(ENOENT, "no such folder", new_folder)
        self._folders[new_folder][new_name] = self._folders[folder].pop(name)

    def rename_folder(self, folder: str, new_folder: str) -> None:
        """See FileSystem."""
        if folder not in self._folders:
            raise FileNotFoundError(ENOENT, "no such folder", folder)
        if self._folders.get(new_folder):
            raise OSError(ENOTEMPTY, "folder is not empty", new_folder)
        self._folders[new_folder] = self._folders.pop(folder)

    def delete(self, path: str) -> None:
        """See FileSystem."""
        folder, _, name = path.rpartition("/")
        self._folders.get(folder, {}).pop(name, None)

    def delete_folder(self, folder: str) -> None:
        """See FileSystem."""
        assert folder, "the top folder stays"
        self._folders.pop(folder, None)

    def replace(self, path: str, content: bytes, *, is_synced: bool = False) -> None:
        """See FileSystem."""
        folder, _, name = path.rpartition("/")
        file = MemoryFile()
        file.append(content, b"")
        self._folders.setdefault(folder, {})[name] = file

    def modified_ms(self, path: str) -> int:
        """Return 0: storage knows no clock."""
        self._check_is_there(path)
        return 0

    def sync_folder(self, folder: str) -> None:
        """Do nothing: there is nothing safer than memory here."""

    def _check_is_there(self, path: str) -> None:
        if not self.exists(path):
            raise FileNotFoundError(ENOENT, "no such file", path)
