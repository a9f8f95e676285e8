"""Compression of a batch's records in Kafka's framing. The library of a codec is loaded on its first use.

gzip is one stream. snappy is the block format of snappy-java (xerial); a single raw snappy block is also read. lz4 is a
frame of independent blocks, because Kafka rejects linked ones. zstd is a frame.
Source: org.apache.kafka.common.compress, Kafka 4.3.0.
"""

from __future__ import annotations

import zlib
from importlib import import_module
from struct import Struct
from typing import TYPE_CHECKING, Protocol, cast

from .record_batch import Compression

if TYPE_CHECKING:
    from collections.abc import Iterator

# The limit of decompressed records: the size of the largest request (socket.request.max.bytes). Kafka has no such
# limit, because it never has all records of a batch in memory.
DECOMPRESSED_BYTES_MAX = 100 * 1024 * 1024

# A zstd frame may not have the size of its content. The output buffer has the larger of these two sizes first, then
# four times as much until the content fits.
_BUFFER_BYTES_FIRST = 64 * 1024
_BUFFER_BYTES_PER_PAYLOAD_BYTE = 8
_BUFFER_GROWTH = 4
# Part of cramjam's error message for a buffer that is too small.
_BUFFER_TOO_SMALL = "whole buffer"

# zlib's window for a gzip stream: 15 bits and 16 for the wrapper.
_GZIP_WINDOW = 31
_GZIP_MAGIC = b"\x1f\x8b"
# Adjacent streams in one payload. Clients write one; each of many empty streams takes time and yields no bytes.
_GZIP_STREAMS_MAX = 10_000
# The first bytes that zlib is given of a stream; twice as many each time.
_GZIP_PIECE_BYTES_FIRST = 4096

_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER = _XERIAL_MAGIC + b"\x00\x00\x00\x01\x00\x00\x00\x01"
_XERIAL_BLOCK_BYTES = 32 * 1024
_BLOCK_SIZE = Struct(">I")

_LZ4_MAGIC = b"\x04\x22\x4d\x18"
_LZ4_FLAGS_POSITION = 4
_LZ4_INDEPENDENT_BIT = 0x20
# Part of the library's error message for a wrong checksum of the content.
_LZ4_CONTENT_CHECKSUM_WRONG = "contentChecksum"


class _Lz4Stream(Protocol):
    @property
    def eof(self) -> bool: ...

    def decompress(self, data: memoryview, max_length: int) -> bytes: ...


class _Lz4Frame(Protocol):
    """The used part of the module lz4.frame, which has no type information."""

    BLOCKSIZE_MAX64KB: int

    def compress(
        self, data: bytes, *, compression_level: int, block_size: int, block_linked: bool, store_size: bool
    ) -> bytes: ...

    def LZ4FrameDecompressor(self) -> _Lz4Stream: ...


def _load_lz4_frame() -> _Lz4Frame:
    return cast(_Lz4Frame, import_module("lz4.frame"))


class BrokenPayload(Exception):
    """The payload is not valid for its codec."""


class PayloadTooLarge(Exception):
    """The decompressed payload is larger than the limit."""


def compress(codec: Compression, data: bytes, level: int | None = None) -> bytes:
    """Return the compressed data; data itself for NONE.

    level: the compression level of the codec; None for Kafka's default. snappy has no levels.
    """
    if codec is Compression.NONE:
        return data
    if codec is Compression.GZIP:
        return zlib.compress(data, -1 if level is None else level, _GZIP_WINDOW)
    if codec is Compression.SNAPPY:
        return _compress_xerial(data)
    if codec is Compression.LZ4:
        # Blocks of 64 KiB without checksums, as the Java client writes them; level 9 is Kafka's default.
        lz4_frame = _load_lz4_frame()
        return lz4_frame.compress(
            data,
            compression_level=9 if level is None else level,
            block_size=lz4_frame.BLOCKSIZE_MAX64KB,
            block_linked=False,
            store_size=False,
        )
    import cramjam

    return bytes(cramjam.zstd.compress(data, level=3 if level is None else level))


def decompress(codec: Compression, payload: memoryview, limit: int = DECOMPRESSED_BYTES_MAX) -> bytes:
    """Return the decompressed payload. Raises BrokenPayload; PayloadTooLarge if it has more than limit bytes."""
    if codec is Compression.NONE:
        return bytes(payload)
    if codec is Compression.GZIP:
        return _decompress_gzip(payload, limit)
    if codec is Compression.SNAPPY:
        return _decompress_snappy(payload, limit)
    if codec is Compression.LZ4:
        return _decompress_lz4(payload, limit)
    return _decompress_zstd(payload, limit)


def _too_large(limit: int) -> PayloadTooLarge:
    return PayloadTooLarge(f"the records have more than {limit} bytes when they are decompressed")


def _decompress_gzip(payload: memoryview, limit: int) -> bytes:
    """Read all adjacent gzip streams. Bytes after the last one are ignored, as in Java."""
    parts: list[bytes] = []
    left = limit
    for _ in range(_GZIP_STREAMS_MAX):
        read, part = _decompress_gzip_stream(payload, left)
        left -= len(part)
        if left < 0:
            raise _too_large(limit)
        parts.append(part)
        payload = payload[read:]
        if bytes(payload[: len(_GZIP_MAGIC)]) != _GZIP_MAGIC:
            return b"".join(parts)
    raise BrokenPayload(f"gzip: more than {_GZIP_STREAMS_MAX} streams")


def _decompress_gzip_stream(payload: memoryview, limit: int) -> tuple[int, bytes]:
    """Return the size of the stream at the start of payload, and its content, cut after limit + 1 bytes.

    zlib copies what follows the stream in the bytes it is given. So it is given pieces that begin small.
    """
    stream = zlib.decompressobj(_GZIP_WINDOW)
    parts: list[bytes] = []
    position, size, left = 0, _GZIP_PIECE_BYTES_FIRST, limit + 1
    try:
        while not stream.eof and left > 0 and position < len(payload):
            piece = payload[position : position + size]
            part = stream.decompress(piece, left)
            left -= len(part)
            parts.append(part)
            position += len(piece)
            size *= 2
    except zlib.error as error:
        raise BrokenPayload(f"gzip: {error}") from None
    if not stream.eof and left > 0:
        raise BrokenPayload("gzip: the stream ends early")
    return position - len(stream.unused_data), b"".join(parts)


def _compress_xerial(data: bytes) -> bytes:
    import cramjam

    parts = [_XERIAL_HEADER]
    for start in range(0, len(data), _XERIAL_BLOCK_BYTES):
        block = bytes(cramjam.snappy.compress_raw(data[start : start + _XERIAL_BLOCK_BYTES]))
        parts.append(_BLOCK_SIZE.pack(len(block)))
        parts.append(block)
    return b"".join(parts)


def _decompress_snappy(payload: memoryview, limit: int) -> bytes:
    import cramjam

    parts: list[bytes] = []
    left = limit
    try:
        for block in _snappy_blocks(payload):
            left -= cramjam.snappy.decompress_raw_len(block)
            if left < 0:
                raise _too_large(limit)
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


def _decompress_lz4(payload: memoryview, limit: int) -> bytes:
    if bytes(payload[: len(_LZ4_MAGIC)]) != _LZ4_MAGIC or len(payload) <= _LZ4_FLAGS_POSITION:
        raise BrokenPayload("lz4: not a frame")
    if not payload[_LZ4_FLAGS_POSITION] & _LZ4_INDEPENDENT_BIT:
        raise BrokenPayload("lz4: the blocks of the frame are linked")
    stream = _load_lz4_frame().LZ4FrameDecompressor()
    try:
        data = stream.decompress(payload, limit + 1)
        is_whole = stream.eof
    except RuntimeError as error:
        if _LZ4_CONTENT_CHECKSUM_WRONG not in str(error):
            raise BrokenPayload(f"lz4: {error}") from None
        # Kafka ignores the checksum of the content. Without its four bytes the library ignores it too.
        data = _load_lz4_frame().LZ4FrameDecompressor().decompress(payload[:-4], limit + 1)
        is_whole = True
    if len(data) > limit:
        raise _too_large(limit)
    if not is_whole:
        raise BrokenPayload("lz4: the frame ends early")
    return data


def _decompress_zstd(payload: memoryview, limit: int) -> bytes:
    import cramjam

    compressed = bytes(payload)
    if not compressed:
        # As in Java, no frame is an empty stream.
        return b""
    buffer_size = min(max(_BUFFER_BYTES_FIRST, len(compressed) * _BUFFER_BYTES_PER_PAYLOAD_BYTE), limit)
    while True:
        buffer = bytearray(buffer_size)
        try:
            size = cramjam.zstd.decompress_into(compressed, buffer)
            return bytes(memoryview(buffer)[:size])
        except cramjam.DecompressionError as error:
            if _BUFFER_TOO_SMALL not in str(error):
                raise BrokenPayload(f"zstd: {error}") from None
            if buffer_size == limit:
                raise _too_large(limit) from None
            buffer_size = min(buffer_size * _BUFFER_GROWTH, limit)
