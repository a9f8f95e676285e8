"""Iteration over adjacent batches: those of a Fetch response or of a small file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .record_batch import HEADER_SIZE, BatchHeader, is_crc_right, is_whole, parse_header


class WholeBatch(NamedTuple):
    """A batch and its header."""

    header: BatchHeader
    data: memoryview


def split_batches(data: memoryview) -> Iterator[WholeBatch]:
    """Yield the batches in data, up to the first that is incomplete or of another magic. CRCs are not checked."""
    position = 0
    while position + HEADER_SIZE <= len(data):
        header = parse_header(data, position)
        if not is_whole(header, len(data) - position):
            return
        yield WholeBatch(header, data[position : position + header.size])
        position += header.size


def whole_batches(data: bytes) -> Iterator[WholeBatch]:
    """Yield the batches in data, up to the first that is incomplete, of another magic or with a wrong CRC."""
    for batch in split_batches(memoryview(data)):
        if not is_crc_right(batch.data, batch.header.crc):
            return
        yield batch
