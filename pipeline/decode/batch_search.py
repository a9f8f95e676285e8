"""Find the next batch in bytes that have lost their order: behind damage, where no size says where to go on."""

from __future__ import annotations

import numpy as np

from ...protocol.batches.record_batch import (
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC_POSITION,
    MAGIC_V2,
    is_crc_right,
    is_whole,
    parse_header,
)
from ...storage.log_files import RELATIVE_OFFSET_MAX
from .varints import Longs

# Looked through at a time, each time twice as much: the next batch is near in most cases, and the columns made of a
# window stay small beside the buffer.
_WINDOW_BYTES_FIRST = 16 * 1024
_WINDOW_BYTES_MAX = 1024 * 1024

# The length counts what follows it.
_LENGTH_MIN = HEADER_SIZE - LOG_OVERHEAD


def find_next_batch(data: memoryview, position: int, end: int, *, base_offset_min: int = 0) -> int | None:
    """Return where in data[position:end] the first whole batch with a right CRC begins; None if none does.

    base_offset_min: where the segment begins: a batch of it lies within the offsets that a segment can have.
    """
    end = min(end, len(data) - HEADER_SIZE + 1)
    window_bytes = _WINDOW_BYTES_FIRST
    while position < end:
        window_end = min(position + window_bytes, end)
        candidates: list[int] = _candidates(data, position, window_end, base_offset_min).tolist()
        for candidate in candidates:
            if is_right_batch(data, candidate):
                return candidate
        position = window_end
        window_bytes = min(2 * window_bytes, _WINDOW_BYTES_MAX)
    return None


def is_right_batch(data: memoryview, position: int) -> bool:
    """Whether a whole batch with a right CRC begins at position."""
    if len(data) - position < HEADER_SIZE:
        return False
    header = parse_header(data, position)
    return is_whole(header, len(data) - position) and is_crc_right(data[position : position + header.size], header.crc)


def _candidates(data: memoryview, start: int, end: int, base_offset_min: int) -> Longs:
    """Return the positions in data[start:end] where a header begins that can be one."""
    source = np.frombuffer(data, np.uint8)
    positions = np.flatnonzero(source[start + MAGIC_POSITION : end + MAGIC_POSITION] == MAGIC_V2) + start
    lengths = _number_at(source, positions + 8, 4)
    positions = positions[(lengths >= _LENGTH_MIN) & (lengths <= len(data) - positions - LOG_OVERHEAD)]
    offsets = _number_at(source, positions, 8)
    return positions[(offsets >= base_offset_min) & (offsets <= base_offset_min + RELATIVE_OFFSET_MAX)]


def _number_at(source: np.ndarray[tuple[int], np.dtype[np.uint8]], positions: Longs, size: int) -> Longs:
    """Return the big-endian numbers of size bytes at positions; of fewer than eight bytes they are unsigned."""
    number = np.zeros(len(positions), np.uint64)
    for at in range(size):
        number = (number << np.uint64(8)) | source[positions + at]
    return number.view(np.int64)
