"""One file of the operating system: written at its logical end, read in pieces of bounded size, never mapped."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from errno import EIO, ENOENT
from functools import partial

from .open_descriptors import Descriptor, OpenDescriptors

# What is read at a time: large enough that the calls do not count, small enough that no fetch needs more memory in
# one piece than the blocks of a file in memory have.
_READ_BYTES_MAX = 1024 * 1024

# Sizes and data, not the times of the file; where the system has no such call, everything.
_sync_data: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)


class OsFile:
    """A file whose size is known without asking, opened when it is used and closed when others need the descriptor.

    On disk it may be larger than it is: by room that was preallocated, or by the torn tail of a write that failed,
    which is cut at once or, if that fails too, before the next write.
    """

    __slots__ = ("__weakref__", "_descriptors", "_is_torn", "_key", "_path", "_physical_size", "_size")

    def __init__(self, path: str, size: int, descriptors: OpenDescriptors) -> None:
        """Stand for the file at path, which is there with size bytes.

        descriptors: where it is kept open.
        """
        self._path: str | None = path
        self._size = size
        self._physical_size = size
        self._is_torn = False
        self._descriptors = descriptors
        # Not the file itself: with the descriptors it would be a circle, and nobody would close what is left open.
        self._key = object()

    @classmethod
    def create(cls, path: str, descriptors: OpenDescriptors) -> OsFile:
        """Make an empty file at path, where none is, and return it; raises OSError."""
        file = cls(path, 0, descriptors)
        descriptors.open(file._key, path, os.O_RDWR | os.O_CREAT)
        return file

    @property
    def size(self) -> int:
        """See File."""
        return self._size

    def append(self, head: bytes, body: memoryview | bytes) -> int:
        """See File."""
        position = self._size
        end = position + len(head) + len(body)
        descriptor = self._descriptors.find(self._key)
        if descriptor is None or not descriptor.is_writable or self._is_torn:
            descriptor = self._open_for_writing()
        try:
            written_end = position + os.pwritev(descriptor.number, (head, body), position)
            if written_end < end:
                _write_all(descriptor, memoryview(b"".join((head, body)))[written_end - position :], written_end)
        except BaseException:
            self._is_torn = True
            with suppress(OSError):
                self._cut_torn_tail(descriptor)
            raise
        self._size = end
        if end > self._physical_size:
            self._physical_size = end
        return position

    def _open_for_writing(self) -> Descriptor:
        """Return a descriptor that can be written to, of a file without a torn tail."""
        descriptor = self._descriptors.find(self._key)
        if descriptor is None or not descriptor.is_writable:
            descriptor = self._descriptors.open(self._key, self._require_path(), os.O_RDWR)
        if self._is_torn:
            self._cut_torn_tail(descriptor)
        return descriptor

    def _cut_torn_tail(self, descriptor: Descriptor) -> None:
        """Take away what a failed write has left, and give the room that was preallocated back as zeros."""
        room = self._physical_size
        os.ftruncate(descriptor.number, self._size)
        self._physical_size = self._size
        self._is_torn = False
        if room > self._size:
            os.ftruncate(descriptor.number, room)
            self._physical_size = room

    def read(self, position: int, size: int) -> memoryview:
        """See File."""
        assert position >= 0 and position + size <= self._size, f"{size} bytes at {position} of {self._size}"
        descriptor = self._descriptors.find(self._key) or self._open_for_reading()
        data = os.pread(descriptor.number, size, position)
        return memoryview(data if len(data) == size else _read_on(descriptor, data, position, size))

    def views(self, position: int, size: int) -> list[memoryview]:
        """See File: as many pieces as it takes at 1 MiB each."""
        end = position + size
        return [self.read(start, min(end - start, _READ_BYTES_MAX)) for start in range(position, end, _READ_BYTES_MAX)]

    def _open_for_reading(self) -> Descriptor:
        return self._descriptors.open(self._key, self._require_path(), os.O_RDONLY)

    def preallocate(self, size: int) -> None:
        """See File."""
        if size > self._physical_size:
            os.ftruncate(self._open_for_writing().number, size)
            self._physical_size = size

    def truncate(self, size: int) -> None:
        """See File."""
        assert 0 <= size <= self._size, f"cut to {size} of {self._size}"
        if size == self._physical_size and not self._is_torn:
            return
        os.ftruncate(self._open_for_writing().number, size)
        self._size = self._physical_size = size

    def begin_sync(self, *, is_written_again: bool = False) -> Callable[[], None]:
        """See File: the step holds the descriptor, so that nobody closes it before.

        Raises FileNotFoundError if the file was deleted.
        """
        if is_written_again:
            return partial(_write_again_and_sync, self._open_for_writing(), self._size)
        return partial(_sync, self._descriptors.find(self._key) or self._open_for_reading())

    def close(self) -> None:
        """See File."""
        self._descriptors.close(self._key)

    def moved(self, path: str) -> None:
        """Learn that the file has another path now; what is open stays open."""
        self._path = path

    def detached(self) -> None:
        """Learn that the file has no path any more: its room on disk is given back, it cannot be used again."""
        self._path = None
        self.close()

    def _require_path(self) -> str:
        if self._path is None:
            raise FileNotFoundError(ENOENT, "the file was deleted or replaced")
        return self._path


def _sync(descriptor: Descriptor) -> None:
    _sync_data(descriptor.number)


def _write_again_and_sync(descriptor: Descriptor, size: int) -> None:
    for position in range(0, size, _READ_BYTES_MAX):
        piece = min(size - position, _READ_BYTES_MAX)
        data = _read_on(descriptor, os.pread(descriptor.number, piece, position), position, piece)
        _write_all(descriptor, memoryview(data), position)
    _sync(descriptor)


def _write_all(descriptor: Descriptor, data: memoryview, position: int) -> None:
    """Write data at position in as many calls as the system wants; the last of them says why it wants no more."""
    while len(data):
        size = os.pwrite(descriptor.number, data, position)
        if not size:
            raise OSError(EIO, f"{len(data)} bytes at {position} were not written")
        data = data[size:]
        position += size


def _read_on(descriptor: Descriptor, data: bytes, position: int, size: int) -> bytes:
    """Return size bytes from position, of which data are the first; the system gives no more than 2 GB at a time."""
    pieces = [data]
    missing = size - len(data)
    while missing:
        piece = os.pread(descriptor.number, missing, position + size - missing)
        if not piece:
            raise OSError(EIO, f"the file ends {missing} bytes before the {size} at {position} do")
        pieces.append(piece)
        missing -= len(piece)
    return b"".join(pieces)
