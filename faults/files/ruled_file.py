"""A file of a broker that serves: without rules it is the file behind it, and with them its writes and syncs go wrong.

What was lost is there for all who look, as if the system still had it in memory, and gone when the machine stops. What
a torn write leaves stays at the end of the file until the next write, or for good if the machine stops before.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from .operation_kind import OperationKind, os_error

if TYPE_CHECKING:
    from ...storage.file_systems.file_system import File
    from .file_fault import FileFault
    from .file_faults import FileFaults

# What is remembered of one file's lost writes, those behind one another as one; of more the oldest stay written.
LOST_RANGES_MAX = 1000


class RuledFile:
    """A file of a RuledFileSystem."""

    __slots__ = ("__weakref__", "_faults", "_inner", "_lost", "_path", "_safe_size", "_torn_size", "_unsafe")

    def __init__(self, faults: FileFaults, path: str, inner: File) -> None:
        """Stand for a file; path: by which the rules know it, where it was opened."""
        self._faults = faults
        self._path = path
        self._inner = inner
        # Where what a torn write left begins; None where there is nothing of the kind.
        self._torn_size: int | None = None
        # Writes that were lost, each from one position to another.
        self._lost: tuple[tuple[int, int], ...] = ()
        # What a lost sync was to make safe. _safe_size: what is safe, known only while there are rules.
        self._unsafe: tuple[int, int] | None = None
        self._safe_size: int | None = None

    @property
    def size(self) -> int:
        """See File; what a torn write left does not count."""
        return self._inner.size if self._torn_size is None else self._torn_size

    def append(self, head: bytes, body: memoryview | bytes) -> int:
        """See File."""
        if self._faults.is_armed:
            return self._append_by_rules(head, body)
        return self._inner.append(head, body)

    def _append_by_rules(self, head: bytes, body: memoryview | bytes) -> int:
        faults, inner = self._faults, self._inner
        faults.check_running(self._path)
        self._cut_torn_tail()
        fault = faults.decide(OperationKind.WRITE, self._path)
        position = inner.size
        if self._safe_size is None:
            self._safe_size = position
            faults.watch(self)
        if fault is None:
            return inner.append(head, body)
        faults.begin(fault, self._path)
        if fault.action == "tear":
            whole = head + bytes(body)
            inner.append(whole[: min(fault.byte_count, len(whole) - 1)], b"")
            self._torn_size = position
            faults.mark(self)
            faults.tear(fault, self._path)
        elif fault.action == "lose":
            inner.append(head, body)
            self._lose(position, inner.size)
        elif fault.action == "corrupt":
            inner.append(corrupted(head + bytes(body), fault.byte_count), b"")
        else:
            inner.append(head, body)
        return position

    def _cut_torn_tail(self) -> None:
        """Take away what a torn write left, so that the next one stands right behind what was written whole."""
        if self._torn_size is not None:
            self._inner.truncate(self._torn_size)
            self._torn_size = None
            self._unmark_if_whole()

    def _lose(self, position: int, end: int) -> None:
        before = self._lost
        if before and before[-1][1] == position:
            position, before = before[-1][0], before[:-1]
        self._lost = (*before[-LOST_RANGES_MAX + 1 :], (position, end))
        self._faults.mark(self)

    def _unmark_if_whole(self) -> None:
        if self._torn_size is None and not self._lost and self._unsafe is None:
            self._faults.unmark(self)

    def read(self, position: int, size: int) -> memoryview:
        """See File."""
        return self._inner.read(position, size)

    def views(self, position: int, size: int) -> list[memoryview]:
        """See File."""
        return self._inner.views(position, size)

    def preallocate(self, size: int) -> None:
        """See File."""
        if self._faults.is_armed:
            self._faults.check(OperationKind.PREALLOCATE, self._path)
        self._inner.preallocate(size)

    def truncate(self, size: int) -> None:
        """See File."""
        if self._faults.is_armed:
            self._faults.check(OperationKind.TRUNCATE, self._path)
            self._torn_size = None
            self._lost = tuple((start, min(end, size)) for start, end in self._lost if start < size)
            if self._unsafe is not None:
                self._unsafe = (min(self._unsafe[0], size), min(self._unsafe[1], size))
            if self._safe_size is not None:
                self._safe_size = min(self._safe_size, size)
            self._unmark_if_whole()
        self._inner.truncate(size)

    def begin_sync(self, *, is_written_again: bool = False) -> Callable[[], None]:
        """See File; what goes wrong is decided here, and happens in the step."""
        faults = self._faults
        if not faults.is_armed:
            return self._inner.begin_sync(is_written_again=is_written_again)
        faults.check_running(self._path)
        fault = faults.decide(OperationKind.SYNC, self._path)
        step = self._inner.begin_sync(is_written_again=is_written_again)
        return partial(self._sync, step, fault, self.size)

    def _sync(self, step: Callable[[], None], fault: FileFault | None, size: int) -> None:
        """Take the step of a sync that began when the file had this size."""
        faults = self._faults
        faults.check_running(self._path)
        if fault is not None:
            faults.begin(fault, self._path)
            if fault.action == "lose":
                safe_size = size if self._safe_size is None else min(self._safe_size, size)
                self._unsafe = (safe_size, size)
                faults.mark(self)
                return
        step()
        self._safe_size = size
        faults.watch(self)
        if self._unsafe is not None and self._unsafe[1] <= size:
            self._unsafe = None
            self._unmark_if_whole()

    def close(self) -> None:
        """See File."""
        self._inner.close()

    def forget_safe_size(self) -> None:
        """Begin anew to learn what is safe: without rules nobody watches."""
        self._safe_size = None

    def machine_stopped(self) -> None:
        """Leave of the file what its disk has: a torn tail is there for good, and what was lost is not."""
        inner, lost = self._inner, self._lost
        if self._unsafe is not None:
            lost = (*lost, self._unsafe)
        self._torn_size = self._safe_size = self._unsafe = None
        self._lost = ()
        # Of a file that was deleted meanwhile there is nothing to leave.
        with suppress(OSError):
            for start, end in sorted(lost, reverse=True):
                size = inner.size
                rest = bytes(inner.read(end, size - end)) if end < size else b""
                inner.truncate(start)
                if rest:
                    # The disk has a hole where it did not take what was written before other things.
                    inner.append(bytes(end - start), rest)


def corrupted(content: bytes, count: int) -> bytes:
    """Return content with all bits of its last bytes flipped, so many of them, or of all if it has no more."""
    start = max(0, len(content) - count)
    return content[:start] + bytes(byte ^ 0xFF for byte in content[start:])


def stopped_error(path: str) -> OSError:
    """Return what every operation on files fails by while the machine is down."""
    return os_error(errno.EIO, path)
