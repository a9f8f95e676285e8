"""A segment that a cleaning writes: a log segment whose files bear .cleaned behind their names, until it is swapped in.

Source: UnifiedLog.createNewCleanedSegment and LocalLog.replaceSegments, Kafka 4.3.0.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from ..file_systems.file_system import FileSystem
from ..log_config import LogConfig
from ..log_files import (
    CLEANED_SUFFIX,
    INDEX_SUFFIX,
    LOG_SUFFIX,
    SWAP_SUFFIX,
    TIME_INDEX_SUFFIX,
    TRANSACTION_INDEX_SUFFIX,
    segment_path,
)
from ..partition_log import PartitionLog
from ..segments.log_segment import LogSegment

# The order in which files are renamed: while one is called .cleaned, loading drops them all.
_SUFFIXES = (LOG_SUFFIX, INDEX_SUFFIX, TIME_INDEX_SUFFIX, TRANSACTION_INDEX_SUFFIX)


class CleanedSegment(LogSegment):
    """What is kept of some segments, in files of its own."""

    __slots__ = ()

    def _path(self, suffix: str) -> str:
        return super()._path(suffix) + CLEANED_SUFFIX

    def make_safe(self) -> None:
        """Seal the segment, and return when it is safe from a crash of the machine; its files are not used after."""
        self.finish()
        for step in (*self.sync_steps(), *self.index_sync_steps()):
            step()
        self.close()


def create_cleaned_segment(
    file_system: FileSystem, folder: str, base_offset: int, config: LogConfig, *, has_aborts: bool
) -> CleanedSegment:
    """Create the files, all those that may be written to, so that another thread writes to files that are open.

    has_aborts: whether aborted transactions may be among what is kept.
    """
    delete_cleaned_segment(file_system, folder, base_offset)
    suffixes = _SUFFIXES if has_aborts else _SUFFIXES[:-1]
    # Held until the segment holds them.
    files = [file_system.open(_temporary_path(folder, base_offset, suffix, CLEANED_SUFFIX)) for suffix in suffixes]
    segment = CleanedSegment(file_system, folder, base_offset, config, 0)
    del files
    return segment


def delete_cleaned_segment(file_system: FileSystem, folder: str, base_offset: int) -> None:
    """Delete what is there of a cleaned segment."""
    for suffix in _SUFFIXES:
        file_system.delete(_temporary_path(folder, base_offset, suffix, CLEANED_SUFFIX))


class SegmentSwap:
    """Puts a cleaned segment in the place of the old ones, whose files go.

    A crash at any moment leaves what loading the log takes for the old segments or for the cleaned one.
    """

    def __init__(
        self, file_system: FileSystem, log: PartitionLog, cleaned: CleanedSegment, old: Sequence[LogSegment]
    ) -> None:
        """Change nothing yet; old lie in a row, before the active segment."""
        self._file_system = file_system
        self._log = log
        self._cleaned = cleaned
        self._old = old
        self._old_left = deque(old)

    def finish(self, now_ms: int) -> None:
        """Do it; after OSError it is to be called again until it succeeds: what was done is not done twice."""
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
        new.last_offset = self._old[-1].last_offset
        new.modified_ms = self._old[-1].modified_ms
        log.segments.replace(self._old, [new])

    def _rename_all(self, old_suffix: str, new_suffix: str) -> None:
        folder, base_offset = self._log.topic_partition, self._cleaned.base_offset
        for suffix in _SUFFIXES:
            path = _temporary_path(folder, base_offset, suffix, old_suffix)
            if self._file_system.exists(path):
                self._file_system.rename(path, _temporary_path(folder, base_offset, suffix, new_suffix))


def _temporary_path(folder: str, base_offset: int, suffix: str, temporary_suffix: str) -> str:
    return segment_path(folder, base_offset, suffix) + temporary_suffix
