"""The codecs: round trips, payloads of other libraries, rejected payloads and memory limits."""

from __future__ import annotations

import gzip
import importlib
import io
import random
import tracemalloc
from typing import Any

import cramjam
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from fauxka.protocol.batches import compression
from fauxka.protocol.batches.compression import BrokenPayload, PayloadTooLarge
from fauxka.protocol.batches.record_batch import Compression

from ..run_counts import examples
from .kafka_python_records import codecs

# The module has no type information.
lz4_frame: Any = importlib.import_module("lz4.frame")

CODECS = [Compression.GZIP, Compression.SNAPPY, Compression.LZ4, Compression.ZSTD]
TEXT = b"".join(b"line %d of some text that repeats itself\n" % number for number in range(5000))


@given(st.binary(max_size=70_000), st.sampled_from(Compression))
@settings(derandomize=True, max_examples=examples(100), deadline=None)
def test_compressed_data_is_decompressed(data: bytes, codec: Compression) -> None:
    assert compression.decompress(codec, memoryview(compression.compress(codec, data))) == data


@pytest.mark.parametrize("codec", CODECS)
def test_text_of_many_blocks_is_compressed_and_decompressed(codec: Compression) -> None:
    payload = compression.compress(codec, TEXT)

    assert len(payload) < len(TEXT) // 2
    assert compression.decompress(codec, memoryview(payload)) == TEXT


@pytest.mark.parametrize(
    ("codec", "level"), [(Compression.GZIP, 1), (Compression.GZIP, 9), (Compression.LZ4, 17), (Compression.ZSTD, -5)]
)
def test_levels_change_the_size_and_not_the_content(codec: Compression, level: int) -> None:
    payload = compression.compress(codec, TEXT, level)

    assert payload != compression.compress(codec, TEXT)
    assert compression.decompress(codec, memoryview(payload)) == TEXT


@pytest.mark.parametrize(
    ("codec", "payload"),
    [
        (Compression.GZIP, codecs.gzip_encode(TEXT)),
        (Compression.GZIP, gzip.compress(TEXT[:100]) + gzip.compress(TEXT[100:])),
        (Compression.GZIP, gzip.compress(TEXT) + b"trailing bytes"),
        (Compression.SNAPPY, codecs.snappy_encode(TEXT)),
        (Compression.SNAPPY, codecs.snappy_encode(TEXT, xerial_compatible=False)),
        (Compression.LZ4, codecs.lz4_encode(TEXT)),
        (Compression.LZ4, lz4_frame.compress(TEXT, block_linked=False, content_checksum=True)),
        (Compression.ZSTD, bytes(cramjam.zstd.compress(TEXT, level=19))),
    ],
    ids=["gzip", "gzip members", "gzip and more", "xerial", "bare snappy", "lz4", "lz4 checksum", "zstd"],
)
def test_payloads_of_other_libraries_are_read(codec: Compression, payload: bytes) -> None:
    assert compression.decompress(codec, memoryview(payload)) == TEXT


def test_other_libraries_read_the_framing() -> None:
    assert codecs.snappy_decode(compression.compress(Compression.SNAPPY, TEXT)) == TEXT
    assert codecs.lz4_decode(compression.compress(Compression.LZ4, TEXT)) == TEXT


def test_lz4_blocks_are_independent() -> None:
    flags = compression.compress(Compression.LZ4, TEXT)[4]

    assert flags & 0b0010_0000


def test_linked_lz4_blocks_are_rejected() -> None:
    payload = lz4_frame.compress(TEXT, block_linked=True)

    with pytest.raises(BrokenPayload, match="linked"):
        compression.decompress(Compression.LZ4, memoryview(payload))


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("kept", [1, 5, 0.5, 0.99])
def test_payload_that_ends_early_is_broken(codec: Compression, kept: float) -> None:
    payload = compression.compress(codec, TEXT)
    cut = payload[: kept if isinstance(kept, int) else int(len(payload) * kept)]

    with pytest.raises(BrokenPayload):
        compression.decompress(codec, memoryview(cut))


def test_empty_payload_is_valid_for_zstd_only() -> None:
    assert compression.decompress(Compression.ZSTD, memoryview(b"")) == b""
    for codec in (Compression.GZIP, Compression.SNAPPY, Compression.LZ4):
        with pytest.raises(BrokenPayload):
            compression.decompress(codec, memoryview(b""))


def test_content_checksum_of_an_lz4_frame_is_ignored_and_block_checksums_are_verified() -> None:
    frame = lz4_frame.compress(TEXT, block_linked=False, content_checksum=True, block_checksum=True)
    wrong_content = frame[:-1] + bytes((frame[-1] ^ 1,))
    wrong_block = frame[:-10] + bytes((frame[-10] ^ 1,)) + frame[-9:]

    assert compression.decompress(Compression.LZ4, memoryview(wrong_content)) == TEXT
    with pytest.raises(BrokenPayload):
        compression.decompress(Compression.LZ4, memoryview(wrong_block))


def test_frame_ends_at_its_end_mark() -> None:
    frame = lz4_frame.compress(TEXT, block_linked=False)

    assert compression.decompress(Compression.LZ4, memoryview(frame + b"more")) == TEXT
    assert compression.decompress(Compression.LZ4, memoryview(frame + frame)) == TEXT


def test_size_of_the_content_of_an_lz4_frame_is_ignored() -> None:
    frame = bytearray(lz4_frame.compress(TEXT, block_linked=False, store_size=True))
    frame[6] ^= 1
    frame[14] = xxhash.xxh32_intdigest(bytes(frame[4:14])) >> 8 & 0xFF

    assert compression.decompress(Compression.LZ4, memoryview(bytes(frame))) == TEXT


def test_wrong_checksum_of_an_lz4_header_is_broken() -> None:
    frame = bytearray(lz4_frame.compress(TEXT, block_linked=False, store_size=False))
    frame[6] ^= 1

    with pytest.raises(BrokenPayload, match="checksum of the header"):
        compression.decompress(Compression.LZ4, memoryview(bytes(frame)))


@pytest.mark.parametrize("bits", [0x01, 0x02, 0x80], ids=["dictionary", "reserved", "version"])
def test_lz4_flags_that_kafka_rejects_are_broken(bits: int) -> None:
    frame = bytearray(lz4_frame.compress(TEXT, block_linked=False, store_size=False))
    frame[4] |= bits

    with pytest.raises(BrokenPayload, match="flags"):
        compression.decompress(Compression.LZ4, memoryview(bytes(frame)))


@pytest.mark.parametrize("level", [1, 3, 9, 17])
@pytest.mark.parametrize("data", [b"", b"tea", TEXT, random.Random(1).randbytes(200_000)], ids=len)
def test_lz4_frame_is_that_of_the_java_client(data: bytes, level: int) -> None:
    """Independent blocks of 64 KiB, no checksum and no size: the frame of liblz4 with these options."""
    options = {"block_size": lz4_frame.BLOCKSIZE_MAX64KB, "block_linked": False, "store_size": False}

    frame = compression.compress(Compression.LZ4, data, level)

    assert frame == lz4_frame.compress(data, compression_level=level, **options)


@given(st.binary(max_size=200), st.sampled_from(CODECS))
@settings(derandomize=True, max_examples=examples(200), deadline=None)
def test_any_bytes_are_decompressed_or_rejected(payload: bytes, codec: Compression) -> None:
    try:
        compression.decompress(codec, memoryview(payload), limit=10_000)
    except (BrokenPayload, PayloadTooLarge):
        return


@given(st.sampled_from(CODECS), st.data())
@settings(derandomize=True, max_examples=examples(200), deadline=None)
def test_damaged_payloads_are_decompressed_or_rejected(codec: Compression, choose: st.DataObject) -> None:
    damaged = bytearray(compression.compress(codec, TEXT[:3000]))
    damaged[choose.draw(st.integers(0, len(damaged) - 1))] ^= choose.draw(st.integers(1, 255))

    try:
        compression.decompress(codec, memoryview(bytes(damaged)), limit=100_000)
    except (BrokenPayload, PayloadTooLarge):
        return


@pytest.mark.parametrize("codec", CODECS)
def test_decompression_bomb_is_rejected_within_the_memory_limit(codec: Compression) -> None:
    limit = 2_000_000
    bomb = compression.compress(codec, bytes(50_000_000))

    tracemalloc.start()
    with pytest.raises(PayloadTooLarge, match="more than 2000000 bytes"):
        compression.decompress(codec, memoryview(bomb), limit)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 3 * limit + 2 * len(bomb)


@pytest.mark.parametrize("codec", CODECS)
def test_payload_of_exactly_the_limit_is_read(codec: Compression) -> None:
    payload = compression.compress(codec, TEXT)

    assert compression.decompress(codec, memoryview(payload), len(TEXT)) == TEXT
    with pytest.raises(PayloadTooLarge):
        compression.decompress(codec, memoryview(payload), len(TEXT) - 1)


def test_standard_library_reads_the_gzip_stream() -> None:
    assert gzip.GzipFile(fileobj=io.BytesIO(compression.compress(Compression.GZIP, TEXT))).read() == TEXT


@pytest.mark.parametrize("size", [0, 1, 4_095, 4_096, 4_097, 20_000, 300_000])
def test_gzip_streams_of_any_size_are_read_one_after_the_other(size: int) -> None:
    content = random.Random(size).randbytes(size)
    streams = gzip.compress(content) + gzip.compress(b"") + gzip.compress(content[::-1])

    assert compression.decompress(Compression.GZIP, memoryview(streams)) == content + content[::-1]
    with pytest.raises(compression.BrokenPayload, match="ends early"):
        compression.decompress(Compression.GZIP, memoryview(streams)[:-1])


def test_gzip_streams_are_limited_because_empty_ones_yield_no_bytes() -> None:
    empty = gzip.compress(b"")

    assert compression.decompress(Compression.GZIP, memoryview(empty * 10_000)) == b""
    with pytest.raises(compression.BrokenPayload, match="more than 10000 streams"):
        compression.decompress(Compression.GZIP, memoryview(empty * 1_000_000))
