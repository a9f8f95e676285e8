"""Sequential scan over the batches of a log file, for recovery, loading and lookups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...protocol.batches.record_batch import HEADER_SIZE, BatchHeader, is_crc_right, is_whole, parse_header
from ..file_systems.file_system import File

# The size of one read: large enough that reads cost little next to the checksums, small next to a broker's memory.
SCAN_BLOCK_BYTES = 1024 * 1024


class ScannedBatch(NamedTuple):
    """A stored batch: its header, its position in the file and its bytes."""

    header: BatchHeader
    position: int
    batch: memoryview


def scan_batches(file: File, position: int, end: int, *, is_crc_checked: bool) -> Iterator[ScannedBatch]:
    """Yield the batches of file[position:end], up to the first incomplete one.

    is_crc_checked: whether a batch with a wrong CRC ends the scan too.
    Reads SCAN_BLOCK_BYTES at a time, or one larger batch.
    """
    block = memoryview(b"")
    block_start = position
    while position + HEADER_SIZE <= end:
        start = position - block_start
        if start + HEADER_SIZE > len(block):
            block = file.read(position, min(SCAN_BLOCK_BYTES, end - position))
            block_start, start = position, 0
        header = parse_header(block, start)
        if not is_whole(header, end - position):
            return
        size = header.size
        if start + size > len(block):
            block = file.read(position, min(max(SCAN_BLOCK_BYTES, size), end - position))
            block_start, start = position, 0
        batch = block[start : start + size]
        if is_crc_checked and not is_crc_right(batch, header.crc):
            return
        yield ScannedBatch(header, position, batch)
        position += size
