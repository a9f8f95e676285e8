"""Frames of lz4 as Kafka reads and writes them. The blocks in a frame are compressed by a library (compression.py).

A frame is MAGIC, a descriptor of two bytes or more, the checksum of the descriptor, blocks, and an end mark. A block is
its size, its bytes, and maybe a checksum. The bytes are not compressed if the size has the highest bit. Bytes after the
end mark are ignored.

- The blocks are independent of each other. Kafka rejects linked blocks and dictionaries.
- The checksum of a block is verified, that of the content is not. The size of the content is ignored.

Source: Lz4BlockInputStream and Lz4BlockOutputStream, Kafka 4.3.0.
"""

from __future__ import annotations

from struct import Struct

MAGIC = b"\x04\x22\x4d\x18"
_FLAGS_POSITION = 4
# The flags and the byte with the largest size of a block.
_DESCRIPTOR_BYTES_MIN = 2
_CONTENT_SIZE_BYTES = 8
_CHECKSUM_BYTES = 4
_BLOCK_SIZE = Struct("<I")
# The highest bit is set if the block is not compressed.
_BLOCK_SIZE_MASK = 0x7FFF_FFFF
_END_MARK = bytes(4)

# The version, 1, in the two highest bits.
_VERSION_MASK = 0xC0
_VERSION = 0x40
_INDEPENDENT_BIT = 0x20
_BLOCK_CHECKSUM_BIT = 0x10
_CONTENT_SIZE_BIT = 0x08
_CONTENT_CHECKSUM_BIT = 0x04
_RESERVED_MASK = 0x03


def without_content_fields(payload: memoryview) -> bytes:
    """Return the frame at the start of a payload without the size and the checksum of its content.

    Raises ValueError for a frame that Kafka rejects before it decompresses a block.
    """
    first = _check_header(payload)
    end = _find_end_mark(payload, first)
    flags = payload[_FLAGS_POSITION] & ~(_CONTENT_SIZE_BIT | _CONTENT_CHECKSUM_BIT)
    return b"".join((_header(payload, flags), payload[first:end], _END_MARK))


def without_block_checksums(frame: memoryview) -> bytes:
    """Return a valid frame without the checksums of its blocks: the Java client writes none."""
    position = _check_header(frame)
    flags = frame[_FLAGS_POSITION]
    checksum_bytes = _CHECKSUM_BYTES if flags & _BLOCK_CHECKSUM_BIT else 0
    parts: list[bytes | memoryview] = [_header(frame, flags & ~_BLOCK_CHECKSUM_BIT)]
    while size := _BLOCK_SIZE.unpack_from(frame, position)[0] & _BLOCK_SIZE_MASK:
        end = position + _BLOCK_SIZE.size + size
        parts.append(frame[position:end])
        position = end + checksum_bytes
    return b"".join((*parts, _END_MARK))


def with_header_checksum(frame: bytes, *, is_right: bool) -> bytes:
    """Return a frame with the right checksum of its header, or the wrong one of magic 0.

    The wrong one includes the four bytes before the flags.
    Source: KafkaLZ4BlockOutputStream.writeHeader, KAFKA-3160.
    """
    if len(frame) <= _FLAGS_POSITION:
        return frame
    end = _descriptor_end(frame[_FLAGS_POSITION])
    checksum = _header_checksum(frame[_FLAGS_POSITION if is_right else 0 : end])
    return frame[:end] + bytes((checksum,)) + frame[end + 1 :]


def _check_header(payload: memoryview) -> int:
    """Return the position of the first block. Raises ValueError."""
    if bytes(payload[: len(MAGIC)]) != MAGIC or len(payload) <= _FLAGS_POSITION:
        raise ValueError("not a frame")
    flags = payload[_FLAGS_POSITION]
    if not flags & _INDEPENDENT_BIT:
        raise ValueError("the blocks of the frame are linked")
    if flags & _VERSION_MASK != _VERSION or flags & _RESERVED_MASK:
        raise ValueError(f"the frame has the flags {flags:#04x}")
    end = _descriptor_end(flags)
    if len(payload) <= end:
        raise ValueError("the frame ends early")
    if payload[end] != _header_checksum(bytes(payload[_FLAGS_POSITION:end])):
        raise ValueError("the checksum of the header is wrong")
    return end + 1


def _find_end_mark(payload: memoryview, position: int) -> int:
    """Return the position of the end mark. position: of the first block. Raises ValueError for a frame without one."""
    flags = payload[_FLAGS_POSITION]
    added = _BLOCK_SIZE.size + (_CHECKSUM_BYTES if flags & _BLOCK_CHECKSUM_BIT else 0)
    last = len(payload) - len(_END_MARK) - (_CHECKSUM_BYTES if flags & _CONTENT_CHECKSUM_BIT else 0)
    read_size = _BLOCK_SIZE.unpack_from
    while position <= last:
        size: int = read_size(payload, position)[0] & _BLOCK_SIZE_MASK
        if size == 0:
            return position
        position += size + added
    raise ValueError("the frame ends early")


def _descriptor_end(flags: int) -> int:
    """Return the position of the checksum of a header with these flags."""
    content_size_bytes = _CONTENT_SIZE_BYTES if flags & _CONTENT_SIZE_BIT else 0
    return _FLAGS_POSITION + _DESCRIPTOR_BYTES_MIN + content_size_bytes


def _header(payload: memoryview, flags: int) -> bytes:
    """Return the header of a frame with other flags and without the size of its content."""
    descriptor = bytes((flags, payload[_FLAGS_POSITION + 1]))
    return MAGIC + descriptor + bytes((_header_checksum(descriptor),))


def _header_checksum(descriptor: bytes) -> int:
    return xxh32_of_few(descriptor) >> 8 & 0xFF


_XXH32_MASK = 2**32 - 1
_XXH32_PRIMES = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1)


def xxh32_of_few(data: bytes) -> int:
    """Return the xxHash of 32 bits, with seed 0, of fewer than 16 bytes."""
    assert len(data) < 16, "more bytes have another first step"
    first, second, third, fourth, fifth = _XXH32_PRIMES
    hashed = (fifth + len(data)) & _XXH32_MASK
    words = len(data) // 4 * 4
    for position in range(0, words, 4):
        hashed = hashed + int.from_bytes(data[position : position + 4], "little") * third & _XXH32_MASK
        hashed = _rotated(hashed, 17) * fourth & _XXH32_MASK
    for byte in data[words:]:
        hashed = hashed + byte * fifth & _XXH32_MASK
        hashed = _rotated(hashed, 11) * first & _XXH32_MASK
    hashed = (hashed ^ hashed >> 15) * second & _XXH32_MASK
    hashed = (hashed ^ hashed >> 13) * third & _XXH32_MASK
    return hashed ^ hashed >> 16


def _rotated(word: int, bits: int) -> int:
    return (word << bits | word >> 32 - bits) & _XXH32_MASK
