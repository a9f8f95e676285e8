"""Hashes of record contents, to find a batch that was sent again with other sequences.

Two records are equal if timestamp, key, value and headers are. Equal records within one batch are numbered, so that
the second of them has another hash than the first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ...protocol.batches.compression import BrokenPayload
from ...protocol.batches.record_batch import (
    ATTRIBUTES_POSITION,
    HEADER_SIZE,
    TIMESTAMP_TYPE_BIT,
    is_crc_right,
    is_whole,
    parse_header,
)
from ...protocol.batches.record_validation import InvalidRecords
from ...protocol.batches.records import Record, decode_batch, iterate_records

# The low byte of the attributes holds the timestamp type.
_LOW_ATTRIBUTES = ATTRIBUTES_POSITION + 1


def iterate_as_sent(batch: memoryview | bytes) -> Iterator[Record]:
    """Yield the records of a stored batch with the client's timestamps. Raises what decode_batch does."""
    if not batch[_LOW_ATTRIBUTES] & TIMESTAMP_TYPE_BIT:
        return iterate_records(batch)
    # With LogAppendTime the log changes only the maximum timestamp of the header, not the deltas.
    as_sent = bytearray(batch)
    as_sent[_LOW_ATTRIBUTES] &= ~TIMESTAMP_TYPE_BIT
    return iterate_records(bytes(as_sent))


def contents_of(records: list[Record]) -> Iterator[int]:
    """Yield the content hash of each record."""
    seen: Counter[int] = Counter()
    for record in records:
        content = hash((record.timestamp, record.key, record.value, record.headers))
        yield hash((content, seen[content]))
        seen[content] += 1


def contents_of_received(batch: memoryview) -> list[int]:
    """Return the content hashes of an unchecked batch; none if it is corrupt."""
    if len(batch) < HEADER_SIZE:
        return []
    header = parse_header(batch)
    if not is_whole(header, len(batch)) or not is_crc_right(batch[: header.size], header.crc):
        return []
    try:
        return list(contents_of(decode_batch(batch[: header.size])))
    except (InvalidRecords, IndexError, BrokenPayload):
        return []
