"""Reads records from the log and acquires them for a member of a share group.

Source: ShareFetchUtils.processFetchResponse, SharePartition.acquire and maybeFilterAbortedTransactionalAcquiredRecords,
Kafka 4.3.0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ....protocol.batches.record_batch import BatchHeader
from ....protocol.batches.whole_batches import split_batches
from ....storage.segments.log_segments import FetchedRecords

if TYPE_CHECKING:
    from ....storage.partition_log import PartitionLog
    from .record_state import AcquiredRecords
    from .share_partition import AcquireLimits, SharePartition


@dataclass(frozen=True, slots=True)
class AcquiredBatches:
    """The acquired records of one partition, and the batches of the log that contain them."""

    records: bytes = b""
    acquired: list[AcquiredRecords] = field(default_factory=list["AcquiredRecords"])


def acquire_records(
    log: PartitionLog,
    share_partition: SharePartition,
    member_id: str,
    limits: AcquireLimits,
    *,
    max_bytes: int,
    min_one_batch: bool,
    is_committed_only: bool,
) -> AcquiredBatches:
    """Acquire records for the member. Raises KafkaError, OSError.

    min_one_batch: whether a first batch larger than max_bytes is read.
    """
    fetched = _read(log, share_partition, max_bytes, min_one_batch=min_one_batch, is_committed_only=is_committed_only)
    batches = list(split_batches(memoryview(b"".join(fetched.views))))
    if not batches:
        return AcquiredBatches()
    ranges = [(header.base_offset, header.last_offset) for header, _ in batches]
    acquired = share_partition.acquire(member_id, ranges, limits)
    if is_committed_only:
        acquired = _without_aborted(log, share_partition, acquired, [header for header, _ in batches])
    if not acquired:
        return AcquiredBatches()
    first, last = acquired[0].first_offset, acquired[-1].last_offset
    views = [view for header, view in batches if header.last_offset >= first and header.base_offset <= last]
    return AcquiredBatches(b"".join(views), acquired)


def available_bytes(
    log: PartitionLog, share_partition: SharePartition, max_bytes: int, *, is_committed_only: bool
) -> int:
    """Return how many bytes acquire_records can read, at most max_bytes. Raises KafkaError, OSError."""
    fetched = _read(log, share_partition, max_bytes, min_one_batch=True, is_committed_only=is_committed_only)
    return min(fetched.size, max_bytes)


def _read(
    log: PartitionLog, share_partition: SharePartition, max_bytes: int, *, min_one_batch: bool, is_committed_only: bool
) -> FetchedRecords:
    """Read from the next offset that can be acquired."""
    offset = max(share_partition.next_fetch_offset(), log.log_start_offset)
    upper_offset = log.last_stable_offset if is_committed_only else log.high_watermark
    if offset >= upper_offset:
        return FetchedRecords([], 0)
    return log.read(offset, max_bytes, upper_offset=upper_offset, min_one_batch=min_one_batch)


def _without_aborted(
    log: PartitionLog, share_partition: SharePartition, acquired: list[AcquiredRecords], headers: list[BatchHeader]
) -> list[AcquiredRecords]:
    """Archive batches of aborted transactions and markers, and return the other acquired records."""
    if not acquired:
        return acquired
    end_offset = headers[-1].last_offset + 1
    aborted = [
        (each.producer_id, each.first_offset, each.last_offset)
        for each in log.segments.aborted_transactions(headers[0].base_offset, end_offset)
    ]
    for header in headers:
        is_aborted = header.is_transactional and any(
            producer_id == header.producer_id and first <= header.base_offset <= last
            for producer_id, first, last in aborted
        )
        if is_aborted or header.is_control:
            share_partition.archive(header.base_offset, header.last_offset)
            acquired = [
                part for each in acquired for part in _without_range(each, header.base_offset, header.last_offset)
            ]
    return acquired


def _without_range(acquired: AcquiredRecords, first: int, last: int) -> list[AcquiredRecords]:
    if acquired.last_offset < first or acquired.first_offset > last:
        return [acquired]
    parts: list[AcquiredRecords] = []
    if acquired.first_offset < first:
        parts.append(acquired._replace(last_offset=first - 1))
    if acquired.last_offset > last:
        parts.append(acquired._replace(first_offset=last + 1))
    return parts
