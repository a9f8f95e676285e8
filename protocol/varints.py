"""Unsigned varints and tagged fields at a position of a buffer, for the codecs that are written by hand (KIP-482)."""

from __future__ import annotations

from .frames import FrameError

# A 32-bit number takes at most this many groups of seven bits.
UNSIGNED_VARINT_BYTES_MAX = 5


def decode_unsigned_varint(buffer: memoryview, position: int, end: int) -> tuple[int, int]:
    """Return the number at position and the position behind it.

    Raises FrameError where it does not end within five bytes or the buffer's end; IndexError beyond the buffer.
    """
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
    """Return value, which is not negative, in groups of seven bits, lowest first."""
    if value < 0x80:
        return bytes((value,))
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def skip_tagged_fields(buffer: memoryview, position: int, end: int) -> int:
    """Return the position behind the tagged fields at position; raises FrameError where they go beyond end."""
    count, position = decode_unsigned_varint(buffer, position, end)
    for _ in range(count):
        _, position = decode_unsigned_varint(buffer, position, end)
        size, position = decode_unsigned_varint(buffer, position, end)
        position += size
        if position > end:
            raise FrameError(f"a tagged field of {size} bytes goes {position - end} bytes beyond its frame")
    return position
