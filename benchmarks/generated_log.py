"""Generates segment files of any size with numpy, for logs too large to be produced to a broker.

A record has a key of 10 digits, its event id, and a value of 90 bytes; a batch has 160 records. Each partition has one
idempotent producer. Every COPY_EVERYth batch is followed by a copy of its events with the next sequences, so the number
of findings of an audit grows with the log.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from struct import pack_into

import numpy as np
import numpy.typing as npt
from fastcrc.crc32 import iscsi as crc32c

from fauxka.protocol.batches.record_batch import ATTRIBUTES_POSITION
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.protocol.sequences import MAX_SEQUENCE

BATCH_RECORDS = 160
KEY_DIGITS = 10
VALUE_BYTES = 90
PARTITIONS = 4
COPY_EVERY = 1000
# A segment of a quarter of a gigabyte, which is built in memory.
SEGMENT_BATCHES = 14_000
# Each batch of 18 KB has an index entry, as with the default of log.index.interval.bytes.
_INDEX_EVERY = 1

_FIRST_MS = 1_700_000_000_000
# Positions of fields in a batch header.
_BASE_OFFSET, _BASE_TIMESTAMP, _MAX_TIMESTAMP, _BASE_SEQUENCE, _CRC = 0, 27, 35, 53, 17

Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class GeneratedLog:
    """The number of records, how many of them are copies, and the bytes of all segments."""

    records: int
    copies: int
    size: int


def generate_log(folder: Path, record_count: int, topic: str = "t") -> GeneratedLog:
    """Write a log folder with at least record_count records besides copies, in equal partitions."""
    batches = -(-record_count // (BATCH_RECORDS * PARTITIONS))
    size = 0
    for partition in range(PARTITIONS):
        partition_folder = folder / f"{topic}-{partition}"
        partition_folder.mkdir(parents=True)
        size += _write_partition(partition_folder, partition, _events_of(partition, batches))
    copies = batches // COPY_EVERY * BATCH_RECORDS * PARTITIONS
    return GeneratedLog(batches * BATCH_RECORDS * PARTITIONS + copies, copies, size)


def _events_of(partition: int, batches: int) -> Numbers:
    """Return the number of the first event of each batch in log order, including copies."""
    numbers = np.arange(batches)
    is_copied = numbers % COPY_EVERY == COPY_EVERY - 1
    return (np.repeat(numbers, 1 + is_copied) * PARTITIONS + partition) * BATCH_RECORDS


def _write_partition(folder: Path, partition: int, events: Numbers) -> int:
    template, key_positions = _template(partition)
    size = 0
    for first in range(0, len(events), SEGMENT_BATCHES):
        order = np.arange(first, min(first + SEGMENT_BATCHES, len(events)))
        batches = _batches(template, key_positions, order, events[order])
        name = f"{first * BATCH_RECORDS:020d}"
        (folder / f"{name}.log").write_bytes(batches.data)
        (folder / f"{name}.index").write_bytes(_index(len(order), len(template)))
        size += batches.size
    return size


def _template(partition: int) -> tuple[Bytes, Numbers]:
    """Return a batch and the positions of its record keys."""
    generator = random.Random(7)
    keys = [f"key{number:07d}".encode() for number in range(BATCH_RECORDS)]
    records = [Record(generator.randbytes(VALUE_BYTES), key, _FIRST_MS) for key in keys]
    options = BatchOptions(producer_id=partition, producer_epoch=0, base_sequence=0)
    batch = build_batch(records, options)
    return np.frombuffer(batch, np.uint8), np.array([batch.index(key) for key in keys])


def _batches(template: Bytes, key_positions: Numbers, order: Numbers, events: Numbers) -> Bytes:
    batches = np.repeat(template[None, :], len(order), axis=0)
    offsets = order * BATCH_RECORDS
    _set(batches, _BASE_OFFSET, offsets.astype(">i8"))
    _set(batches, _BASE_SEQUENCE, (offsets % (MAX_SEQUENCE + 1)).astype(">i4"))
    for field in (_BASE_TIMESTAMP, _MAX_TIMESTAMP):
        _set(batches, field, (_FIRST_MS + order).astype(">i8"))
    keys = events[:, None] + np.arange(BATCH_RECORDS)
    for digit in range(KEY_DIGITS):
        batches[:, key_positions + KEY_DIGITS - 1 - digit] = keys // 10**digit % 10 + ord("0")
    for batch in batches:
        pack_into(">I", batch.data, _CRC, crc32c(batch[ATTRIBUTES_POSITION:].data))
    return batches


def _set(batches: Bytes, position: int, values: npt.NDArray[np.int64] | npt.NDArray[np.int32]) -> None:
    width = values.itemsize
    batches[:, position : position + width] = values.view(np.uint8).reshape(-1, width)


def _index(batches: int, batch_bytes: int) -> bytes:
    """Return an offset index with the last offset and the position of each batch."""
    order = np.arange(1, batches, _INDEX_EVERY)
    entries = np.column_stack([(order + 1) * BATCH_RECORDS - 1, order * batch_bytes])
    return entries.astype(">i4").tobytes()
