"""Vectorised decoding of zigzag varints at many positions of a buffer.

Nearly all varints have one or two bytes. They are looked up in a table of all pairs of bytes; longer ones are read byte
by byte.
Source: ByteUtils.readVarint and readVarlong, Kafka 4.3.0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Longs = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Words = NDArray[np.uint64]

# The maximum of a varlong; a varint has at most 5 bytes. A longer one is invalid, and its value is not used.
VARLONG_BYTES_MAX = 10

# Bytes behind the last record of a buffer, so that reading a varint needs no bounds check.
PADDING_BYTES = 16

# A table entry is the number, with its size in bytes in the low bits.
_SIZE_BITS = 4
_SIZE_MASK = 15
# The size in the entry of a longer varint: every sum of sizes with it exceeds the bytes of a word.
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

# The distance from a record's length field to the record's end; 0 for a length of more than two bytes or below zero.
ADVANCES: Longs = np.where(
    (_PAIRS & _SIZE_MASK == SIZE_LONG) | (_PAIRS < 0), 0, (_PAIRS >> _SIZE_BITS) + (_PAIRS & _SIZE_MASK)
)


def pairs_of(data: Bytes) -> NDArray[np.uint16]:
    """Return a view of data as the pair of bytes at each position."""
    return np.ndarray((len(data) - 1,), "<u2", data, 0, (1,))


def words_of(data: Bytes) -> Words:
    """Return a view of data as the eight bytes at each position."""
    return np.ndarray((len(data) - 7,), "<u8", data, 0, (1,))


def read_varints(data: Bytes, positions: Longs) -> tuple[Longs, Longs]:
    """Return the numbers at positions, and the positions behind them.

    data: has PADDING_BYTES behind the greatest position. A varint of more than ten bytes is cut there; the caller then
    finds that the record does not end where its length says.
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
    """Decode the varint in the low bytes of each word and shift it out. Return the numbers and their sizes.

    A varint of more than two bytes has the size SIZE_LONG, and its word is invalid afterwards.
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
