"""Producer snapshots: a real Kafka's encoded and decoded, and damage at every bit and length."""

from __future__ import annotations

import struct

import pytest
from crc32c import crc32c
from hypothesis import given
from hypothesis import strategies as st

from fauxka.storage.corrupt_file import CorruptFileError
from fauxka.storage.producers.producer_snapshot import decode_snapshot, encode_snapshot
from fauxka.storage.producers.producer_state_entry import CachedBatch, ProducerStateEntry

from .kafka_folder import damaged_bit, kafka_bytes, kafka_files

SNAPSHOTS = kafka_files("*.snapshot")
FOUR_PRODUCERS = "demo-0/00000000000000000015.snapshot"


@pytest.mark.parametrize("path", SNAPSHOTS)
def test_snapshot_of_a_real_kafka_is_encoded_byte_for_byte(path: str) -> None:
    data = kafka_bytes(path)

    assert encode_snapshot(decode_snapshot(data)) == data


def test_snapshot_without_producers_is_that_of_a_real_kafka() -> None:
    assert encode_snapshot([]) == bytes.fromhex("0001 48674bc7 00000000")


def test_snapshot_of_a_real_kafka_is_decoded() -> None:
    assert decode_snapshot(kafka_bytes(FOUR_PRODUCERS)) == [
        ProducerStateEntry(0, 2, (), 0x1A1FCC47EBE, (0, None)),
        ProducerStateEntry(1, 0, (CachedBatch(0, 0, 9, 9, 0x1A1FCC47B28),), 0x1A1FCC47B28, (-1, 9)),
        ProducerStateEntry(1000, 0, (CachedBatch(3, 4, 10, 11, 0x1A1FCC47B32),), 0x1A1FCC47B32),
        ProducerStateEntry(1001, 3, (CachedBatch(2, 2, 14, 14, 0x1A1FCC64FD5),), 0x1A1FCC64FD5),
    ]


def test_of_several_batches_only_the_newest_is_kept() -> None:
    older, newest = CachedBatch(0, 4, 10, 14, 1), CachedBatch(5, 6, 20, 21, 2)

    (entry,) = decode_snapshot(encode_snapshot([ProducerStateEntry(7, 3, (older, newest), 2)]))

    assert entry == ProducerStateEntry(7, 3, (newest,), 2)


def test_newest_batch_gets_the_timestamp_of_a_later_marker() -> None:
    before = ProducerStateEntry(7, 3, (CachedBatch(5, 6, 20, 21, 100),), 200, (4, None))

    (entry,) = decode_snapshot(encode_snapshot([before]))

    assert (entry.last_timestamp, entry.batches) == (200, (CachedBatch(5, 6, 20, 21, 200),))


def test_sequences_that_wrapped_within_a_batch_are_decoded_as_encoded() -> None:
    wrapped = CachedBatch(2**31 - 2, 1, 100, 103, 5)

    (entry,) = decode_snapshot(encode_snapshot([ProducerStateEntry(7, 0, (wrapped,), 5)]))

    assert entry.batches == (wrapped,)


@st.composite
def entries(draw: st.DrawFn) -> ProducerStateEntry:
    timestamp = draw(st.integers(-1, 2**63 - 1))
    batches: tuple[CachedBatch, ...] = ()
    if draw(st.booleans()):
        offset_delta, base_offset = draw(st.integers(0, 2**31 - 1)), draw(st.integers(0, 2**62))
        last_sequence = draw(st.integers(0, 2**31 - 1))
        base_sequence = (last_sequence - offset_delta) % 2**31
        batches = (CachedBatch(base_sequence, last_sequence, base_offset, base_offset + offset_delta, timestamp),)
    return ProducerStateEntry(
        draw(st.integers(0, 2**63 - 1)),
        draw(st.integers(-1, 2**15 - 1)),
        batches,
        timestamp,
        (draw(st.integers(-1, 2**31 - 1)), draw(st.none() | st.integers(0, 2**63 - 1))),
    )


@given(st.lists(entries(), max_size=5))
def test_producers_are_decoded_as_encoded(producers: list[ProducerStateEntry]) -> None:
    assert decode_snapshot(encode_snapshot(iter(producers))) == producers


@pytest.mark.parametrize("path", SNAPSHOTS)
def test_snapshot_with_a_flipped_bit_is_refused(path: str) -> None:
    data = kafka_bytes(path)

    taken = [bit for bit in range(8 * len(data)) if is_taken(damaged_bit(data, bit))]

    assert taken == []


@pytest.mark.parametrize("path", SNAPSHOTS)
def test_truncated_snapshot_is_refused(path: str) -> None:
    data = kafka_bytes(path)

    assert [size for size in range(len(data)) if is_taken(data[:size])] == []


def test_snapshot_with_trailing_bytes_is_refused() -> None:
    assert not is_taken(kafka_bytes(FOUR_PRODUCERS) + bytes(46))


def is_taken(data: bytes) -> bool:
    try:
        decode_snapshot(data)
    except CorruptFileError:
        return False
    return True


def sealed(version: int, count: int, entries: bytes) -> bytes:
    checked = struct.pack(">i", count) + entries
    return struct.pack(">hI", version, crc32c(checked)) + checked


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "expected at least 10 bytes, found 0"),
        (sealed(0, 0, b""), "expected version 1, found 0"),
        (sealed(2, 0, b""), "expected version 1, found 2"),
        (sealed(1, 1, b""), "10 bytes do not match 1 producers"),
        (sealed(1, -1, b""), "10 bytes do not match -1 producers"),
        (sealed(1, 0, bytes(46)), "56 bytes do not match 0 producers"),
        (sealed(1, 2**31 - 1, bytes(46)), "56 bytes do not match 2147483647 producers"),
        (bytes.fromhex("0001 48674bc8 00000000"), "CRC is 48674bc8, its bytes have 48674bc7"),
    ],
)
def test_refusal_names_the_fault(data: bytes, words: str) -> None:
    with pytest.raises(CorruptFileError, match=words):
        decode_snapshot(data)


@given(st.binary(max_size=120))
def test_any_bytes_with_a_correct_checksum_are_decoded_or_refused(content: bytes) -> None:
    is_whole = len(content) % 46 == 0

    assert is_taken(sealed(1, len(content) // 46, content)) == is_whole
