"""snappy, lz4 and zstd in Kafka's framing, by cramjam; see compression.py, which loads this module on first use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from struct import Struct

import cramjam

from . import lz4_frame
from .payload_errors import BrokenPayload, too_large

# A frame of zstd or lz4 may not have the size of its content. The output buffer has the larger of these two sizes, and
# then four times as much until the content fits.
_BUFFER_BYTES_FIRST = 64 * 1024
_BUFFER_BYTES_PER_PAYLOAD_BYTE = 8
_BUFFER_GROWTH = 4
# Part of cramjam's error message for a buffer that is too small.
_BUFFER_TOO_SMALL = "whole buffer"

_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER = _XERIAL_MAGIC + b"\x00\x00\x00\x01\x00\x00\x00\x01"
_XERIAL_BLOCK_BYTES = 32 * 1024
_BLOCK_SIZE = Struct(">I")


def compress_zstd(data: bytes, level: int) -> bytes:
    """Return a frame."""
    return bytes(cramjam.zstd.compress(data, level=level))


def compress_xerial(data: bytes) -> bytes:
    """Return the block format of snappy-java."""
    parts = [_XERIAL_HEADER]
    for start in range(0, len(data), _XERIAL_BLOCK_BYTES):
        block = bytes(cramjam.snappy.compress_raw(data[start : start + _XERIAL_BLOCK_BYTES]))
        parts.append(_BLOCK_SIZE.pack(len(block)))
        parts.append(block)
    return b"".join(parts)


def decompress_snappy(payload: memoryview, limit: int) -> bytes:
    """Return the content of the block format of snappy-java, or of one raw block; as compression.decompress."""
    parts: list[bytes] = []
    left = limit
    try:
        for block in _snappy_blocks(payload):
            left -= cramjam.snappy.decompress_raw_len(block)
            if left < 0:
                raise too_large(limit)
            parts.append(bytes(cramjam.snappy.decompress_raw(block)))
    except cramjam.DecompressionError as error:
        raise BrokenPayload(f"snappy: {error}") from None
    return b"".join(parts)


def _snappy_blocks(payload: memoryview) -> Iterator[bytes]:
    """Yield the raw snappy blocks of a payload."""
    if bytes(payload[: len(_XERIAL_MAGIC)]) != _XERIAL_MAGIC:
        yield bytes(payload)
        return
    position = len(_XERIAL_HEADER)
    if len(payload) < position:
        raise BrokenPayload(f"snappy: a header of {len(payload)} bytes")
    # As in snappy-java, fewer bytes than a block size end the stream without an error.
    while position + _BLOCK_SIZE.size <= len(payload):
        size: int = _BLOCK_SIZE.unpack_from(payload, position)[0]
        position += _BLOCK_SIZE.size
        if position + size > len(payload):
            raise BrokenPayload(f"snappy: a block of {size} bytes at byte {position} of {len(payload)}")
        yield bytes(payload[position : position + size])
        position += size


def compress_lz4(data: bytes, level: int) -> bytes:
    """Return a frame of independent blocks of 64 KiB without checksums."""
    compressor = cramjam.lz4.Compressor(level=level, content_checksum=False, block_linked=False)
    compressor.compress(data)
    return lz4_frame.without_block_checksums(memoryview(bytes(compressor.finish())))


def decompress_lz4(payload: memoryview, limit: int) -> bytes:
    """Return the content of a frame; as compression.decompress."""
    try:
        frame = lz4_frame.without_content_fields(payload)
    except ValueError as error:
        raise BrokenPayload(f"lz4: {error}") from None
    return _decompress_into_buffer("lz4", cramjam.lz4.decompress_into, frame, limit)


def decompress_zstd(payload: memoryview, limit: int) -> bytes:
    """Return the content of a frame; as compression.decompress."""
    compressed = bytes(payload)
    if not compressed:
        # As in Java, no frame is an empty stream.
        return b""
    return _decompress_into_buffer("zstd", cramjam.zstd.decompress_into, compressed, limit)


def _decompress_into_buffer(
    name: str, decompress_into: Callable[[bytes, bytearray], int], compressed: bytes, limit: int
) -> bytes:
    """Decompress into a buffer that grows until the content fits. name: the codec, for error messages."""
    buffer_size = min(max(_BUFFER_BYTES_FIRST, len(compressed) * _BUFFER_BYTES_PER_PAYLOAD_BYTE), limit)
    while True:
        buffer = bytearray(buffer_size)
        try:
            size = decompress_into(compressed, buffer)
            return bytes(memoryview(buffer)[:size])
        except cramjam.DecompressionError as error:
            if _BUFFER_TOO_SMALL not in str(error):
                raise BrokenPayload(f"{name}: {error}") from None
            if buffer_size == limit:
                raise too_large(limit) from None
            buffer_size = min(buffer_size * _BUFFER_GROWTH, limit)
