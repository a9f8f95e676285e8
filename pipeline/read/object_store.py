"""Files of an object store or of Hadoop's file system, by pyarrow.

- One listing of all files below a path, instead of a request for each folder.
- A file is opened by one request and read by one for each range. Reading ahead takes bounded ranges.
- A request that fails for a moment is sent again (store_attempts.py).
- Every failure of a store is an OSError with one line.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from errno import EACCES, EIO, ENOENT
from fnmatch import fnmatchcase
from glob import has_magic
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self, TypeVar, cast

from ...storage.log_files import LOG_SUFFIX, base_offset_of
from ..decode.batch_search import find_next_batch_in
from .file_store import FileEntry, OpenFile
from .store_address import OpenStore, StoreAddress, open_store
from .store_attempts import ATTEMPTS_DEFAULT, UNANSWERED_ATTEMPTS_MAX, StoreFailure, attempted, passing_failure

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer
    from pyarrow import Buffer

# The first range of a walk, which is mostly a few batches behind the last entry of an index; and the greatest, which
# takes a fraction of a second.
READ_AHEAD_BYTES_FIRST = 256 * 1024
READ_AHEAD_BYTES_MAX = 8 * 1024 * 1024

# Requests at a time while a job is planned. Each waits tens of milliseconds for the network.
_THREADS = 16
# Ranges of a file that a task has in memory or requests beside the one that it decodes.
_AHEAD = 3

_AWS_ERROR = re.compile(
    r"AWS Error (?P<code>\w+)(?: \(HTTP status (?P<status>\d+)\))? during \w+ operation: (?P<text>.*)"
)
_DETAILS = re.compile(r".*Details: ")
_REQUEST_ID = re.compile(r" ?\(Request ID: .*?\)")
# A status with which a store says that the same request may succeed later.
_PASSING_STATUSES = frozenset({"408", "429", "500", "502", "503", "504"})
# Failures without a status that come from the connection, or from a response that does not fit the wanted range.
_NETWORK_CONNECTION = "NETWORK_CONNECTION"
_PASSING_CODES = frozenset({_NETWORK_CONNECTION, "INTERNAL_FAILURE", "SERVICE_UNAVAILABLE", "SLOW_DOWN", "UNKNOWN"})
# After a failure a shorter range is read as one of this size: pyarrow loses the text of an error longer than the range.
_RANGE_BYTES_MIN = 2048
_DENIED = frozenset({"ACCESS_DENIED", "INVALID_ACCESS_KEY_ID", "SIGNATURE_DOES_NOT_MATCH", "INVALID_SIGNATURE"})
_ABSENT = frozenset({"NO_SUCH_BUCKET", "NO_SUCH_KEY"})
# Denied access in the text of any other store than Amazon's: a code of Google's, or a status that is a word of its own.
_DENIED_TEXT = re.compile(r"PERMISSION_DENIED|UNAUTHENTICATED|AccessControlException|(?<!\S)40[13](?!\S)")


class _RandomAccess(Protocol):
    """What is used of a file of pyarrow, whose stubs lack the parameters of read_at."""

    def size(self) -> int: ...
    def read_at(self, nbytes: int, offset: int) -> bytes: ...
    def close(self) -> None: ...


Result = TypeVar("Result")


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
    if isinstance(error, StoreFailure):
        return error
    text = (str(error).splitlines() or [type(error).__name__])[0]
    found = _AWS_ERROR.search(text)
    if found is None:
        if isinstance(error, PermissionError) or _DENIED_TEXT.search(text):
            return StoreFailure(EACCES, text, uri)
        is_passing = isinstance(error, OSError)
        return passing_failure(text, uri, has_response=False) if is_passing else StoreFailure(EIO, text, uri)
    code, status = found["code"], found["status"]
    reason = _DETAILS.sub("", _REQUEST_ID.sub("", found["text"])).rstrip(" .")
    reason = f"{reason} ({code if status is None else f'HTTP status {status}'})"
    if code in _ABSENT:
        return FileNotFoundError(ENOENT, reason, uri)
    if code in _DENIED or status == "403":
        return StoreFailure(EACCES, reason, uri)
    is_passing = code in _PASSING_CODES if status is None else status in _PASSING_STATUSES
    if not is_passing:
        return StoreFailure(EIO, reason, uri)
    return passing_failure(reason, uri, has_response=code != _NETWORK_CONNECTION)


class StoredFile:
    """An open file of a store."""

    def __init__(self, file: _RandomAccess, uri: str, attempts_max: int) -> None:
        """file: open for reading. attempts_max: of each request."""
        self._file = file
        self._uri = uri
        self._attempts_max = attempts_max
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
        return attempted(_Ranges(self, position, size).read, self._attempts_max)

    def read_range(self, start: int, end: int) -> bytes:
        """Return the bytes from start to end, by one attempt of one request. Raises OSError."""
        with store_errors(self._uri):
            content = self._file.read_at(end - start, start)
        if len(content) < end - start:
            reason = f"the store sent {len(content)} of {end - start} bytes"
            raise passing_failure(reason, self._uri, has_response=True)
        return content

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


class _Ranges:
    """The ranges of a file that are asked for until one is read: the wanted one, and after a failure a longer one."""

    def __init__(self, file: StoredFile, position: int, size: int) -> None:
        self._file = file
        self._position, self._size = position, size
        self._start, self._end = position, position + size

    def read(self) -> bytes:
        """Return the wanted bytes, by one attempt. Raises OSError."""
        start = self._start
        try:
            content = self._file.read_range(start, self._end)
        except OSError:
            if self._size < _RANGE_BYTES_MIN:
                self._end = min(self._position + _RANGE_BYTES_MIN, self._file.size)
                self._start = max(self._end - _RANGE_BYTES_MIN, 0)
            raise
        return content[self._position - start :][: self._size]


class StoredStream(io.RawIOBase):
    """An open file of a store as a stream of Python, for readers that take one."""

    def __init__(self, file: OpenFile) -> None:
        """file: is closed with the stream."""
        super().__init__()
        self._file = file
        self._position = 0

    def readable(self) -> bool:
        """Whether the stream can be read."""
        return True

    def seekable(self) -> bool:
        """Whether the stream has positions."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to a position, and return it."""
        self._position = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._file.size}[whence]
        return self._position

    def tell(self) -> int:
        """Return the position."""
        return self._position

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Read into a buffer as much as there is, by one request. Returns the number of bytes."""
        room = memoryview(buffer)
        content = self._file.read_at(self._position, len(room))
        room[: len(content)] = content
        self._position += len(content)
        return len(content)

    def close(self) -> None:
        """Close the file."""
        if not self.closed:
            self._file.__exit__(None, None, None)
        super().close()


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
    """The files of an object store. threads, ahead: as in LocalFiles. attempts_max: of each request."""

    address: StoreAddress
    threads: int = _THREADS
    ahead: int = _AHEAD
    attempts_max: int = ATTEMPTS_DEFAULT

    def list_files(self, path: str) -> StoreListing:
        """List all files below a path at once."""
        folder = _listed_folder(path)
        return StoreListing(path, self._attempted(self._list, folder, unanswered_max=UNANSWERED_ATTEMPTS_MAX))

    def _list(self, store: OpenStore, folder: str) -> list[tuple[str, FileEntry]]:
        from pyarrow.fs import FileSelector, FileType

        key = store.key_of(folder)
        try:
            found = store.file_system.get_file_info(FileSelector(key, recursive=True))
        except FileNotFoundError:
            # Unlike a missing bucket, which is another error. A path other than a log's can be a file.
            found = [store.file_system.get_file_info(key)]
        return [
            (store.uri_of(file.path), FileEntry(file.size or 0, 0.0 if file.mtime_ns is None else file.mtime_ns / 1e6))
            for file in found
            if file.type == FileType.File
        ]

    def open(self, path: str) -> OpenFile:
        """Open a file."""
        return self._attempted(self._open, path)

    def _open(self, store: OpenStore, path: str) -> StoredFile:
        file = cast(_RandomAccess, store.file_system.open_input_file(store.key_of(path)))
        return StoredFile(file, path, self.attempts_max)

    def read(self, path: str) -> bytes:
        """Return the content of a file."""
        with self.open(path) as file:
            return file.read_at(0, file.size)

    def real_path(self, path: str) -> str:
        """Return the path, because a store has no links."""
        return path

    def open_stream(self, path: str) -> StoredStream:
        """Open a file as a stream of Python, for readers that take one. It raises the errors of this store."""
        return StoredStream(self.open(path))

    def write(self, path: str, content: bytes | Buffer) -> None:
        """Write a file, which appears whole."""
        self._attempted(lambda store, _: _write(store, path, content), path)

    def upload(self, file: str, path: str) -> None:
        """Write a file of this machine, which appears whole."""
        # Imported here for the reason of open_store.
        from pyarrow import memory_map

        with memory_map(file) as mapped:
            self.write(path, mapped.read_buffer())

    def delete(self, path: str) -> None:
        """Delete a file."""
        self._attempted(lambda store, _: store.file_system.delete_file(store.key_of(path)), path)

    def _attempted(
        self, call: Callable[[OpenStore, str], Result], path: str, *, unanswered_max: int | None = None
    ) -> Result:
        """Return what a call returns for the store and a path. Raises OSError."""

        def once() -> Result:
            with store_errors(path):
                return call(open_store(self.address), path)

        return attempted(once, self.attempts_max, unanswered_max=unanswered_max)


def _write(store: OpenStore, path: str, content: bytes | Buffer) -> None:
    with store.file_system.open_output_stream(store.key_of(path), compression=None) as stream:
        stream.write(content)
