"""Files of a log by position, on this machine or in an object store: what the readers of segment files need of a store.

A path of a store is a string with / between its folders: of this machine an absolute path, of an object store a URI
without parameters. Every store raises OSError with errno, strerror (one line) and filename, FileNotFoundError for a
missing file.
"""

from __future__ import annotations

import glob
import mmap
import os
import sys
from errno import EACCES
from types import TracebackType
from typing import NamedTuple, Protocol, Self

from ..decode.batch_search import find_next_batch

# Without the flag, Windows translates line ends.
_READ_BINARY = os.O_RDONLY | getattr(os, "O_BINARY", 0)


class FileEntry(NamedTuple):
    """A listed file. size: in bytes. modified_ms: milliseconds since the epoch."""

    size: int
    modified_ms: float


class OpenFile(Protocol):
    """An open file; a context manager that closes it. size: in bytes, when it was opened."""

    size: int

    def __enter__(self) -> Self:
        """Return the file."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the file."""
        ...

    def read_at(self, position: int, size: int) -> bytes:
        """Return size bytes from position on, fewer at the end of the file."""
        ...

    def read_ahead_at(self, position: int, size: int) -> bytes:
        """Return the same as read_at, for a caller that reads on from there."""
        ...

    def find_batch(self, position: int, base_offset_min: int) -> int | None:
        """Return the position of the next batch with a right CRC, as find_next_batch does."""
        ...


class Listing(Protocol):
    """The files and folders at a path. An object store has listed them before, all at once."""

    @property
    def is_complete(self) -> bool:
        """Whether a name that is not listed does not exist, so that no request looks for it."""
        ...

    def roots(self) -> list[str]:
        """Return the existing paths that the listed path or pattern stands for."""
        ...

    def is_file(self, path: str) -> bool:
        """Whether there is a file at path."""
        ...

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder, in order."""
        ...

    def find_file(self, path: str) -> FileEntry | None:
        """Return a file; None if it was deleted after its name was listed. Raises PermissionError."""
        ...


class LocalFile:
    """An open file of this machine."""

    def __init__(self, path: str) -> None:
        """Open the file."""
        self._descriptor = os.open(path, _READ_BINARY)
        self.size = os.fstat(self._descriptor).st_size

    def __enter__(self) -> Self:
        """Return the file."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def read_at(self, position: int, size: int) -> bytes:
        """Return the bytes."""
        if sys.platform == "win32":
            os.lseek(self._descriptor, position, os.SEEK_SET)
            return os.read(self._descriptor, size)
        return os.pread(self._descriptor, size, position)

    # The system reads ahead.
    read_ahead_at = read_at

    def find_batch(self, position: int, base_offset_min: int) -> int | None:
        """Return the position of the next batch."""
        with mmap.mmap(self._descriptor, 0, access=mmap.ACCESS_READ) as mapped, memoryview(mapped) as data:
            return find_next_batch(data, position, len(data), base_offset_min=base_offset_min)


class LocalListing:
    """Files of this machine, looked up one by one."""

    is_complete = False

    def __init__(self, path: str) -> None:
        """path: may be a shell pattern."""
        self._path = path

    def roots(self) -> list[str]:
        """Return absolute paths, because the name of the folder is needed even if it is given as "."."""
        matches = [self._path] if os.path.exists(self._path) else sorted(glob.glob(self._path))
        return [os.path.abspath(match) for match in matches]

    def is_file(self, path: str) -> bool:
        """Whether there is a file at path."""
        return os.path.isfile(path)

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder; none if it is a file."""
        try:
            return sorted(os.listdir(folder))
        except NotADirectoryError:
            return []

    def find_file(self, path: str) -> FileEntry | None:
        """Return a file, which this process can read."""
        try:
            found = os.stat(path)
        except FileNotFoundError:
            return None
        # Checked here, so that the error comes before the job starts and is one line.
        if not os.access(path, os.R_OK):
            raise PermissionError(EACCES, os.strerror(EACCES), path)
        return FileEntry(found.st_size, found.st_mtime * 1000)


class LocalFiles(NamedTuple):
    """The files of this machine. threads: for planning. ahead: the ranges of a file that a task requests ahead."""

    threads: int = 1
    ahead: int = 0

    def list_files(self, path: str) -> Listing:
        """Return the files at a path. Reads no folder yet."""
        return LocalListing(path)

    def open(self, path: str) -> OpenFile:
        """Open a file."""
        return LocalFile(path)

    def read(self, path: str) -> bytes:
        """Return the content of a file."""
        with open(path, "rb") as file:
            return file.read()

    def write(self, path: str, content: bytes) -> None:
        """Write a file."""
        with open(path, "wb") as file:
            file.write(content)

    def real_path(self, path: str) -> str:
        """Return the path without symbolic links."""
        return os.path.realpath(path)


LOCAL_FILES = LocalFiles()
