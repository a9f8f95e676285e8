"""Flushing of a log: the recovery point, and the sync steps that move it.

* A flush has three parts. begin collects the steps on the log's thread; run executes them on any thread, once; finish
  moves the recovery point to the log end as it was at begin. Batches appended meanwhile belong to the next flush. So
  one flush covers every append before its begin (group commit: the broker acknowledges them together).
* A flush syncs the segments from the recovery point, the indexes of those that are not active, a deferred producer
  snapshot and, if file names changed, the newest snapshot, the leader epochs and both folders.
* The recovery point moves only after every step succeeded. It never moves back.
* After a failed flush the log refuses appends, and the next flush writes the data again before it syncs: the system
  may have dropped the dirty pages and marked them clean. The same applies after a crash, where a failed flush left no
  trace, on topics that configure flushes.
* With flush.messages=1, readers see only flushed records; records that they saw before that setting stay visible.
Source: UnifiedLog.flush and LocalLog.flush, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from .file_systems.file_system import FileSystem
from .log_config import LONG_MAX, LogConfig
from .log_folder import leader_epoch_sync_steps
from .producers.producer_snapshots import ProducerSnapshot, ProducerSnapshots
from .producers.producer_state_entry import ProducerStateEntry
from .segments.log_segments import LogSegments


@dataclass(frozen=True, slots=True)
class Flush:
    """One flush of a log.

    end_offset: after run, everything before it is on disk.
    name_changes: the number of changes of file names before begin.
    snapshot: a deferred producer snapshot that run writes.
    """

    end_offset: int
    name_changes: int
    snapshot: ProducerSnapshot | None
    steps: list[Callable[[], None]]

    def run(self) -> None:
        """Execute the steps; any thread, once, may block for long. Raises OSError."""
        for step in self.steps:
            step()


class FlushState:
    """The flush state of one log.

    recovery_point: the first offset that may be lost in a crash of the machine.
    has_failed: whether the last flush failed.
    visible_offset: the log end when flush.messages=1 was set; None if readers see unflushed records.
    """

    __slots__ = (
        "_file_system",
        "_folder",
        "_may_have_failed",
        "_name_changes",
        "_pending_snapshot",
        "_segments",
        "_snapshots",
        "_synced_name_changes",
        "has_failed",
        "recovery_point",
        "visible_offset",
    )

    def __init__(
        self,
        file_system: FileSystem,
        folder: str,
        segments: LogSegments,
        snapshots: ProducerSnapshots,
        *,
        recovery_point: int,
        may_have_failed: bool,
        are_names_synced: bool,
    ) -> None:
        """Start with a loaded log.

        may_have_failed: whether a flush may have failed before the last crash.
        are_names_synced: whether the file names in the folder are on disk.
        """
        self._file_system = file_system
        self._folder = folder
        self._segments = segments
        self._snapshots = snapshots
        self.recovery_point = recovery_point
        self.has_failed = False
        self._may_have_failed = may_have_failed
        self._name_changes = 0 if are_names_synced else 1
        self._synced_name_changes = 0
        self._pending_snapshot: ProducerSnapshot | None = None
        self.visible_offset: int | None = None

    def apply_config(self, config: LogConfig, end_offset: int) -> None:
        """Set visible_offset for flush.messages=1; end_offset: the log end, which readers may have seen."""
        if config.flush_messages != 1 or not self._file_system.is_persistent:
            self.visible_offset = None
        elif self.visible_offset is None:
            self.visible_offset = end_offset

    def note_changed_names(self) -> None:
        """Count a created, deleted or renamed file, so that the next flush syncs the folder."""
        self._name_changes += 1

    @property
    def has_unsynced_names(self) -> bool:
        """Whether file names changed since the last flush."""
        return self._name_changes > self._synced_name_changes

    def defer_snapshot(self, offset: int, entries: list[ProducerStateEntry]) -> None:
        """Have the next flush write a producer snapshot."""
        self._pending_snapshot = ProducerSnapshot(offset, entries)

    def begin(self, end_offset: int, config: LogConfig) -> Flush:
        """Return a flush of everything before end_offset, the current log end."""
        is_flush_configured = min(config.flush_messages, config.flush_ms) < LONG_MAX
        is_written_again = self.has_failed or (self._may_have_failed and is_flush_configured)
        steps: list[Callable[[], None]] = []
        # Includes a segment that ends at the recovery point, because rolling wrote its last index entries.
        for segment in self._segments.from_offset(self.recovery_point - 1):
            steps += segment.sync_steps(is_written_again=is_written_again)
            if segment is not self._segments.active:
                steps += segment.index_sync_steps()
        snapshot = self._pending_snapshot
        if snapshot is not None:
            write = partial(self._snapshots.write_file, snapshot.offset, snapshot.entries, is_synced=True)
            steps.append(write)
        if self.has_unsynced_names:
            steps += self._snapshots.sync_steps()
            steps += leader_epoch_sync_steps(self._file_system, self._folder)
            steps.append(partial(self._file_system.sync_folder, self._folder))
            steps.append(partial(self._file_system.sync_folder, ""))
        return Flush(end_offset, self._name_changes, snapshot, steps)

    def finish(self, flush: Flush) -> None:
        """Move the recovery point to the end of a flush that has run without an error."""
        self.recovery_point = max(self.recovery_point, flush.end_offset)
        self._synced_name_changes = max(self._synced_name_changes, flush.name_changes)
        self.has_failed = self._may_have_failed = False
        if flush.snapshot is not None and flush.snapshot is self._pending_snapshot:
            self._snapshots.add(flush.snapshot.offset)
            self._pending_snapshot = None
