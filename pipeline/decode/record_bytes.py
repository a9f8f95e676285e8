"""The uncompressed bytes of the records of many batches in one buffer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...protocol.batches import compression
from ...protocol.batches.record_batch import COMPRESSION_MASK, HEADER_SIZE, Compression
from .batch_table import BatchTable
from .varints import PADDING_BYTES, Bytes, Longs

# The bytes that are decoded together: enough batches for a walk in lockstep, few enough for the processor's cache.
GROUP_BYTES = 16 * 1024 * 1024

# A length, attributes, two deltas, two sizes, a count of headers: a byte each.
RECORD_BYTES_MIN = 7


@dataclass(frozen=True, slots=True)
class RecordBytes:
    """The record bytes of the batches first to end of a table. The range of a damaged batch is empty.

    data: has PADDING_BYTES behind the last record. starts, ends: positions in data, one a batch.
    """

    first: int
    end: int
    data: Bytes
    starts: Longs
    ends: Longs


def group_records(table: BatchTable) -> Iterator[RecordBytes]:
    """Yield the record bytes of all batches in groups. Sets table.damage of batches that cannot be decompressed."""
    codecs = table.numbers("attributes") & COMPRESSION_MASK
    first = 0
    while first < len(table):
        if codecs[first] or first in table.damage or not table.has_valid_crc[first]:
            group = _decompressed(table, codecs, first)
        else:
            group = _plain(table, codecs, first) or _decompressed(table, codecs, first)
        yield group
        first = group.end


def _plain(table: BatchTable, codecs: Longs, first: int) -> RecordBytes | None:
    """Return a group that uses the table's buffer; None if a batch of it is damaged or compressed."""
    positions, sizes = table.positions[first:], table.sizes[first:]
    count = int(np.searchsorted(positions, int(positions[0]) + GROUP_BYTES))
    is_plain = table.has_valid_crc[first : first + count] & (codecs[first : first + count] == 0)
    is_plain &= ~np.isin(np.arange(first, first + count), np.array(list(table.damage), np.int64))
    if not is_plain.all():
        return None
    start, end = int(positions[0]), int(positions[count - 1] + sizes[count - 1])
    if end + PADDING_BYTES > len(table.data):
        if count == 1:
            return None
        # The last batch of the buffer has no padding behind it, so it is copied alone.
        count -= 1
        end = int(positions[count - 1] + sizes[count - 1])
    data = np.frombuffer(table.data[start : end + PADDING_BYTES], np.uint8)
    starts = positions[:count] - start + HEADER_SIZE
    return RecordBytes(first, first + count, data, starts, positions[:count] - start + sizes[:count])


def _decompressed(table: BatchTable, codecs: Longs, first: int) -> RecordBytes:
    """Return a group in a new buffer."""
    parts: list[bytes | memoryview] = []
    sizes: list[int] = []
    total = 0
    index = first
    while index < len(table) and total < GROUP_BYTES:
        part = _records_of(table, index, int(codecs[index]))
        parts.append(part)
        sizes.append(len(part))
        total += len(part)
        index += 1
    data = np.frombuffer(b"".join([*parts, bytes(PADDING_BYTES)]), np.uint8)
    ends = np.cumsum(np.array(sizes, np.int64))
    return RecordBytes(first, index, data, ends - sizes, ends)


def _records_of(table: BatchTable, index: int, codec: int) -> bytes | memoryview:
    if index in table.damage or not table.has_valid_crc[index]:
        return b""
    position = int(table.positions[index])
    payload = table.data[position + HEADER_SIZE : position + int(table.sizes[index])]
    if not codec or not table.headers["records_count"][index]:
        return payload
    try:
        return compression.decompress(Compression(codec), payload)
    except (compression.BrokenPayload, compression.PayloadTooLarge) as error:
        table.damage[index] = f"its records cannot be decompressed: {error}"
        return b""
