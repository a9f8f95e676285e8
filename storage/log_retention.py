"""Which of a log's oldest segments are past their time, and which records DeleteRecords may delete.

Source: UnifiedLog.deleteOldSegments and Partition.deleteRecordsOnLeader, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable

from ..protocol.error_codes import ErrorCode, KafkaError
from .log_config import LogConfig
from .segments.log_segment import LogSegment
from .segments.log_segments import LogSegments

# In DeleteRecords this offset stands for the high watermark.
DELETE_UP_TO_HIGH_WATERMARK = -1


def start_asked_for(offset: int, high_watermark: int, config: LogConfig, topic_partition: str) -> int:
    """Return where DeleteRecords wants the log to start.

    Raises KafkaError: POLICY_VIOLATION on a topic that is not deleted from, OFFSET_OUT_OF_RANGE.
    """
    if not config.is_deleting:
        raise KafkaError(
            ErrorCode.POLICY_VIOLATION,
            f"Records of partition {topic_partition} can not be deleted due to the configured policy",
        )
    wanted = high_watermark if offset == DELETE_UP_TO_HIGH_WATERMARK else offset
    if not 0 <= wanted <= high_watermark:
        raise KafkaError(
            ErrorCode.OFFSET_OUT_OF_RANGE, f"offset {wanted} of {topic_partition} is not within 0..{high_watermark}"
        )
    return wanted


def count_before(segments: LogSegments, log_start_offset: int) -> int:
    """Return how many of the oldest segments end at or before the log start."""
    all_segments = list(segments)
    bounds = [segment.base_offset for segment in all_segments[1:]]
    return sum(1 for bound in bounds if bound <= log_start_offset)


def count_too_many_bytes(segments: LogSegments, config: LogConfig) -> int:
    """Return how many of the oldest segments can go while retention.bytes are left."""
    if config.retention_bytes < 0:
        return 0
    surplus = segments.size_bytes - config.retention_bytes

    def is_surplus(segment: LogSegment) -> bool:
        nonlocal surplus
        surplus -= segment.size
        return surplus >= 0

    return _count_while(segments, is_surplus)


def count_too_old(segments: LogSegments, config: LogConfig, now_ms: int) -> int:
    """Return how many of the oldest segments have no record younger than retention.ms."""
    if config.retention_ms < 0:
        return 0
    return _count_while(segments, lambda segment: now_ms - segment.largest_timestamp > config.retention_ms)


def _count_while(segments: LogSegments, is_past: Callable[[LogSegment], bool]) -> int:
    """Return how many segments in a row, from the oldest, are past; an empty active one never is."""
    count = 0
    for segment in segments:
        if (segment is segments.active and not segment.size) or not is_past(segment):
            break
        count += 1
    return count
