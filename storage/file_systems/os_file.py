"""A file on disk: written at its logical end, read in pieces of limited size, never memory-mapped.

On disk it may be longer than its size, by preallocated space or the torn tail of a failed write. The tail is truncated
at once or, if that fails too, before the next write.

Windows has neither data folders nor reads and writes at a position: see broker/lifecycle/folder_lock.py.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from errno import EIO, ENOENT
from functools import partial
from typing import TYPE_CHECKING

from .open_descriptors import Descriptor, OpenDescriptors
from .own_folder import check_identity, identity_of

if TYPE_CHECKING:
    from .file_system import File

# The size of one read: large enough to make calls cheap, and no larger than a block of a memory file.
_READ_BYTES_MAX = 1024 * 1024

NO_FILES = "Windows has no data folders"

# Syncs data and size without timestamps, if the system has such a call.
_sync_data: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)


class OsFile:
    """A file on disk, opened when it is used and closed when the cache needs the descriptor."""

    __slots__ = ("__weakref__", "_descriptors", "_identity", "_is_torn", "_key", "_path", "_physical_size", "_size")

    def __init__(self, path: str, size: int, descriptors: OpenDescriptors, identity: int) -> None:
        """path: an existing file of size bytes and with this identity; see own_folder."""
        self._path: str | None = path
        self._identity = identity
        self._size = size
        self._physical_size = size
        self._is_torn = False
        self._descriptors = descriptors
        # Not the file itself as key: the reference from the cache would keep it alive.
        self._key = object()

    @classmethod
    def create(cls, path: str, descriptors: OpenDescriptors) -> OsFile:
        """Create an empty file at path, at which nothing may be, not even a link; raises OSError."""
        file = cls(path, 0, descriptors, 0)
        descriptor = descriptors.open(file._key, path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        file._identity = identity_of(os.fstat(descriptor.number))
        return file

    @property
    def size(self) -> int:
        """The bytes in the file."""
        return self._size

    def append(self, head: bytes, body: memoryview | bytes) -> int:
        """Write head and body to the end, and return the position of head."""
        assert sys.platform != "win32", NO_FILES
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
                self._truncate_torn_tail(descriptor)
            raise
        self._size = end
        if end > self._physical_size:
            self._physical_size = end
        return position

    def _open_for_writing(self) -> Descriptor:
        """Return a writable descriptor, after truncating a torn tail."""
        descriptor = self._descriptors.find(self._key)
        if descriptor is None or not descriptor.is_writable:
            descriptor = self._open(os.O_RDWR)
        if self._is_torn:
            self._truncate_torn_tail(descriptor)
        return descriptor

    def _truncate_torn_tail(self, descriptor: Descriptor) -> None:
        """Remove the bytes of a failed write, and restore preallocated space as zeros."""
        preallocated_size = self._physical_size
        os.ftruncate(descriptor.number, self._size)
        self._physical_size = self._size
        self._is_torn = False
        if preallocated_size > self._size:
            os.ftruncate(descriptor.number, preallocated_size)
            self._physical_size = preallocated_size

    def append_shared(self, source: File, size: int) -> bool:
        """Return False: nothing is shared."""
        return False

    def read(self, position: int, size: int) -> memoryview:
        """Return size bytes from position as one view."""
        assert sys.platform != "win32", NO_FILES
        assert position >= 0 and position + size <= self._size, f"{size} bytes at {position} of {self._size}"
        descriptor = self._descriptors.find(self._key) or self._open_for_reading()
        data = os.pread(descriptor.number, size, position)
        return memoryview(data if len(data) == size else _read_rest(descriptor, data, position, size))

    def views(self, position: int, size: int) -> list[memoryview]:
        """Return size bytes from position as views of at most 1 MiB."""
        end = position + size
        return [self.read(start, min(end - start, _READ_BYTES_MAX)) for start in range(position, end, _READ_BYTES_MAX)]

    def _open_for_reading(self) -> Descriptor:
        return self._open(os.O_RDONLY)

    def _open(self, flags: int) -> Descriptor:
        """Open the file again; raises OSError: ESTALE if another file is at its path."""
        path = self._require_path()
        descriptor = self._descriptors.open(self._key, path, flags)
        try:
            check_identity(path, descriptor.number, self._identity)
        except OSError:
            self.close()
            raise
        return descriptor

    def preallocate(self, size: int) -> None:
        """Extend the file on disk to at least size bytes."""
        if size > self._physical_size:
            os.ftruncate(self._open_for_writing().number, size)
            self._physical_size = size

    def truncate(self, size: int) -> None:
        """Truncate the file to size bytes."""
        assert 0 <= size <= self._size, f"truncate to {size} of {self._size} bytes"
        if size == self._physical_size and not self._is_torn:
            return
        os.ftruncate(self._open_for_writing().number, size)
        self._size = self._physical_size = size

    def begin_sync(self, *, is_written_again: bool = False) -> Callable[[], None]:
        """Return a sync step that keeps its descriptor open; raises FileNotFoundError if the file was deleted."""
        if is_written_again:
            return partial(_write_again_and_sync, self._open_for_writing(), self._size)
        return partial(_sync, self._descriptors.find(self._key) or self._open_for_reading())

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        self._descriptors.close(self._key)

    def set_path(self, path: str) -> None:
        """Set the path after a rename; an open descriptor stays open."""
        self._path = path

    def detach(self) -> None:
        """Close the file after its deletion or replacement; later uses raise FileNotFoundError."""
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
        data = _read_rest(descriptor, b"", position, piece)
        _write_all(descriptor, memoryview(data), position)
    _sync(descriptor)


def _write_all(descriptor: Descriptor, data: memoryview, position: int) -> None:
    """Write all data at position, in several calls if necessary; raises OSError."""
    assert sys.platform != "win32", NO_FILES
    while len(data):
        size = os.pwrite(descriptor.number, data, position)
        if not size:
            raise OSError(EIO, f"{len(data)} bytes at {position} were not written")
        data = data[size:]
        position += size


def _read_rest(descriptor: Descriptor, data: bytes, position: int, size: int) -> bytes:
    """Return size bytes from position, of which data are the first; one call returns at most 2 GB."""
    assert sys.platform != "win32", NO_FILES
    pieces = [data]
    missing = size - len(data)
    while missing:
        piece = os.pread(descriptor.number, missing, position + size - missing)
        if not piece:
            raise OSError(EIO, f"{missing} of {size} bytes at {position} are missing at the end of the file")
        pieces.append(piece)
        missing -= len(piece)
    return b"".join(pieces)
