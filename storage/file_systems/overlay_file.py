"""A file that cannot be written to, and what was appended to it elsewhere."""

from __future__ import annotations

from collections.abc import Callable

from .file_system import File, FileSystem


class OverlayFile:
    """The first bytes of a lower file, and behind them what was appended: a file of the upper system.

    Nothing is copied. Cutting the lower part only remembers how much of it is left.
    """

    __slots__ = ("_lower", "_lower_size", "_path", "_tail", "_upper")

    def __init__(self, lower: File, upper: FileSystem, path: str) -> None:
        """Hold all of lower, and nothing yet of the upper file at path."""
        self._lower = lower
        self._lower_size = lower.size
        self._upper = upper
        self._path = path
        self._tail: File | None = None

    @property
    def size(self) -> int:
        """See File."""
        return self._lower_size + (self._tail.size if self._tail is not None else 0)

    def append(self, head: bytes, body: memoryview | bytes) -> int:
        """See File."""
        return self._lower_size + self._opened_tail().append(head, body)

    def read(self, position: int, size: int) -> memoryview:
        """See File."""
        if position + size <= self._lower_size:
            return self._lower.read(position, size)
        if position >= self._lower_size:
            return self._opened_tail().read(position - self._lower_size, size)
        return memoryview(b"".join(self.views(position, size)))

    def views(self, position: int, size: int) -> list[memoryview]:
        """See File."""
        assert position >= 0 and position + size <= self.size, f"{size} bytes at {position} of {self.size}"
        lower_size = min(max(self._lower_size - position, 0), size)
        pieces = self._lower.views(position, lower_size) if lower_size else []
        if lower_size < size:
            pieces += self._opened_tail().views(position + lower_size - self._lower_size, size - lower_size)
        return pieces

    def preallocate(self, size: int) -> None:
        """See File."""
        if size > self._lower_size:
            self._opened_tail().preallocate(size - self._lower_size)

    def truncate(self, size: int) -> None:
        """See File."""
        assert 0 <= size <= self.size, f"cut to {size} of {self.size}"
        if self._tail is not None:
            self._tail.truncate(max(size - self._lower_size, 0))
        self._lower_size = min(size, self._lower_size)

    def begin_sync(self, *, is_written_again: bool = False) -> Callable[[], None]:
        """See File; the lower part is not ours to sync."""
        return _do_nothing if self._tail is None else self._tail.begin_sync(is_written_again=is_written_again)

    def close(self) -> None:
        """See File."""
        self._lower.close()
        if self._tail is not None:
            self._tail.close()

    def moved(self, path: str) -> None:
        """Learn where the upper file is now, or will be."""
        self._path = path

    def _opened_tail(self) -> File:
        if self._tail is None:
            self._tail = self._upper.open(self._path)
        return self._tail


def _do_nothing() -> None:
    """Be the step of a sync where nothing was written."""
