"""The result of cleaning one batch: the same bytes, a batch with fewer records, an empty batch, or nothing.

* A rebuilt batch keeps its base offset, last offset, producer, epoch, sequences, leader epoch, codec and attributes.
  Offsets stay the same, and the newest batch of a producer is still recognised as a duplicate.
* The first cleaning that keeps a tombstone, or a marker of a transaction without records, sets a delete horizon: bit 6
  of the attributes, and the time of the horizon in place of the base timestamp.
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

# The attributes that a rebuilt batch keeps, besides the codec.
_KEPT_ATTRIBUTES = TIMESTAMP_TYPE_BIT | TRANSACTIONAL_BIT | CONTROL_BIT

# Returns whether a record is kept, from its fields and its key (None for null).
RecordFilter = Callable[[RecordFields, bytes | None], bool]


class BatchRetention(Enum):
    """Whether a batch is kept, independent of its records."""

    DELETE = "delete, whatever its records"
    RETAIN_EMPTY = "keep, even without records"
    DELETE_EMPTY = "delete, if no record is kept"


@dataclass(frozen=True, slots=True)
class BatchRetentionResult:
    """The decision about a batch before its records are read.

    is_marker_without_records: whether it is a transaction marker whose transaction has no records left.
    """

    retention: BatchRetention
    is_marker_without_records: bool = False


def delete_horizon_of(header: BatchHeader) -> int | None:
    """Return the time from which the tombstones or the marker in the batch may be removed; None if not set."""
    return header.base_timestamp if header.attributes & DELETE_HORIZON_BIT else None


def retained_batch(
    header: BatchHeader,
    batch: memoryview,
    verdict: BatchRetentionResult,
    is_kept: RecordFilter,
    new_delete_horizon_ms: int,
) -> memoryview | bytes | None:
    """Return batch itself if it is unchanged, a rebuilt batch, or None.

    new_delete_horizon_ms: the horizon for a batch without one that keeps a tombstone or a marker without records.
    Raises compression.BrokenPayload, compression.PayloadTooLarge, InvalidRecords or IndexError for a damaged batch.
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
    """Return the batch rebuilt with the kept records."""
    codec = Compression(header.attributes & COMPRESSION_MASK)
    attributes = header.attributes & _KEPT_ATTRIBUTES | codec
    base_timestamp = kept[0].timestamp
    # Kafka treats a horizon before 1970 as unset.
    if horizon is not None and horizon >= 0:
        attributes |= DELETE_HORIZON_BIT
        base_timestamp = horizon
    if header.timestamp_type is TimestampType.LOG_APPEND_TIME:
        max_timestamp = header.max_timestamp
    else:
        max_timestamp = max(NO_TIMESTAMP, *(fields.timestamp for fields in kept))
    payload = compression.compress(codec, rewrite_records(header, data, kept, base_timestamp))
    rebuilt = header.replaced(
        attributes=attributes, base_timestamp=base_timestamp, max_timestamp=max_timestamp, records_count=len(kept)
    )
    return sealed_header(rebuilt, payload) + payload


def _empty_batch(header: BatchHeader) -> bytes:
    """Return the header of the batch, with its offsets, producer and sequences, and without records."""
    attributes = header.attributes & _KEPT_ATTRIBUTES
    return sealed_header(
        header.replaced(attributes=attributes, base_timestamp=NO_TIMESTAMP, records_count=0),
        b"",
    )
