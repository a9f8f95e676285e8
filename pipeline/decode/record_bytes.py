"""The bytes of the records of many batches in one buffer, decompressed where they are not plain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...protocol.batches import compression
from ...protocol.batches.record_batch import COMPRESSION_MASK, HEADER_SIZE, Compression
from .batch_table import BatchTable
from .varints import PADDING_BYTES, Bytes, Longs

# Records that are read together: enough batches for a lockstep, few enough that their columns stay near the processor.
GROUP_BYTES = 16 * 1024 * 1024

# A length, attributes, two deltas, two sizes, a count of headers: a byte each.
RECORD_BYTES_MIN = 7


@dataclass(frozen=True, slots=True)
class RecordBytes:
    """The batches first to end of a table, and where in data the records of each are; nothing for a damaged one.

    data: longer than the last record by PADDING_BYTES bytes.
    """

    first: int
    end: int
    data: Bytes
    starts: Longs
    ends: Longs


def group_records(table: BatchTable) -> Iterator[RecordBytes]:
    """Yield the record bytes of all batches in groups; batches that cannot be decompressed are told in the table."""
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
    """Return a group in the buffer as it is; None if the next damaged or compressed batch is too near for that."""
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
        # The last batch of the buffer has nothing behind it and is read by itself.
        count -= 1
        end = int(positions[count - 1] + sizes[count - 1])
    data = np.frombuffer(table.data[start : end + PADDING_BYTES], np.uint8)
    starts = positions[:count] - start + HEADER_SIZE
    return RecordBytes(first, first + count, data, starts, positions[:count] - start + sizes[:count])


def _decompressed(table: BatchTable, codecs: Longs, first: int) -> RecordBytes:
    """Return a group in a buffer of its own."""
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
