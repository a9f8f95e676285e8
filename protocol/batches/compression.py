"""Compression of a batch's records in Kafka's framing. The codecs of a library (cramjam_codecs.py) load on first use.

gzip is one stream. snappy is the block format of snappy-java (xerial); a single raw snappy block is also read. lz4 is a
frame of independent blocks, because Kafka rejects linked ones. zstd is a frame.
Source: org.apache.kafka.common.compress, Kafka 4.3.0.
"""

from __future__ import annotations

import zlib

from .. import batches
from .payload_errors import BrokenPayload as BrokenPayload
from .payload_errors import PayloadTooLarge as PayloadTooLarge
from .payload_errors import too_large
from .record_batch import Compression

# The limit of decompressed records: the size of the largest request (socket.request.max.bytes). Kafka has no such
# limit, because it never has all records of a batch in memory.
DECOMPRESSED_BYTES_MAX = 100 * 1024 * 1024

# zlib's window for a gzip stream: 15 bits and 16 for the wrapper.
_GZIP_WINDOW = 31
_GZIP_MAGIC = b"\x1f\x8b"
# Adjacent streams in one payload. Clients write one; each of many empty streams takes time and yields no bytes.
_GZIP_STREAMS_MAX = 10_000
# The first bytes that zlib is given of a stream; twice as many each time.
_GZIP_PIECE_BYTES_FIRST = 4096


def compress(codec: Compression, data: bytes, level: int | None = None) -> bytes:
    """Return the compressed data; data itself for NONE.

    level: the compression level of the codec; None for Kafka's default. snappy has no levels.
    """
    if codec is Compression.NONE:
        return data
    if codec is Compression.GZIP:
        return zlib.compress(data, -1 if level is None else level, _GZIP_WINDOW)
    if codec is Compression.SNAPPY:
        return batches.cramjam_codecs.compress_xerial(data)
    if codec is Compression.LZ4:
        # Level 9 is Kafka's default.
        return batches.cramjam_codecs.compress_lz4(data, 9 if level is None else level)
    return batches.cramjam_codecs.compress_zstd(data, 3 if level is None else level)


def decompress(codec: Compression, payload: memoryview, limit: int = DECOMPRESSED_BYTES_MAX) -> bytes:
    """Return the decompressed payload. Raises BrokenPayload; PayloadTooLarge if it has more than limit bytes."""
    if codec is Compression.NONE:
        return bytes(payload)
    if codec is Compression.GZIP:
        return _decompress_gzip(payload, limit)
    if codec is Compression.SNAPPY:
        return batches.cramjam_codecs.decompress_snappy(payload, limit)
    if codec is Compression.LZ4:
        return batches.cramjam_codecs.decompress_lz4(payload, limit)
    return batches.cramjam_codecs.decompress_zstd(payload, limit)


def _decompress_gzip(payload: memoryview, limit: int) -> bytes:
    """Read all adjacent gzip streams. Bytes after the last one are ignored, as in Java."""
    parts: list[bytes] = []
    left = limit
    for _ in range(_GZIP_STREAMS_MAX):
        read, part = _decompress_gzip_stream(payload, left)
        left -= len(part)
        if left < 0:
            raise too_large(limit)
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
