"""Damages one record of a Fetch response. The frame, the header of the batch and all other records stay as they are.

- The lowest bit of the middle byte of the record's value is inverted. A record without a value cannot be damaged.
- With the kept CRC the batch does not match it, and a client that checks it refuses the batch. With the recomputed one
  only a checksum in the value shows the damage.
- Records that are compressed are decompressed and compressed again with the same codec.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from ..protocol.batches import compression, records
from ..protocol.batches.record_batch import (
    COMPRESSION_MASK,
    Compression,
    header_with_crc,
    sealed_header,
)
from ..protocol.batches.records import DECODE_ERRORS, RecordFields
from ..protocol.batches.whole_batches import WholeBatch, split_batches
from ..protocol.fetch_codec import FetchedPartition

_LOWEST_BIT = 1


class FetchedRecords(NamedTuple):
    """The records of a partition in a response."""

    topic: str
    partition: int
    fetched: FetchedPartition


@dataclass(frozen=True, slots=True)
class FoundRecord:
    """A record with a value. position: of its batch in the records of the partition. content: decompressed."""

    fetched: FetchedPartition
    position: int
    batch: WholeBatch
    content: bytes
    content_start: int
    fields: RecordFields

    def damage(self, *, keeps_crc: bool) -> None:
        """Replace the records of the partition in the response. The log, whose memory they are, is left alone."""
        content = bytearray(self.content)
        content[self.fields.value_position + self.fields.value_size // 2] ^= _LOWEST_BIT
        header, payload = self.batch.header, bytes(content[self.content_start :])
        if header.is_compressed:
            payload = compression.compress(Compression(header.attributes & COMPRESSION_MASK), payload)
        head = sealed_header(header, payload)
        if keeps_crc:
            head = header_with_crc(head, header.crc)
        whole = b"".join(self.fetched.records)
        damaged = [whole[: self.position], head, payload, whole[self.position + header.size :]]
        self.fetched.records = [memoryview(each) for each in damaged]
        self.fetched.records_bytes = sum(map(len, damaged))


def find_record(fetched: Iterable[FetchedPartition], *, offset: int | None, nth: int) -> FoundRecord | None:
    """Return the record of a response to damage; None if there is none, if it has no value or does not decode.

    offset: of the record; None for the nth one of all partitions, counted from 1. Control batches have no records.
    """
    before = 0
    for partition, position, batch in _batches(fetched):
        header = batch.header
        if offset is None:
            is_within, index = before < nth <= before + header.records_count, nth - before - 1
        else:
            is_within, index = header.base_offset <= offset <= header.last_offset, None
        if is_within:
            return _find_in(partition, position, batch, offset, index)
        before += header.records_count
    return None


def _batches(fetched: Iterable[FetchedPartition]) -> Iterator[tuple[FetchedPartition, int, WholeBatch]]:
    for partition in fetched:
        position = 0
        for batch in split_batches(memoryview(b"".join(partition.records))):
            if not batch.header.is_control:
                yield partition, position, batch
            position += batch.header.size


def _find_in(
    partition: FetchedPartition, position: int, batch: WholeBatch, offset: int | None, index: int | None
) -> FoundRecord | None:
    """Return the record of a batch with the offset, or else with the index."""
    try:
        content, start = records.records_data(batch.header, batch.data)
        of_batch = records.iterate_fields(batch.header, content, start)
        found = (
            next((each for each in of_batch if each.offset == offset), None)
            if index is None
            else next(islice(of_batch, index, None), None)
        )
    except DECODE_ERRORS:
        return None
    if found is None or found.value_size <= 0:
        return None
    return FoundRecord(partition, position, batch, content, start, found)
