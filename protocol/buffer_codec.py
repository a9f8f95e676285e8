"""Varints, strings, counts and tagged fields at a position of a buffer, for the hand-written codecs.

Compact encodings are those of flexible versions (KIP-482). Functions with end raise FrameError if the value goes beyond
end, and IndexError or struct.error if it goes beyond the buffer.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

from .frames import FrameError

_INT16 = Struct(">h")
_INT32 = Struct(">i")

# Tagged fields of one struct. All of them are skipped, and no struct of Kafka 4.3 has more than a few.
TAGGED_FIELDS_MAX: Final = 32

# A 32-bit number takes at most this many groups of seven bits.
UNSIGNED_VARINT_BYTES_MAX = 5


def decode_unsigned_varint(buffer: memoryview, position: int, end: int) -> tuple[int, int]:
    """Return the number at position and the position after it. Raises FrameError if it has more than five bytes."""
    byte = buffer[position]
    if byte < 0x80:
        return byte, position + 1
    value = byte & 0x7F
    for shift in range(7, 7 * UNSIGNED_VARINT_BYTES_MAX, 7):
        position += 1
        if position >= end:
            break
        byte = buffer[position]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position + 1
    raise FrameError(f"a varint that does not end within {UNSIGNED_VARINT_BYTES_MAX} bytes")


def encode_unsigned_varint(value: int) -> bytes:
    """Return value, 0 or more, in groups of seven bits, lowest first."""
    if value < 0x80:
        return bytes((value,))
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def skip_tagged_fields(buffer: memoryview, position: int, end: int) -> int:
    """Return the position after the tagged fields at position. Raises FrameError for more than TAGGED_FIELDS_MAX."""
    count, position = decode_unsigned_varint(buffer, position, end)
    if count > TAGGED_FIELDS_MAX:
        raise FrameError(f"{count} tagged fields in one struct; at most {TAGGED_FIELDS_MAX} are read")
    for _ in range(count):
        _, position = decode_unsigned_varint(buffer, position, end)
        size, position = decode_unsigned_varint(buffer, position, end)
        position += size
        if position > end:
            raise FrameError(f"a tagged field of {size} bytes goes {position - end} bytes beyond its frame")
    return position


def decode_string(buffer: memoryview, position: int, end: int) -> tuple[bytes | None, int]:
    """Return the bytes of the string at position, None for null, and the position after it."""
    (size,) = _INT16.unpack_from(buffer, position)
    return _string_bytes(buffer, size, position + _INT16.size, end)


def decode_compact_string(buffer: memoryview, position: int, end: int) -> tuple[bytes | None, int]:
    """Return the bytes of the compact string at position, None for null, and the position after it."""
    size, position = decode_unsigned_varint(buffer, position, end)
    return _string_bytes(buffer, size - 1, position, end)


def _string_bytes(buffer: memoryview, size: int, position: int, end: int) -> tuple[bytes | None, int]:
    if size < 0:
        return None, position
    if position + size > end:
        raise FrameError(f"a string of {size} bytes; {end - position} are left")
    return bytes(buffer[position : position + size]), position + size


def decode_count(buffer: memoryview, position: int, end: int) -> tuple[int, int]:
    """Return the count of the array at position and the position after it. Raises FrameError for null."""
    (count,) = _INT32.unpack_from(buffer, position)
    return _checked_count(count, position + _INT32.size, end), position + _INT32.size


def decode_compact_count(buffer: memoryview, position: int, end: int) -> tuple[int, int]:
    """Return the count of the compact array at position and the position after it. Raises FrameError for null."""
    count, position = decode_unsigned_varint(buffer, position, end)
    return _checked_count(count - 1, position, end), position


def _checked_count(count: int, position: int, end: int) -> int:
    """Return count. Raises FrameError if it is above the bytes that are left: every element has at least one byte."""
    if not 0 <= count <= end - position:
        raise FrameError(f"an array of {count}; {end - position} bytes are left")
    return count
