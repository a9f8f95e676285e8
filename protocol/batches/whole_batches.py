"""The batches that lie back to back in bytes: what a fetch returns, and what a small file holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .record_batch import HEADER_SIZE, BatchHeader, is_crc_right, is_whole, parse_header


class WholeBatch(NamedTuple):
    """A batch and its header."""

    header: BatchHeader
    data: memoryview


def whole_batches(data: bytes) -> Iterator[WholeBatch]:
    """Yield the batches that data begins with, up to the first that is cut, of another magic or of a wrong CRC."""
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
