"""A file in two parts: the start of a read-only lower file, and appended bytes in an upper file."""

from __future__ import annotations

from collections.abc import Callable

from .file_system import File, FileSystem
from .memory_file import do_nothing


class OverlayFile:
    """The first _lower_size bytes of a lower file, then the bytes of an upper file. Nothing is copied."""

    __slots__ = ("_lower", "_lower_size", "_path", "_tail", "_upper")

    def __init__(self, lower: File, upper: FileSystem, path: str) -> None:
        """Start with all of lower; the first append creates the upper file at path."""
        self._lower = lower
        self._lower_size = lower.size
        self._upper = upper
        self._path = path
        self._tail: File | None = None

    @property
    def size(self) -> int:
        """The bytes in the file."""
        return self._lower_size + (self._tail.size if self._tail is not None else 0)

    def append(self, head: bytes, body: memoryview | bytes) -> int:
        """Write head and body to the end, and return the position of head."""
        return self._lower_size + self._require_tail().append(head, body)

    def append_shared(self, source: File, size: int) -> bool:
        """Return False: nothing is shared."""
        return False

    def read(self, position: int, size: int) -> memoryview:
        """Return size bytes from position as one view."""
        if position + size <= self._lower_size:
            return self._lower.read(position, size)
        if position >= self._lower_size:
            return self._require_tail().read(position - self._lower_size, size)
        return memoryview(b"".join(self.views(position, size)))

    def views(self, position: int, size: int) -> list[memoryview]:
        """Return size bytes from position as views."""
        assert position >= 0 and position + size <= self.size, f"{size} bytes at {position} of {self.size}"
        lower_size = min(max(self._lower_size - position, 0), size)
        pieces = self._lower.views(position, lower_size) if lower_size else []
        if lower_size < size:
            pieces += self._require_tail().views(position + lower_size - self._lower_size, size - lower_size)
        return pieces

    def preallocate(self, size: int) -> None:
        """Extend the file on disk to at least size bytes."""
        if size > self._lower_size:
            self._require_tail().preallocate(size - self._lower_size)

    def truncate(self, size: int) -> None:
        """Truncate the file to size bytes."""
        assert 0 <= size <= self.size, f"truncate to {size} of {self.size} bytes"
        if self._tail is not None:
            self._tail.truncate(max(size - self._lower_size, 0))
        self._lower_size = min(size, self._lower_size)

    def begin_sync(self, *, is_written_again: bool = False) -> Callable[[], None]:
        """Return a step that syncs the upper part."""
        return do_nothing if self._tail is None else self._tail.begin_sync(is_written_again=is_written_again)

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        self._lower.close()
        if self._tail is not None:
            self._tail.close()

    def set_path(self, path: str) -> None:
        """Set the path of the upper file, which need not exist yet."""
        self._path = path

    def _require_tail(self) -> File:
        if self._tail is None:
            self._tail = self._upper.open(self._path)
        return self._tail
