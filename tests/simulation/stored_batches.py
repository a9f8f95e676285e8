"""An independent reader of the batches in a log file."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from crc32c import crc32c

HEADER = struct.Struct(">qiibIhiqqqhii")
SEQUENCES = 2**31


@dataclass(frozen=True, slots=True)
class StoredBatch:
    """A batch and its position in the file. checked: the part that the CRC covers."""

    position: int
    size: int
    base_offset: int
    last_offset: int
    leader_epoch: int
    producer_id: int
    producer_epoch: int
    first_sequence: int
    last_sequence: int
    max_timestamp: int
    checked: bytes


def batches_in(data: bytes) -> list[StoredBatch]:
    """Return the batches up to the first incomplete or invalid one, or one with a wrong CRC."""
    found: list[StoredBatch] = []
    position = 0
    while (batch := batch_at(data, position)) is not None:
        found.append(batch)
        position += batch.size
    return found


def batch_at(data: bytes, position: int) -> StoredBatch | None:
    if position + HEADER.size > len(data):
        return None
    base, length, epoch, magic, crc, _, delta, _, max_timestamp, producer_id, producer_epoch, sequence, _ = (
        HEADER.unpack_from(data, position)
    )
    end = position + 12 + length
    if magic != 2 or length < HEADER.size - 12 or end > len(data) or crc32c(data[position + 21 : end]) != crc:
        return None
    return StoredBatch(
        position,
        12 + length,
        base,
        base + delta,
        epoch,
        producer_id,
        producer_epoch,
        sequence,
        (sequence + delta) % SEQUENCES if sequence >= 0 else -1,
        max_timestamp,
        data[position + 21 : end],
    )
