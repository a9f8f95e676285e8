"""Files of a log that are given up: renamed at once, and deleted when file.delete.delay.ms is over.

Source: LocalLog.deleteSegmentFiles, Kafka 4.3.0. In memory nobody looks at the names, and the room is wanted back.
"""

from __future__ import annotations

from .file_systems.file_system import FileSystem
from .log_flush import FlushState
from .producers.producer_snapshots import ProducerSnapshots
from .segments.log_segment import LogSegment


class DeletedFiles:
    """The files of one log that were renamed and wait to be deleted."""

    __slots__ = ("_file_system", "_flushes", "_snapshots", "_waiting")

    def __init__(self, file_system: FileSystem, snapshots: ProducerSnapshots, flushes: FlushState) -> None:
        """Start with none."""
        self._file_system = file_system
        self._snapshots = snapshots
        self._flushes = flushes
        self._waiting: list[tuple[int, str]] = []

    def add_segment(self, segment: LogSegment, due_ms: int, *, is_replaced: bool = False) -> None:
        """Give up the files of a segment that is no longer read from, and the snapshot at its beginning.

        due_ms: when they are to be deleted. is_replaced: another segment begins there now, and the snapshot stays.
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
        self._waiting += [(due_ms, path) for path in renamed]
        self._flushes.names_changed()

    def take_due(self, now_ms: int) -> list[str]:
        """Return the paths of the files whose time has come, and forget them."""
        if not self._waiting:
            return []
        due = [path for due_ms, path in self._waiting if due_ms <= now_ms]
        self._waiting = [entry for entry in self._waiting if entry[0] > now_ms]
        return due
