"""The codecs of a batch's records, as Kafka frames them; each library is loaded when its codec is first met.

gzip is one stream; snappy is the blocks of xerial's snappy-java, and a bare snappy block is read too; lz4 is a frame of
independent blocks (Kafka refuses linked ones); zstd is a frame.
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

# The most that a payload may become. A batch reaches a broker within a request, and a request has at most 100 MiB
# (socket.request.max.bytes): records that no request could have carried plain are not taken compressed either. Kafka
# has no such bound, because it never holds the records of a batch at once; we do.
DECOMPRESSED_BYTES_MAX = 100 * 1024 * 1024

# zstd does not say how large its content is, so room is made in steps: this, or so many times the payload, then four
# times as much until it fits.
_ROOM_BYTES_FIRST = 64 * 1024
_ROOM_PER_PAYLOAD_BYTE = 8
_ROOM_GROWTH = 4
# What cramjam says when the room was too small.
_ROOM_TOO_SMALL = "whole buffer"

# zlib's window for a gzip stream: 15 bits and 16 for the wrapper.
_GZIP_WINDOW = 31

_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER = _XERIAL_MAGIC + b"\x00\x00\x00\x01\x00\x00\x00\x01"
_XERIAL_BLOCK_BYTES = 32 * 1024
_BLOCK_SIZE = Struct(">I")

_LZ4_MAGIC = b"\x04\x22\x4d\x18"
_LZ4_FLAGS_POSITION = 4
_LZ4_INDEPENDENT_BIT = 0x20
# What the library says of it, in the name of its error.
_LZ4_CONTENT_CHECKSUM_WRONG = "contentChecksum"


class _Lz4Stream(Protocol):
    @property
    def eof(self) -> bool: ...

    def decompress(self, data: memoryview, max_length: int) -> bytes: ...


class _Lz4Frame(Protocol):
    """What is used of the module lz4.frame, which comes without types."""

    BLOCKSIZE_MAX64KB: int

    def compress(
        self, data: bytes, *, compression_level: int, block_size: int, block_linked: bool, store_size: bool
    ) -> bytes: ...

    def LZ4FrameDecompressor(self) -> _Lz4Stream: ...


def _load_lz4_frame() -> _Lz4Frame:
    return cast(_Lz4Frame, import_module("lz4.frame"))


class BrokenPayload(Exception):
    """The payload is not what its codec says."""


class PayloadTooLarge(Exception):
    """The payload becomes larger than DECOMPRESSED_BYTES_MAX."""


def compress(codec: Compression, data: bytes, level: int | None = None) -> bytes:
    """Return data in the codec's framing; data itself for NONE.

    level: as the codec counts; None is Kafka's default. snappy has no levels.
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
    """Return what the payload holds; never more than limit bytes are made of it.

    Raises BrokenPayload, PayloadTooLarge.
    """
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
    """Read one gzip stream after another; what follows the last one and is none is ignored, as Java does."""
    parts: list[bytes] = []
    rest = bytes(payload)
    while not parts or rest.startswith(b"\x1f\x8b"):
        stream = zlib.decompressobj(_GZIP_WINDOW)
        try:
            part = stream.decompress(rest, limit + 1)
        except zlib.error as error:
            raise BrokenPayload(f"gzip: {error}") from None
        limit -= len(part)
        if limit < 0:
            raise _too_large(limit + sum(map(len, parts)) + len(part))
        if not stream.eof:
            raise BrokenPayload("gzip: the stream ends early")
        parts.append(part)
        rest = stream.unused_data
    return b"".join(parts)


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
    """Yield the bare snappy blocks of a payload, xerial's or a bare block itself."""
    if bytes(payload[: len(_XERIAL_MAGIC)]) != _XERIAL_MAGIC:
        yield bytes(payload)
        return
    position = len(_XERIAL_HEADER)
    if len(payload) < position:
        raise BrokenPayload(f"snappy: a header of {len(payload)} bytes")
    # Fewer bytes than a block size has are the end of the stream for the Java library, and no error.
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
        # Kafka does not look at the checksum of the content; without its four bytes the library does not either.
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
        # An empty stream, as Java reads it: no frame is no error.
        return b""
    room_size = min(max(_ROOM_BYTES_FIRST, len(compressed) * _ROOM_PER_PAYLOAD_BYTE), limit)
    while True:
        room = bytearray(room_size)
        try:
            size = cramjam.zstd.decompress_into(compressed, room)
            return bytes(memoryview(room)[:size])
        except cramjam.DecompressionError as error:
            if _ROOM_TOO_SMALL not in str(error):
                raise BrokenPayload(f"zstd: {error}") from None
            if room_size == limit:
                raise _too_large(limit) from None
            room_size = min(room_size * _ROOM_GROWTH, limit)
