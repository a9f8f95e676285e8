"""Codec of a producer snapshot file: the producers of a partition before the offset in the file name.

version int16 (1), CRC-32C of everything after it, count int32, and 46 bytes per producer. Only the newest batch of a
producer is stored, so after a restart older ones are not recognised as duplicates. A producer with only a transaction
marker has last_sequence -1, last_offset -1 and offset_delta 0.
Source: ProducerStateManager.writeSnapshot and readSnapshot, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct

from fastcrc.crc32 import iscsi as crc32c

from ...protocol.sequences import NO_SEQUENCE, decrement_sequence
from ..corrupt_file import CorruptFileError
from .producer_state_entry import CachedBatch, ProducerStateEntry

VERSION = 1

_NO_OFFSET = -1

# version, crc, count.
_HEADER = Struct(">hIi")
_CRC_POSITION = 2
_CRC = Struct(">I")
_CHECKED_FROM = 6

# producer_id, producer_epoch, last_sequence, last_offset, offset_delta, timestamp, coordinator_epoch,
# current_txn_first_offset.
_ENTRY = Struct(">qhiqiqiq")


def encode_snapshot(entries: Iterable[ProducerStateEntry]) -> bytes:
    """Return the snapshot file of the entries."""
    listed = list(entries)
    data = bytearray(_HEADER.size + len(listed) * _ENTRY.size)
    _HEADER.pack_into(data, 0, VERSION, 0, len(listed))
    pack_into = _ENTRY.pack_into
    position = _HEADER.size
    for entry in listed:
        last_sequence, last_offset, offset_delta = NO_SEQUENCE, _NO_OFFSET, 0
        if entry.batches:
            newest = entry.batches[-1]
            last_sequence, last_offset = newest.last_sequence, newest.last_offset
            offset_delta = last_offset - newest.base_offset
        first_offset = entry.current_txn_first_offset
        pack_into(
            data,
            position,
            entry.producer_id,
            entry.producer_epoch,
            last_sequence,
            last_offset,
            offset_delta,
            entry.last_timestamp,
            entry.coordinator_epoch,
            _NO_OFFSET if first_offset is None else first_offset,
        )
        position += _ENTRY.size
    _CRC.pack_into(data, _CRC_POSITION, crc32c(memoryview(data)[_CHECKED_FROM:]))
    return bytes(data)


def decode_snapshot(data: bytes | bytearray | memoryview) -> list[ProducerStateEntry]:
    """Return the producers of the file, in its order; raises CorruptFileError.

    The timestamp of a batch is that of the producer's newest batch or marker, the only one stored.
    """
    _check(data)
    entries: list[ProducerStateEntry] = []
    append = entries.append
    for (
        producer_id,
        producer_epoch,
        last_sequence,
        last_offset,
        offset_delta,
        timestamp,
        coordinator_epoch,
        first_offset,
    ) in _ENTRY.iter_unpack(memoryview(data)[_HEADER.size :]):
        batches: tuple[CachedBatch, ...] = ()
        if last_offset >= 0:
            base_sequence = decrement_sequence(last_sequence, offset_delta)
            base_offset = last_offset - offset_delta
            batches = (CachedBatch(base_sequence, last_sequence, base_offset, last_offset, timestamp),)
        append(
            ProducerStateEntry(
                producer_id,
                producer_epoch,
                batches,
                timestamp,
                (coordinator_epoch, first_offset if first_offset >= 0 else None),
            )
        )
    return entries


def _check(data: bytes | bytearray | memoryview) -> None:
    if len(data) < _HEADER.size:
        raise CorruptFileError(f"producer snapshot: expected at least {_HEADER.size} bytes, found {len(data)}")
    version, crc, count = _HEADER.unpack_from(data)
    if version != VERSION:
        raise CorruptFileError(f"producer snapshot: expected version {VERSION}, found {version}")
    size = _HEADER.size + count * _ENTRY.size
    if count < 0 or len(data) != size:
        raise CorruptFileError(f"producer snapshot: {len(data)} bytes do not match {count} producers")
    computed = crc32c(memoryview(data)[_CHECKED_FROM:])
    if computed != crc:
        raise CorruptFileError(f"producer snapshot: the CRC is {crc:08x}, its bytes have {computed:08x}")
