"""Batches of a log file, one after the other, read in blocks: what recovery and loading go through a segment with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...protocol.batches.record_batch import HEADER_SIZE, BatchHeader, is_crc_right, is_whole, parse_header
from ..file_systems.file_system import File

# Read at a time: enough that the reads cost little beside the checksums, and little beside a broker's memory.
SCAN_BLOCK_BYTES = 1024 * 1024


class ScannedBatch(NamedTuple):
    """A batch and where it is; batch is valid until the next one is asked for."""

    header: BatchHeader
    position: int
    batch: memoryview


def scan_batches(file: File, position: int, end: int, *, is_crc_checked: bool) -> Iterator[ScannedBatch]:
    """Yield the batches of file[position:end], up to the first that is not whole.

    is_crc_checked: a batch whose CRC is wrong ends the scan too; it is not yielded.
    Reads no more at a time than SCAN_BLOCK_BYTES, or one batch where that is larger.
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
