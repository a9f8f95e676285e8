"""Delayed deletion of segment files: renamed at once, deleted after file.delete.delay.ms.

In memory they are deleted at once, to free the memory.
Source: LocalLog.deleteSegmentFiles, Kafka 4.3.0.
"""

from __future__ import annotations

from .file_systems.file_system import FileSystem
from .log_flush import FlushState
from .producers.producer_snapshots import ProducerSnapshots
from .segments.log_segment import LogSegment


class DeletedFiles:
    """The renamed files of one log."""

    __slots__ = ("_file_system", "_flushes", "_pending", "_snapshots")

    def __init__(self, file_system: FileSystem, snapshots: ProducerSnapshots, flushes: FlushState) -> None:
        """Start without files."""
        self._file_system = file_system
        self._snapshots = snapshots
        self._flushes = flushes
        self._pending: list[tuple[int, str]] = []

    def add_segment(self, segment: LogSegment, due_ms: int, *, is_replaced: bool = False) -> None:
        """Rename the files of a segment that is no longer read, and the snapshot at its base offset.

        due_ms: the time of their deletion. is_replaced: a cleaned segment has the same base offset, the snapshot stays.
        Raises OSError.
        """
        if not self._file_system.is_persistent:
            segment.delete()
            if not is_replaced:
                self._snapshots.delete(segment.base_offset)
            return
        renamed = segment.rename_for_deletion()
        if not is_replaced:
            renamed += self._snapshots.rename_for_deletion(segment.base_offset)
        self._pending += [(due_ms, path) for path in renamed]
        self._flushes.note_changed_names()

    def take_due(self, now_ms: int) -> list[str]:
        """Remove the files due at now_ms from the list and return their paths."""
        if not self._pending:
            return []
        due = [path for due_ms, path in self._pending if due_ms <= now_ms]
        self._pending = [entry for entry in self._pending if entry[0] > now_ms]
        return due
