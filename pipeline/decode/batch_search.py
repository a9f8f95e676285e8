"""Search for the next valid batch behind damaged bytes, where no size field can be trusted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from fastcrc.crc32 import iscsi as crc32c

from ...protocol.batches.record_batch import (
    ATTRIBUTES_POSITION,
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
# The bytes of one read from a file that is not in memory.
_READ_BYTES = 4 * 1024 * 1024

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


def find_next_batch_in(
    read_at: Callable[[int, int], bytes], position: int, size: int, *, base_offset_min: int = 0
) -> int | None:
    """Return what find_next_batch returns for a file, of which a few megabytes at a time are in memory.

    read_at: returns bytes for a position and a size. size: of the file.
    """
    end = size - HEADER_SIZE + 1
    while position < end:
        window_end = min(position + _READ_BYTES, end)
        window = memoryview(read_at(position, window_end - position + HEADER_SIZE - 1))
        candidates: list[int] = _candidates(
            window, 0, window_end - position, base_offset_min, data_end=size - position
        ).tolist()
        for candidate in candidates:
            header = parse_header(window, candidate)
            start = position + candidate
            if is_whole(header, size - start) and _crc_of(read_at, start, start + header.size) == header.crc:
                return start
        position = window_end
    return None


def _crc_of(read_at: Callable[[int, int], bytes], start: int, end: int) -> int:
    """Return the CRC-32C of the batch in a range of a file."""
    crc = 0
    for position in range(start + ATTRIBUTES_POSITION, end, _READ_BYTES):
        crc = crc32c(read_at(position, min(_READ_BYTES, end - position)), crc)
    return crc


def _candidates(data: memoryview, start: int, end: int, base_offset_min: int, *, data_end: int | None = None) -> Longs:
    """Return the positions in data[start:end] with plausible magic, length and base offset.

    data_end: the end of the file, if data is only a part of it.
    """
    data_end = len(data) if data_end is None else data_end
    source = np.frombuffer(data, np.uint8)
    positions = np.flatnonzero(source[start + MAGIC_POSITION : end + MAGIC_POSITION] == MAGIC_V2) + start
    lengths = _number_at(source, positions + 8, 4)
    positions = positions[(lengths >= _LENGTH_MIN) & (lengths <= data_end - positions - LOG_OVERHEAD)]
    offsets = _number_at(source, positions, 8)
    return positions[(offsets >= base_offset_min) & (offsets <= base_offset_min + RELATIVE_OFFSET_MAX)]


def _number_at(source: np.ndarray[tuple[int], np.dtype[np.uint8]], positions: Longs, size: int) -> Longs:
    """Return the big-endian numbers of size bytes at positions; unsigned if size is less than 8."""
    number = np.zeros(len(positions), np.uint64)
    for at in range(size):
        number = (number << np.uint64(8)) | source[positions + at]
    return number.view(np.int64)
