"""What cleaning leaves of a stored batch: its bytes as they are, a batch of the records kept, an empty one, or nothing.

A batch that is written anew keeps its base offset, its last offset, producer, epoch, sequences, leader epoch, codec and
attributes, so that offsets stay what they are and a producer's newest batch is still recognised.
The first time that a tombstone or the marker of a transaction without records is cleaned, its batch gets a delete
horizon: bit 6 of the attributes, and the time of the horizon in place of the base timestamp.
Source: MemoryRecords.filterTo and DefaultRecordBatch.writeEmptyHeader, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from ...protocol.batches import compression
from ...protocol.batches.record_batch import (
    COMPRESSION_MASK,
    CONTROL_BIT,
    DELETE_HORIZON_BIT,
    NO_TIMESTAMP,
    TIMESTAMP_TYPE_BIT,
    TRANSACTIONAL_BIT,
    BatchHeader,
    Compression,
    TimestampType,
    sealed_header,
)
from ...protocol.batches.records import RecordFields, iterate_fields, key_of, records_data, rewrite_records

# What is known of the records whatever their codec; a batch written anew has no other attributes.
_KEPT_ATTRIBUTES = TIMESTAMP_TYPE_BIT | TRANSACTIONAL_BIT | CONTROL_BIT

# Whether a record stays: its numbers, and its key (None for null).
RecordFilter = Callable[[RecordFields, bytes | None], bool]


class BatchRetention(Enum):
    """What becomes of a batch as a whole."""

    DELETE = "delete without a look at the records"
    RETAIN_EMPTY = "keep even if no record is kept"
    DELETE_EMPTY = "delete if no record is kept"


@dataclass(frozen=True, slots=True)
class BatchVerdict:
    """What was decided of a batch before its records are looked at.

    is_marker_without_records: a transaction marker whose transaction has no records left, so that it may go in time.
    """

    retention: BatchRetention
    is_marker_without_records: bool = False


def delete_horizon_of(header: BatchHeader) -> int | None:
    """Return from when on the batch's tombstones, or the marker that it is, may go; None if that was not yet set."""
    return header.base_timestamp if header.attributes & DELETE_HORIZON_BIT else None


def retained_batch(
    header: BatchHeader, batch: memoryview, verdict: BatchVerdict, is_kept: RecordFilter, new_delete_horizon_ms: int
) -> memoryview | bytes | None:
    """Return what is left of the batch; None for nothing.

    batch: the whole batch; returned itself if it stays as it is.
    new_delete_horizon_ms: set where there is none yet and a tombstone or a marker without records is kept.
    Raises compression.BrokenPayload, compression.PayloadTooLarge, InvalidRecords or IndexError for a broken batch.
    """
    if verdict.retention is BatchRetention.DELETE:
        return None
    data, position = records_data(header, batch)
    kept = [fields for fields in iterate_fields(header, data, position) if is_kept(fields, key_of(fields, data))]
    if not kept:
        return _empty_batch(header) if verdict.retention is BatchRetention.RETAIN_EMPTY else None
    horizon = delete_horizon_of(header)
    needs_horizon = horizon is None and (
        verdict.is_marker_without_records or any(fields.value_size < 0 for fields in kept)
    )
    if len(kept) == header.records_count and not needs_horizon:
        return batch
    return _batch_of(header, data, kept, new_delete_horizon_ms if needs_horizon else horizon)


def _batch_of(header: BatchHeader, data: bytes, kept: Sequence[RecordFields], horizon: int | None) -> bytes:
    """Return a batch of the records kept."""
    codec = Compression(header.attributes & COMPRESSION_MASK)
    attributes = header.attributes & _KEPT_ATTRIBUTES | codec
    base_timestamp = kept[0].timestamp
    # A horizon before 1970 is none, for Kafka.
    if horizon is not None and horizon >= 0:
        attributes |= DELETE_HORIZON_BIT
        base_timestamp = horizon
    if header.timestamp_type is TimestampType.LOG_APPEND_TIME:
        max_timestamp = header.max_timestamp
    else:
        max_timestamp = max(NO_TIMESTAMP, *(fields.timestamp for fields in kept))
    payload = compression.compress(codec, rewrite_records(header, data, kept, base_timestamp))
    rebuilt = header._replace(
        attributes=attributes, base_timestamp=base_timestamp, max_timestamp=max_timestamp, records_count=len(kept)
    )
    return sealed_header(rebuilt, payload) + payload


def _empty_batch(header: BatchHeader) -> bytes:
    """Return the batch without records: a header that keeps its offsets, its producer and its sequences."""
    attributes = header.attributes & _KEPT_ATTRIBUTES
    return sealed_header(
        header._replace(attributes=attributes, base_timestamp=NO_TIMESTAMP, records_count=0),
        b"",
    )
