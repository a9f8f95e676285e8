"""Retention: how many of the oldest segments may be deleted, and how far DeleteRecords may move the log start.

Source: UnifiedLog.deleteOldSegments and Partition.deleteRecordsOnLeader, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable

from ..protocol.error_codes import ErrorCode, KafkaError
from .log_config import LogConfig
from .segments.log_segment import LogSegment
from .segments.log_segments import LogSegments

# This offset in DeleteRecords means the high watermark.
DELETE_UP_TO_HIGH_WATERMARK = -1


def requested_log_start(offset: int, high_watermark: int, config: LogConfig, topic_partition: str) -> int:
    """Return the log start offset that DeleteRecords requests.

    Raises KafkaError: POLICY_VIOLATION on a topic without cleanup.policy=delete, OFFSET_OUT_OF_RANGE.
    """
    if not config.is_deleting:
        raise KafkaError(
            ErrorCode.POLICY_VIOLATION,
            f"Records of partition {topic_partition} can not be deleted due to the configured policy",
        )
    requested = high_watermark if offset == DELETE_UP_TO_HIGH_WATERMARK else offset
    if not 0 <= requested <= high_watermark:
        raise KafkaError(
            ErrorCode.OFFSET_OUT_OF_RANGE, f"offset {requested} of {topic_partition} is not within 0..{high_watermark}"
        )
    return requested


def count_before_log_start(segments: LogSegments, log_start_offset: int) -> int:
    """Return how many of the oldest segments end at or before the log start."""
    return sum(segment.base_offset <= log_start_offset for segment in list(segments)[1:])


def count_over_size(segments: LogSegments, config: LogConfig) -> int:
    """Return how many of the oldest segments can be deleted with at least retention.bytes left."""
    if config.retention_bytes < 0:
        return 0
    surplus = segments.size_bytes - config.retention_bytes

    def is_surplus(segment: LogSegment) -> bool:
        nonlocal surplus
        surplus -= segment.size
        return surplus >= 0

    return _count_while(segments, is_surplus)


def count_expired(segments: LogSegments, config: LogConfig, now_ms: int) -> int:
    """Return how many of the oldest segments have no record younger than retention.ms."""
    if config.retention_ms < 0:
        return 0
    return _count_while(segments, lambda segment: now_ms - segment.largest_timestamp > config.retention_ms)


def _count_while(segments: LogSegments, is_past: Callable[[LogSegment], bool]) -> int:
    """Return how many segments, from the oldest, satisfy is_past in a row; an empty active segment never counts."""
    count = 0
    for segment in segments:
        if (segment is segments.active and not segment.size) or not is_past(segment):
            break
        count += 1
    return count
