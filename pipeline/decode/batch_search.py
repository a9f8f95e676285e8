"""Search for the next valid batch behind damaged bytes, where no size field can be trusted."""

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

# The search window starts small, because the next batch is mostly near, and doubles to a limit that keeps the arrays
# of a window small.
_WINDOW_BYTES_FIRST = 16 * 1024
_WINDOW_BYTES_MAX = 1024 * 1024

# The length field counts the bytes behind it.
_LENGTH_MIN = HEADER_SIZE - LOG_OVERHEAD


def find_next_batch(data: memoryview, position: int, end: int, *, base_offset_min: int = 0) -> int | None:
    """Return the position of the first whole batch with a right CRC that begins in data[position:end], or None.

    base_offset_min: base offset of the segment; a batch is within the range of offsets that a segment can have.
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
    """Return the positions in data[start:end] with plausible magic, length and base offset."""
    source = np.frombuffer(data, np.uint8)
    positions = np.flatnonzero(source[start + MAGIC_POSITION : end + MAGIC_POSITION] == MAGIC_V2) + start
    lengths = _number_at(source, positions + 8, 4)
    positions = positions[(lengths >= _LENGTH_MIN) & (lengths <= len(data) - positions - LOG_OVERHEAD)]
    offsets = _number_at(source, positions, 8)
    return positions[(offsets >= base_offset_min) & (offsets <= base_offset_min + RELATIVE_OFFSET_MAX)]


def _number_at(source: np.ndarray[tuple[int], np.dtype[np.uint8]], positions: Longs, size: int) -> Longs:
    """Return the big-endian numbers of size bytes at positions; unsigned if size is less than 8."""
    number = np.zeros(len(positions), np.uint64)
    for at in range(size):
        number = (number << np.uint64(8)) | source[positions + at]
    return number.view(np.int64)
