"""Files of an object store or of Hadoop's file system, by pyarrow.

- One listing of all files below a path, instead of a request for each folder.
- A file is opened by one request and read by one for each range. Reading ahead takes bounded ranges.
- Every failure of a store is an OSError with one line.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from errno import EACCES, EIO, ENOENT
from fnmatch import fnmatchcase
from glob import has_magic
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self, cast

from ...storage.log_files import LOG_SUFFIX, base_offset_of
from ..decode.batch_search import find_next_batch_in
from .file_store import FileEntry, OpenFile
from .store_address import StoreAddress, open_store

if TYPE_CHECKING:
    from pyarrow import Buffer, NativeFile

# The first range of a walk, which is mostly a few batches behind the last entry of an index; and the greatest, which
# takes a fraction of a second.
READ_AHEAD_BYTES_FIRST = 256 * 1024
READ_AHEAD_BYTES_MAX = 8 * 1024 * 1024

# Requests at a time while a job is planned. Each waits tens of milliseconds for the network.
_THREADS = 16

_AWS_ERROR = re.compile(
    r"AWS Error (?P<code>\w+)(?: \(HTTP status (?P<status>\d+)\))? during \w+ operation: (?P<text>.*)"
)
_DETAILS = re.compile(r".*Details: ")
_REQUEST_ID = re.compile(r" ?\(Request ID: .*?\)")
_DENIED = frozenset({"ACCESS_DENIED", "INVALID_ACCESS_KEY_ID", "SIGNATURE_DOES_NOT_MATCH", "INVALID_SIGNATURE"})
_ABSENT = frozenset({"NO_SUCH_BUCKET", "NO_SUCH_KEY"})


class _RandomAccess(Protocol):
    """What is used of a file of pyarrow, whose stubs lack the parameters of read_at."""

    def size(self) -> int: ...
    def read_at(self, nbytes: int, offset: int) -> bytes: ...
    def close(self) -> None: ...


@contextmanager
def store_errors(uri: str) -> Generator[None, None, None]:
    """Raise a failure of pyarrow within the block as an OSError with errno, one line and the URI."""
    try:
        yield
    except (OSError, ValueError, NotImplementedError) as error:
        raise _one_line_error(error, uri) from error


def _one_line_error(error: Exception, uri: str) -> OSError:
    if isinstance(error, FileNotFoundError):
        return FileNotFoundError(ENOENT, os.strerror(ENOENT), uri)
    text = (str(error).splitlines() or [type(error).__name__])[0]
    found = _AWS_ERROR.search(text)
    if found is None:
        return OSError(EIO, text, uri)
    code, status = found["code"], found["status"]
    reason = _DETAILS.sub("", _REQUEST_ID.sub("", found["text"])).rstrip(" .")
    reason = f"{reason} ({code if status is None else f'HTTP status {status}'})"
    if code in _ABSENT:
        return FileNotFoundError(ENOENT, reason, uri)
    return OSError(EACCES if code in _DENIED or status == "403" else EIO, reason, uri)


class StoredFile:
    """An open file of a store."""

    def __init__(self, file: _RandomAccess, uri: str) -> None:
        """file: open for reading."""
        self._file = file
        self._uri = uri
        # Known since the file was opened.
        self.size = file.size()
        self._ahead = b""
        self._ahead_position = 0
        self._ahead_bytes = READ_AHEAD_BYTES_FIRST

    def __enter__(self) -> Self:
        """Return the file."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the file."""
        self._file.close()

    def read_at(self, position: int, size: int) -> bytes:
        """Return the bytes, by one request."""
        size = min(size, self.size - position)
        if size <= 0:
            return b""
        with store_errors(self._uri):
            return self._file.read_at(size, position)

    def read_ahead_at(self, position: int, size: int) -> bytes:
        """Return the bytes, mostly those of an earlier request. Each request reads twice as much as the last."""
        start = position - self._ahead_position
        if not 0 <= start <= len(self._ahead) - size:
            self._ahead = self.read_at(position, max(size, self._ahead_bytes))
            self._ahead_position, start = position, 0
            self._ahead_bytes = min(2 * self._ahead_bytes, READ_AHEAD_BYTES_MAX)
        return self._ahead[start : start + size]

    def find_batch(self, position: int, base_offset_min: int) -> int | None:
        """Return the position of the next batch."""
        return find_next_batch_in(self.read_at, position, self.size, base_offset_min=base_offset_min)


class StoreListing:
    """The files below a path of a store, as one listing returned them."""

    is_complete = True

    def __init__(self, path: str, files: Iterable[tuple[str, FileEntry]]) -> None:
        """path: a URI, whose last parts may be a shell pattern. files: URIs and entries."""
        self._path = path
        self._files: dict[str, FileEntry] = dict(files)
        self._names: dict[str, set[str]] = {}
        for file in self._files:
            folder, name = os.path.split(file)
            while name not in self._names.setdefault(folder, set()):
                self._names[folder].add(name)
                if len(folder) <= len(_listed_folder(path)):
                    break
                folder, name = os.path.split(folder)

    def roots(self) -> list[str]:
        """Return the matching files and folders."""
        if not has_magic(self._path):
            return [self._path] if self._path in self._files or self._path in self._names else []
        depth = self._path.count("/")
        places = {"/".join(file.split("/")[: depth + 1]) for file in self._files if file.count("/") >= depth}
        patterns = self._path.split("/")
        return sorted(place for place in places if all(map(fnmatchcase, place.split("/"), patterns)))

    def is_file(self, path: str) -> bool:
        """Whether there is a file at path."""
        return path in self._files

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder."""
        return sorted(self._names.get(folder, ()))

    def find_file(self, path: str) -> FileEntry | None:
        """Return a file."""
        return self._files.get(path)

    def files_below_roots(self) -> dict[str, FileEntry]:
        """Return the files at and below the existing paths."""
        roots = self.roots()
        found = ((path, file) for path, file in self._files.items())
        return {path: file for path, file in found if any(path == one or path.startswith(f"{one}/") for one in roots)}


def _listed_folder(path: str) -> str:
    """Return the folder to list for a path: that of a segment file, or the one in front of the first pattern."""
    if base_offset_of(os.path.basename(path), LOG_SUFFIX) is not None:
        # With the indexes beside the file.
        path = os.path.dirname(path)
    while has_magic(path):
        path = os.path.dirname(path)
    return path


class ArrowFiles(NamedTuple):
    """The files of an object store."""

    address: StoreAddress
    threads: int = _THREADS

    def list_files(self, path: str) -> StoreListing:
        """List all files below a path at once."""
        return StoreListing(path, self._list(_listed_folder(path)))

    def _list(self, folder: str) -> Generator[tuple[str, FileEntry], None, None]:
        from pyarrow.fs import FileSelector, FileType

        with store_errors(folder):
            store = open_store(self.address)
            key = store.key_of(folder)
            try:
                found = store.file_system.get_file_info(FileSelector(key, recursive=True))
            except FileNotFoundError:
                # Unlike a missing bucket, which is another error. A path other than a log's can be a file.
                found = [store.file_system.get_file_info(key)]
        for file in found:
            if file.type == FileType.File:
                modified_ms = 0.0 if file.mtime_ns is None else file.mtime_ns / 1e6
                yield store.uri_of(file.path), FileEntry(file.size or 0, modified_ms)

    def open(self, path: str) -> OpenFile:
        """Open a file."""
        with store_errors(path):
            return StoredFile(cast(_RandomAccess, self.open_arrow(path)), path)

    def read(self, path: str) -> bytes:
        """Return the content of a file."""
        with self.open(path) as file:
            return file.read_at(0, file.size)

    def real_path(self, path: str) -> str:
        """Return the path, because a store has no links."""
        return path

    def open_arrow(self, path: str) -> NativeFile:
        """Open a file as pyarrow reads it. Its errors are pyarrow's."""
        store = open_store(self.address)
        return store.file_system.open_input_file(store.key_of(path))

    def open_text(self, path: str) -> NativeFile:
        """Open a file from its beginning, decompressed if its name says so. Its errors are pyarrow's."""
        store = open_store(self.address)
        return store.file_system.open_input_stream(store.key_of(path))

    def write(self, path: str, content: bytes | Buffer) -> None:
        """Write a file, which appears whole."""
        with store_errors(path):
            store = open_store(self.address)
            with store.file_system.open_output_stream(store.key_of(path), compression=None) as stream:
                stream.write(content)

    def upload(self, file: str, path: str) -> None:
        """Write a file of this machine, which appears whole."""
        # Imported here for the reason of open_store.
        from pyarrow import memory_map

        with memory_map(file) as mapped:
            self.write(path, mapped.read_buffer())

    def delete(self, path: str) -> None:
        """Delete a file."""
        with store_errors(path):
            store = open_store(self.address)
            store.file_system.delete_file(store.key_of(path))
