"""The offsets that ListOffsets v0 returns: where segments begin that had their last change up to a timestamp.

Source: UnifiedLog.legacyFetchOffsetsBefore and ReplicaManager.legacyFetchOffsetsForTimestamp, Kafka 3.9.1.
"""

from __future__ import annotations

from ...storage.partition_log import PartitionLog

LATEST, EARLIEST = -1, -2


def offsets_before(log: PartitionLog, timestamp: int, *, now_ms: int, upper_offset: int | None) -> list[int]:
    """Return the offsets, the highest one first.

    timestamp: milliseconds since the epoch, or LATEST for all, or EARLIEST for the first one. The log end counts as
    changed now, if the active segment has records. upper_offset: up to which a consumer reads; None for a follower.
    """
    changes = [(max(each.base_offset, log.log_start_offset), each.modified_ms) for each in log.segments]
    if log.segments.active.size:
        changes.append((log.log_end_offset, now_ms))
    offsets = [offset for offset, _ in changes[: _count_up_to(timestamp, [changed_ms for _, changed_ms in changes])]]
    if upper_offset is not None and offsets and offsets[-1] > upper_offset:
        offsets = [*(offset for offset in offsets if offset <= upper_offset), upper_offset]
    return sorted(offsets, reverse=True)


def _count_up_to(timestamp: int, changed_ms: list[int]) -> int:
    """Return the number of changes up to the last one that is not after the timestamp."""
    if timestamp == LATEST:
        return len(changed_ms)
    if timestamp == EARLIEST:
        return 1
    return next((at for at in range(len(changed_ms), 0, -1) if changed_ms[at - 1] <= timestamp), 0)
