"""Iteration over adjacent batches: those of a Fetch response or of a small file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .record_batch import HEADER_SIZE, BatchHeader, is_crc_right, is_whole, parse_header


class WholeBatch(NamedTuple):
    """A batch and its header."""

    header: BatchHeader
    data: memoryview


def whole_batches(data: bytes) -> Iterator[WholeBatch]:
    """Yield the batches in data, up to the first that is incomplete, of another magic or with a wrong CRC."""
    position = 0
    while position + HEADER_SIZE <= len(data):
        header = parse_header(data, position)
        if not is_whole(header, len(data) - position):
            return
        end = position + header.size
        batch = memoryview(data)[position:end]
        if not is_crc_right(batch, header.crc):
            return
        yield WholeBatch(header, batch)
        position = end
