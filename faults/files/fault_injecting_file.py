"""One file of a node, with its fault rules applied. Without a rule every call goes straight to the wrapped file.

Torn bytes stay at the end of the file, behind `size`, until the next write truncates them. Lost writes stay readable,
as in the page cache. When the node stops, torn bytes become part of the file and lost writes become a hole.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, assert_never

from .file_actions import ContentChange, Lose, Tear
from .operation_kind import OperationKind

if TYPE_CHECKING:
    from ...storage.file_systems.file_system import File
    from .file_actions import FileAction
    from .simulated_disk import SimulatedDisk

# Ranges of lost writes that one file records, adjacent ones joined; the oldest beyond that stay written.
LOST_RANGES_MAX = 1000


class FaultInjectingFile:
    """A file of a FaultInjectingFileSystem. Its undocumented methods are those of File."""

    __slots__ = ("__weakref__", "_disk", "_inner", "_lost", "_path", "_safe_size", "_torn_size", "_unsafe")

    def __init__(self, disk: SimulatedDisk, path: str, inner: File) -> None:
        """Wrap a file. path: what rules match on, even after a rename."""
        self._disk = disk
        self._path = path
        self._inner = inner
        # Where torn bytes begin; None without any.
        self._torn_size: int | None = None
        # The ranges of lost writes, each (start, end).
        self._lost: tuple[tuple[int, int], ...] = ()
        # The range that a lost sync did not make safe.
        self._unsafe: tuple[int, int] | None = None
        # The size up to which the file is synced; None while there are no rules.
        self._safe_size: int | None = None

    @property
    def size(self) -> int:
        """The size in bytes, without torn bytes."""
        return self._inner.size if self._torn_size is None else self._torn_size

    def append(self, head: bytes, body: memoryview | bytes) -> int:
        """Append head and body, and return their position."""
        if self._disk.is_armed:
            return self._append_by_rules(head, body)
        return self._inner.append(head, body)

    def append_shared(self, source: File, size: int) -> bool:
        """Append the bytes of another file of a node, unless rules must see the write."""
        if self._disk.is_armed or self._torn_size is not None or not isinstance(source, FaultInjectingFile):
            return False
        return self._inner.append_shared(source._inner, size)

    def _append_by_rules(self, head: bytes, body: memoryview | bytes) -> int:
        disk, inner = self._disk, self._inner
        disk.check_running(self._path)
        self._truncate_torn_bytes()
        action = disk.decide(OperationKind.WRITE, self._path)
        position = inner.size
        if self._safe_size is None:
            self._safe_size = position
            disk.watch(self)
        change = None if action is None else disk.begin(action, self._path)
        match change:
            case None:
                inner.append(head, body)
            case Tear(byte_count) as tear:
                whole = head + bytes(body)
                inner.append(whole[: min(byte_count, len(whole) - 1)], b"")
                self._torn_size = position
                disk.add_damaged(self)
                disk.fail_torn_write(tear, self._path)
            case Lose():
                inner.append(head, body)
                self._lose(position, inner.size)
            case ContentChange():
                inner.append(change.changed(head + bytes(body)), b"")
            case _:
                assert_never(change)
        return position

    def _truncate_torn_bytes(self) -> None:
        """Remove torn bytes, so that the next write directly follows the last complete one."""
        if self._torn_size is not None:
            self._inner.truncate(self._torn_size)
            self._torn_size = None
            self._update_damage()

    def _lose(self, position: int, end: int) -> None:
        before = self._lost
        if before and before[-1][1] == position:
            position, before = before[-1][0], before[:-1]
        self._lost = (*before[-LOST_RANGES_MAX + 1 :], (position, end))
        self._disk.add_damaged(self)

    def _update_damage(self) -> None:
        if self._torn_size is None and not self._lost and self._unsafe is None:
            self._disk.remove_damaged(self)

    def read(self, position: int, size: int) -> memoryview:
        """Return size bytes from position on."""
        return self._inner.read(position, size)

    def views(self, position: int, size: int) -> list[memoryview]:
        """Return size bytes from position on, in pieces."""
        return self._inner.views(position, size)

    def preallocate(self, size: int) -> None:
        """Reserve size bytes on the disk."""
        if self._disk.is_armed:
            self._disk.check(OperationKind.PREALLOCATE, self._path)
        self._inner.preallocate(size)

    def truncate(self, size: int) -> None:
        """Truncate the file to size."""
        if self._disk.is_armed:
            self._disk.check(OperationKind.TRUNCATE, self._path)
            self._torn_size = None
            self._lost = tuple((start, min(end, size)) for start, end in self._lost if start < size)
            if self._unsafe is not None:
                self._unsafe = (min(self._unsafe[0], size), min(self._unsafe[1], size))
            if self._safe_size is not None:
                self._safe_size = min(self._safe_size, size)
            self._update_damage()
        self._inner.truncate(size)

    def begin_sync(self, *, is_written_again: bool = False) -> Callable[[], None]:
        """Return the step that syncs the file. The rule is chosen here; its action happens in the step."""
        disk = self._disk
        if not disk.is_armed:
            return self._inner.begin_sync(is_written_again=is_written_again)
        disk.check_running(self._path)
        action = disk.decide(OperationKind.SYNC, self._path)
        step = self._inner.begin_sync(is_written_again=is_written_again)
        return partial(self._sync, step, action, self.size)

    def _sync(self, step: Callable[[], None], action: FileAction | None, size: int) -> None:
        """Run the step of a sync. size: of the file when the sync began."""
        disk = self._disk
        disk.check_running(self._path)
        if action is not None and isinstance(disk.begin(action, self._path), Lose):
            safe_size = size if self._safe_size is None else min(self._safe_size, size)
            self._unsafe = (safe_size, size)
            disk.add_damaged(self)
            return
        step()
        self._safe_size = size
        disk.watch(self)
        if self._unsafe is not None and self._unsafe[1] <= size:
            self._unsafe = None
            self._update_damage()

    def close(self) -> None:
        """Close the file."""
        self._inner.close()

    def forget_safe_size(self) -> None:
        """Delete the recorded synced size: syncs are not observed while there are no rules."""
        self._safe_size = None

    def machine_stopped(self) -> None:
        """Leave only what is on the disk: torn bytes stay for good, lost writes are removed."""
        inner, lost = self._inner, self._lost
        if self._unsafe is not None:
            lost = (*lost, self._unsafe)
        self._torn_size = self._safe_size = self._unsafe = None
        self._lost = ()
        # The file may have been deleted meanwhile.
        with suppress(OSError):
            for start, end in sorted(lost, reverse=True):
                size = inner.size
                rest = bytes(inner.read(end, size - end)) if end < size else b""
                inner.truncate(start)
                if rest:
                    # A lost write in front of others leaves a hole of zeros.
                    inner.append(bytes(end - start), rest)
