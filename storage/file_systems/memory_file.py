"""A file in memory: a list of blocks, of which reads return views."""

from __future__ import annotations

import mmap
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .file_system import File

# Block sizes grow by this factor: an idle partition uses little memory, a loaded one has few blocks. At most one block
# per file is partly unused.
_BLOCK_BYTES_FIRST = 4 * 1024
_BLOCK_GROWTH = 4
_BLOCK_BYTES_MAX = 1024 * 1024

# Larger blocks are anonymous mappings, which return to the system when they are dropped. The largest are populated in
# one step: 280 us a MB, against 450 us with a fault per page. Huge pages take 1,500 us on a virtual machine that
# reports free memory to its host.
_MAPPED_BYTES_MIN = 256 * 1024
_POPULATE = getattr(mmap, "MAP_POPULATE", 0)
# Advice that drops the pages of a range; the next access finds zeros. None where the system has no such advice.
_DROP_PAGES: int | None = getattr(mmap, "MADV_DONTNEED", None)


class MemoryFile:
    """A file as a list of memory blocks.

    Blocks are never moved and written bytes never change, so reads return views. A view may need two blocks; then it is
    a copy.
    The files of several replicas share their blocks: one writes, and the others have the blocks up to where they are.
    A file that shared its last block appends to a new one.
    """

    # _last_start: the position of the last block in the file. _used: the written bytes of the last block. _last_bytes:
    # how many this file may write there, which is _used in a block that another file writes.
    __slots__ = ("_blocks", "_last", "_last_bytes", "_last_start", "_readable", "_starts", "_used")

    def __init__(self) -> None:
        """Create an empty file without blocks."""
        self._blocks: list[memoryview] = []
        self._readable: list[memoryview] = []
        self._starts: list[int] = []
        self._last = memoryview(bytearray())
        self._last_bytes = 0
        self._last_start = 0
        self._used = 0

    @property
    def size(self) -> int:
        """The bytes in the file."""
        return self._last_start + self._used

    def append(self, head: bytes, body: memoryview | bytes) -> int:
        """Write head and body to the end, and return the position of head."""
        used = self._used
        position = self._last_start + used
        middle = used + len(head)
        end = middle + len(body)
        if end <= self._last_bytes:
            block = self._last
            block[used:middle] = head
            if middle < end:
                block[middle:end] = body
            self._used = end
        else:
            self._append_across(memoryview(head))
            self._append_across(memoryview(body))
        return position

    def _append_across(self, data: memoryview) -> None:
        """Write data to the last block and to new blocks."""
        while len(data):
            if self._used == self._last_bytes:
                self._add_block()
            size = min(len(data), self._last_bytes - self._used)
            self._last[self._used : self._used + size] = data[:size]
            self._used += size
            data = data[size:]

    def append_shared(self, source: File, size: int) -> bool:
        """Share the blocks of source from the end of this file up to size, if it is another file in memory.

        Not possible where the last block of this file is none of source.
        """
        if not isinstance(source, MemoryFile):
            return False
        while (position := self.size) < size:
            index = bisect_right(source._starts, position) - 1
            count = len(self._blocks)
            if index == count and source._starts[index] == position:
                self._end_block()
                self._blocks.append(source._blocks[index])
                self._readable.append(source._readable[index])
                self._starts.append(position)
                self._last, self._last_start = source._blocks[index], position
            elif index != count - 1 or self._blocks[index] is not source._blocks[index]:
                return False
            is_last = index + 1 == len(source._starts)
            end = size if is_last else min(size, source._starts[index + 1])
            self._used = self._last_bytes = end - self._last_start
        return True

    def _end_block(self) -> None:
        """Leave the last block, of which another file may have written the rest."""
        if self._blocks and self._used < len(self._last):
            self._readable[-1] = self._last[: self._used].toreadonly()

    def _add_block(self) -> None:
        self._end_block()
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
        """Return size bytes from position as one view."""
        index = bisect_right(self._starts, position) - 1
        start = position - self._starts[index] if index >= 0 else 0
        view = self._readable[index][start : start + size] if index >= 0 else memoryview(b"")
        return view if len(view) == size else memoryview(b"".join(self.views(position, size)))

    def views(self, position: int, size: int) -> list[memoryview]:
        """Return size bytes from position as views."""
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
        """Do nothing: blocks are allocated by append."""

    def truncate(self, size: int) -> None:
        """Truncate the file; the last kept block is copied, so that existing views keep their content.

        A log truncates a segment to its size before it leaves it: then the unused end of the last block is returned to
        the system.
        """
        assert size <= self.size, f"truncate to {size} of {self.size} bytes"
        if size == self.size:
            if self._last_bytes == len(self._last):
                _drop_unused_pages(self._last, self._used)
            return
        kept = bisect_left(self._starts, size)
        del self._starts[kept:], self._blocks[kept:], self._readable[kept:]
        if not kept:
            self._last, self._last_bytes, self._last_start, self._used = memoryview(bytearray()), 0, 0, 0
            return
        self._copy_last_block(size - self._starts[-1])

    def copy(self) -> MemoryFile:
        """Return an independent file with the same content; full blocks are shared, the last one is copied."""
        other = MemoryFile()
        other._blocks = list(self._blocks)
        other._readable = list(self._readable)
        other._starts = list(self._starts)
        if self._blocks:
            other._copy_last_block(self._used)
        return other

    def _copy_last_block(self, used: int) -> None:
        """Replace the last block by a copy of its first used bytes."""
        before = self._blocks[-1]
        self._last = _new_block(len(before))
        self._last[:used] = before[:used]
        self._last_bytes = len(before)
        self._last_start = self._starts[-1]
        self._used = used
        self._blocks[-1] = self._last
        self._readable[-1] = self._last.toreadonly()

    def begin_sync(self, *, is_written_again: bool = False) -> Callable[[], None]:
        """Return a step that does nothing."""
        return do_nothing

    def close(self) -> None:
        """Do nothing."""


def do_nothing() -> None:
    """Do nothing, as the sync step of files without unsynced data."""


def _new_block(size: int) -> memoryview:
    if size < _MAPPED_BYTES_MIN or sys.platform == "win32":
        return memoryview(bytearray(size))
    populate = _POPULATE if size == _BLOCK_BYTES_MAX else 0
    block = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | populate)
    return memoryview(block)


def _drop_unused_pages(block: memoryview, used: int) -> None:
    """Return the pages after the first used bytes to the system, if the block is a mapping."""
    if sys.platform == "win32":
        return
    mapping = block.obj
    start = -(-used // mmap.PAGESIZE) * mmap.PAGESIZE
    if isinstance(mapping, mmap.mmap) and _DROP_PAGES is not None and start < len(block):
        mapping.madvise(_DROP_PAGES, start, len(block) - start)
