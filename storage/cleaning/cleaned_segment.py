"""The segment that a cleaning writes, with .cleaned files, and the swap that puts it in place of the old segments.

The swap: rename all files to .swap, rename the old files to .deleted, remove the .swap suffix. At loading, a remaining
.cleaned file means that the old segments are complete; without one, the .swap files replace the old segments.
Source: UnifiedLog.createNewCleanedSegment and LocalLog.replaceSegments, Kafka 4.3.0.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from ..file_systems.file_system import FileSystem
from ..log_config import LogConfig
from ..log_files import (
    CLEANED_SUFFIX,
    SEGMENT_SUFFIXES,
    SWAP_SUFFIX,
    segment_path,
)
from ..partition_log import PartitionLog
from ..segments.log_segment import LogSegment


class CleanedSegment(LogSegment):
    """A log segment in .cleaned files."""

    __slots__ = ()

    def _path(self, suffix: str) -> str:
        return super()._path(suffix) + CLEANED_SUFFIX

    def seal_and_sync(self) -> None:
        """Finish the segment, sync its files and close them."""
        self.finish()
        for step in (*self.sync_steps(), *self.index_sync_steps()):
            step()
        self.close()


def create_cleaned_segment(
    file_system: FileSystem, folder: str, base_offset: int, config: LogConfig, *, has_aborts: bool
) -> CleanedSegment:
    """Create the segment with all files that a cleaning may write, so that its thread opens no files.

    has_aborts: whether a transaction index may be needed.
    """
    delete_cleaned_segment(file_system, folder, base_offset)
    suffixes = SEGMENT_SUFFIXES if has_aborts else SEGMENT_SUFFIXES[:-1]
    # References keep the files open until the segment has its own.
    files = [file_system.open(_temporary_path(folder, base_offset, suffix, CLEANED_SUFFIX)) for suffix in suffixes]
    segment = CleanedSegment(file_system, folder, base_offset, config, 0)
    del files
    return segment


def delete_cleaned_segment(file_system: FileSystem, folder: str, base_offset: int) -> None:
    """Delete the .cleaned files at base_offset, if they exist."""
    for suffix in SEGMENT_SUFFIXES:
        file_system.delete(_temporary_path(folder, base_offset, suffix, CLEANED_SUFFIX))


class SegmentSwap:
    """Replaces consecutive segments before the active one by a cleaned segment."""

    def __init__(
        self, file_system: FileSystem, log: PartitionLog, cleaned: CleanedSegment, old: Sequence[LogSegment]
    ) -> None:
        """Prepare the swap; old: consecutive segments before the active one."""
        self._file_system = file_system
        self._log = log
        self._cleaned = cleaned
        self._old = old
        self._old_left = deque(old)

    def finish(self, now_ms: int) -> None:
        """Swap the segments; after OSError it must be called again until it succeeds, and skips finished steps."""
        log, base_offset = self._log, self._cleaned.base_offset
        if not self._cleaned.transaction_index.count:
            self._cleaned.transaction_index.clear()
        self._rename_all(CLEANED_SUFFIX, SWAP_SUFFIX)
        while self._old_left:
            oldest = self._old_left[0]
            log.delete_segment(oldest, now_ms, is_replaced=oldest.base_offset == base_offset)
            self._old_left.popleft()
        self._rename_all(SWAP_SUFFIX, "")
        new = LogSegment(self._file_system, log.topic_partition, base_offset, log.config, self._old[0].created_ms)
        new.continue_times_of(self._old)
        log.segments.replace(self._old, [new])

    def _rename_all(self, old_suffix: str, new_suffix: str) -> None:
        folder, base_offset = self._log.topic_partition, self._cleaned.base_offset
        for suffix in SEGMENT_SUFFIXES:
            path = _temporary_path(folder, base_offset, suffix, old_suffix)
            if self._file_system.exists(path):
                self._file_system.rename(path, _temporary_path(folder, base_offset, suffix, new_suffix))


def _temporary_path(folder: str, base_offset: int, suffix: str, temporary_suffix: str) -> str:
    return segment_path(folder, base_offset, suffix) + temporary_suffix
