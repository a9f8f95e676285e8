"""Making a log safe from a crash of the machine: up to where it is, and what has to be synced, as a step that another
thread can take.

Source: UnifiedLog.flush and LocalLog.flush, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from .file_systems.file_system import FileSystem
from .log_config import LONG_MAX, LogConfig
from .log_folder import leader_epoch_sync_steps
from .producers.producer_snapshots import ProducerSnapshots
from .producers.producer_state_entry import ProducerStateEntry
from .segments.log_segments import LogSegments


@dataclass(frozen=True, slots=True)
class PendingSnapshot:
    """The producers as they were at an offset, which have not been written yet."""

    offset: int
    entries: list[ProducerStateEntry]


@dataclass(frozen=True, slots=True)
class Flush:
    """One flush of a log, begun and finished on the log's own thread.

    end_offset: everything before it is safe once run has returned.
    folder_changes: how many names in the folder had changed when it began.
    snapshot: what it writes besides.
    """

    end_offset: int
    folder_changes: int
    snapshot: PendingSnapshot | None
    steps: list[Callable[[], None]]

    def run(self) -> None:
        """Sync; may take long, and may run in any thread, once. Raises OSError."""
        for step in self.steps:
            step()


class FlushState:
    """What of one log is safe, and what a flush of the rest has to do.

    recovery_point: the first offset that is not known to be safe.
    has_failed: whether the last flush failed, so that nothing is known of what it was to make safe.
    seen_offset: where readers saw the log end when they began to see no more than what is flushed; None where they see
        all of it.
    """

    __slots__ = (
        "_file_system",
        "_folder",
        "_folder_changes",
        "_is_doubtful",
        "_pending_snapshot",
        "_safe_folder_changes",
        "_segments",
        "_snapshots",
        "has_failed",
        "recovery_point",
        "seen_offset",
    )

    def __init__(
        self,
        file_system: FileSystem,
        folder: str,
        segments: LogSegments,
        snapshots: ProducerSnapshots,
        *,
        recovery_point: int,
        is_doubtful: bool,
        is_folder_safe: bool,
    ) -> None:
        """Begin with a log that was loaded.

        is_doubtful: whether a flush may have failed before, unknown to us.
        is_folder_safe: whether the names of its files are known to be safe.
        """
        self._file_system = file_system
        self._folder = folder
        self._segments = segments
        self._snapshots = snapshots
        self.recovery_point = recovery_point
        self.has_failed = False
        self._is_doubtful = is_doubtful
        self._folder_changes = 0 if is_folder_safe else 1
        self._safe_folder_changes = 0
        self._pending_snapshot: PendingSnapshot | None = None
        self.seen_offset: int | None = None

    def follow(self, config: LogConfig, end_offset: int) -> None:
        """Have readers see what is flushed, and no more, where every message is; what was seen is not hidden."""
        is_following = config.flush_messages == 1 and self._file_system.is_persistent
        if not is_following:
            self.seen_offset = None
        elif self.seen_offset is None:
            self.seen_offset = end_offset

    def names_changed(self) -> None:
        """Take note that files of the folder came, went or got another name."""
        self._folder_changes += 1

    @property
    def has_changed_names(self) -> bool:
        """Whether names of files are not known to be safe."""
        return self._folder_changes > self._safe_folder_changes

    def write_snapshot_later(self, offset: int, entries: list[ProducerStateEntry]) -> None:
        """Have the next flush write the producers as they are at offset."""
        self._pending_snapshot = PendingSnapshot(offset, entries)

    def begin(self, end_offset: int, config: LogConfig) -> Flush:
        """Return what has to be done for all that is in the log now to be safe; then finish or fail it.

        Where a flush failed, what it was to make safe is written once more: the system may have dropped it. So it is
        where one may have failed before a crash, for topics that ask for flushes.
        """
        is_flushed = min(config.flush_messages, config.flush_ms) < LONG_MAX
        is_written_again = self.has_failed or (self._is_doubtful and is_flushed)
        steps: list[Callable[[], None]] = []
        # With the segment before, where the active one begins there: it took its last index entries when it was left.
        for segment in self._segments.from_offset(self.recovery_point - 1):
            steps += segment.sync_steps(is_written_again=is_written_again)
            if segment is not self._segments.active:
                steps += segment.index_sync_steps()
        snapshot = self._pending_snapshot
        if snapshot is not None:
            write = partial(self._snapshots.write_file, snapshot.offset, snapshot.entries, is_synced=True)
            steps.append(write)
        if self.has_changed_names:
            steps += self._snapshots.sync_steps()
            steps += leader_epoch_sync_steps(self._file_system, self._folder)
            steps.append(partial(self._file_system.sync_folder, self._folder))
            steps.append(partial(self._file_system.sync_folder, ""))
        return Flush(end_offset, self._folder_changes, snapshot, steps)

    def finish(self, flush: Flush) -> None:
        """Take note that the flush was run: what it covers is safe."""
        self.recovery_point = max(self.recovery_point, flush.end_offset)
        self._safe_folder_changes = max(self._safe_folder_changes, flush.folder_changes)
        self.has_failed = self._is_doubtful = False
        if flush.snapshot is not None and flush.snapshot is self._pending_snapshot:
            self._snapshots.add(flush.snapshot.offset)
            self._pending_snapshot = None
