"""Zigzag varints at many places of a buffer at once.

Nearly all of them have one or two bytes, and those are looked up in a table of all pairs of bytes; the others are read
byte by byte.
Source: ByteUtils.readVarint and readVarlong, Kafka 4.3.0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Longs = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Words = NDArray[np.uint64]

# The bytes that a varlong has at most; a varint has five. What a longer one says is never looked at.
VARLONG_BYTES_MAX = 10

# What a buffer has behind its last record, so that no read of a number needs to look where the buffer ends.
PADDING_BYTES = 16

# A table entry: the number, and in its low bits how many bytes it has.
_SIZE_BITS = 4
_SIZE_MASK = 15
# Said of a number of more than two bytes: no two of them and what is around them fit a word with it.
SIZE_LONG = 8


def _pairs_table() -> Longs:
    pairs = np.arange(2**16)
    first, second = pairs & 0xFF, pairs >> 8
    is_short = first < 128
    raw = np.where(is_short, first, (first & 0x7F) | (second << 7))
    number = (raw >> 1) ^ -(raw & 1)
    size = np.where(is_short, 1, np.where(second < 128, 2, SIZE_LONG))
    return (number << _SIZE_BITS) | size


_PAIRS = _pairs_table()

# How far it is from a length to the end of what it is the length of; 0 where that is not in two bytes, or negative.
ADVANCES: Longs = np.where(
    (_PAIRS & _SIZE_MASK == SIZE_LONG) | (_PAIRS < 0), 0, (_PAIRS >> _SIZE_BITS) + (_PAIRS & _SIZE_MASK)
)


def pairs_of(data: Bytes) -> NDArray[np.uint16]:
    """Return a view of data with the pair of bytes at each position."""
    return np.ndarray((len(data) - 1,), "<u2", data, 0, (1,))


def words_of(data: Bytes) -> Words:
    """Return a view of data with the eight bytes at each position."""
    return np.ndarray((len(data) - 7,), "<u8", data, 0, (1,))


def read_varints(data: Bytes, positions: Longs) -> tuple[Longs, Longs]:
    """Return the numbers at positions, and the positions behind them.

    data: PADDING_BYTES longer than the greatest position. A number that goes on past its ten bytes ends there:
    whoever reads on will find that the record does not end where it says.
    """
    numbers = _PAIRS.take(pairs_of(data)[positions])
    sizes = numbers & _SIZE_MASK
    numbers >>= _SIZE_BITS
    ends = positions + sizes
    is_long = sizes == SIZE_LONG
    if is_long.any():
        numbers[is_long], ends[is_long] = _read_long(data, positions[is_long])
    return numbers, ends


def take_varints(words: Words) -> tuple[Longs, Longs]:
    """Take the numbers in the low bytes out of words, which lose these bytes; return the numbers and their sizes.

    Of a longer number the size is SIZE_LONG, and the word is of no use any more.
    """
    numbers = _PAIRS.take(words.astype(np.uint16))
    sizes = numbers & _SIZE_MASK
    numbers >>= _SIZE_BITS
    words >>= (sizes << 3).view(np.uint64)
    return numbers, sizes


def _read_long(data: Bytes, positions: Longs) -> tuple[Longs, Longs]:
    raw = np.zeros(len(positions), np.uint64)
    ends = positions.copy()
    more = np.arange(len(positions))
    shift = 0
    while len(more) and shift < 7 * VARLONG_BYTES_MAX:
        byte = data[ends[more]]
        raw[more] |= (byte & 0x7F).astype(np.uint64) << np.uint64(shift)
        ends[more] += 1
        more = more[byte > 0x7F]
        shift += 7
    return (raw >> np.uint64(1)).view(np.int64) ^ -(raw & np.uint64(1)).view(np.int64), ends
