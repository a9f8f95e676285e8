"""The range of a compacted log that can be cleaned, and the dirty ratio of the log.

The clean part ends where the last cleaning ended; the dirty part follows. Not cleanable are the active segment, all
segments from the first open transaction on, and segments with records younger than min.compaction.lag.ms. Only whole
segments are cleaned.
Source: LogCleanerManager.cleanableOffsets, calculateCleanableBytes and maxCompactionDelay and LogToClean, Kafka 4.3.0.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..partition_log import PartitionLog
from ..segments.log_segment import LogSegment


@dataclass(frozen=True, slots=True)
class CleanableRange:
    """The offsets that a cleaning would read, and the numbers that decide whether it is due.

    first_uncleanable_offset: the base offset of the first segment that is not cleaned.
    cleanable_bytes: of the dirty segments before it. clean_bytes: of the segments that start before
        first_dirty_offset. A partly clean segment counts in both.
    is_overdue: whether a dirty record is older than max.compaction.lag.ms.
    """

    first_dirty_offset: int
    first_uncleanable_offset: int
    clean_bytes: int
    cleanable_bytes: int
    is_overdue: bool

    @property
    def dirty_ratio(self) -> float:
        """cleanable_bytes divided by all bytes that would be read; 0 without cleanable bytes."""
        return self.cleanable_bytes / (self.clean_bytes + self.cleanable_bytes) if self.cleanable_bytes else 0.0

    def is_due(self, min_cleanable_dirty_ratio: float) -> bool:
        """Whether the log should be cleaned now."""
        return self.cleanable_bytes > 0 and (self.is_overdue or self.dirty_ratio > min_cleanable_dirty_ratio)


def segments_between(segments: list[LogSegment], start: int, end: int) -> list[LogSegment]:
    """Return the segments that overlap start <= offset < end."""
    if start >= end:
        return []
    following = [segment.base_offset for segment in segments[1:]]
    return [
        segment
        for segment, next_base_offset in zip(segments, [*following, end], strict=True)
        if next_base_offset > start and segment.base_offset < end
    ]


def cleanable_range(log: PartitionLog, checkpointed_offset: int | None, now_ms: int) -> CleanableRange:
    """Return the range of a log that can be cleaned; checkpointed_offset: the end of the last cleaning, or None."""
    segments = list(log.segments)
    active_base_offset = log.segments.active.base_offset
    first_dirty_offset = _first_dirty_offset(log, checkpointed_offset)
    dirty = segments_between(segments, first_dirty_offset, active_base_offset)
    bound = min(log.last_stable_offset, active_base_offset, *_bases_within_lag(log, dirty, now_ms))
    holding = segments_between(segments, max(bound, first_dirty_offset), active_base_offset)
    first_uncleanable_offset = holding[0].base_offset if holding else active_base_offset
    clean = [segment for segment in segments if segment.base_offset < first_dirty_offset]
    start = min(first_dirty_offset, first_uncleanable_offset)
    cleanable = segments_between(segments, start, first_uncleanable_offset)
    clean_until_ms = now_ms - max(log.config.max_compaction_lag_ms, 0)
    return CleanableRange(
        first_dirty_offset,
        first_uncleanable_offset,
        sum(segment.size for segment in clean),
        sum(segment.size for segment in cleanable),
        any(0 < segment.first_batch_timestamp < clean_until_ms for segment in dirty),
    )


def _first_dirty_offset(log: PartitionLog, checkpointed_offset: int | None) -> int:
    """Return where the dirty part starts: at the log start if the checkpointed offset is outside the log."""
    if checkpointed_offset is None or not log.log_start_offset <= checkpointed_offset <= log.log_end_offset:
        return log.log_start_offset
    return checkpointed_offset


def _bases_within_lag(log: PartitionLog, dirty: list[LogSegment], now_ms: int) -> list[int]:
    """Return the base offsets of the segments with records younger than min.compaction.lag.ms."""
    lag_ms = log.config.min_compaction_lag_ms
    if lag_ms <= 0:
        return []
    return [segment.base_offset for segment in dirty if segment.largest_timestamp > now_ms - lag_ms]
