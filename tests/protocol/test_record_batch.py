"""The 61-byte batch header: fields, CRC, changed fields and sequences, with bytes from a real Kafka."""

from __future__ import annotations

import pytest
from crc32c import crc32c

from fauxka.protocol.batches import record_batch
from fauxka.protocol.batches.record_batch import HEADER_SIZE, HeaderFields, TimestampType
from fauxka.protocol.sequences import decrement_sequence, increment_sequence

from .batch_bytes import NOW_MS, batch, record

# Two records ("k0": "v0" with a header, "k1": null) from the log of a Kafka 4.3.0.
REAL = bytes.fromhex(
    "0000000000000000 00000049 00000000 02 73bca4f6 0000 00000001 0000018bcfe56800 0000018bcfe56805 ffffffffffffffff"
    "ffff ffffffff 00000002 1c000000046b300476300202680278 10000a02046b310100"
)


def test_header_of_a_real_batch_is_read_field_by_field() -> None:
    header = record_batch.parse_header(REAL)

    assert header.fields() == HeaderFields(
        base_offset=0,
        length=73,
        partition_leader_epoch=0,
        magic=2,
        crc=0x73BCA4F6,
        attributes=0,
        last_offset_delta=1,
        base_timestamp=1700000000000,
        max_timestamp=1700000000005,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        records_count=2,
    )
    assert (header.size, header.last_offset, header.last_sequence) == (len(REAL), 1, -1)


def test_header_is_read_in_the_middle_of_a_buffer() -> None:
    assert record_batch.parse_header(memoryview(b"xyz" + REAL), 3) == record_batch.parse_header(REAL)


def test_crc_matches_a_real_batch_and_not_a_changed_one() -> None:
    changed = bytearray(REAL)
    changed[-1] ^= 1

    assert record_batch.is_crc_right(memoryview(REAL), 0x73BCA4F6)
    assert not record_batch.is_crc_right(memoryview(changed), 0x73BCA4F6)


def test_sealed_header_has_the_real_bytes() -> None:
    header = record_batch.parse_header(REAL).replaced(length=0, crc=0)

    assert record_batch.sealed_header(header, REAL[HEADER_SIZE:]) == REAL[:HEADER_SIZE]


def test_prefix_has_offset_length_and_leader_epoch() -> None:
    assert record_batch.stamped_prefix(7, 73, 3) == bytes.fromhex("0000000000000007 00000049 00000003")


def test_rewritten_header_has_the_new_timestamp_and_its_crc() -> None:
    sent = batch(record(), max_timestamp=5)

    head = record_batch.rewritten_header(
        record_batch.parse_header(sent),
        sent[HEADER_SIZE:],
        base_offset=40,
        partition_leader_epoch=2,
        timestamp_type=TimestampType.LOG_APPEND_TIME,
        max_timestamp=NOW_MS + 9,
    )

    header = record_batch.parse_header(head)
    assert (header.base_offset, header.partition_leader_epoch, header.max_timestamp) == (40, 2, NOW_MS + 9)
    assert header.timestamp_type is TimestampType.LOG_APPEND_TIME
    assert header.base_timestamp == NOW_MS
    assert header.crc == crc32c(head[21:] + sent[HEADER_SIZE:])


def test_rewritten_header_keeps_the_known_attributes_only() -> None:
    sent = batch(record(), attributes=0b1111_1000)

    head = record_batch.rewritten_header(
        record_batch.parse_header(sent),
        sent[HEADER_SIZE:],
        base_offset=0,
        partition_leader_epoch=0,
        timestamp_type=TimestampType.CREATE_TIME,
        max_timestamp=NOW_MS,
    )

    assert record_batch.parse_header(head).attributes == 0b0111_0000


@pytest.mark.parametrize(
    ("sequence", "increment", "expected"),
    [(0, 0, 0), (5, 3, 8), (2147483647, 1, 0), (2147483646, 5, 3), (2147483647, 2147483647, 2147483646)],
)
def test_sequence_after_the_greatest_is_zero(sequence: int, increment: int, expected: int) -> None:
    assert increment_sequence(sequence, increment) == expected
    assert decrement_sequence(expected, increment) == sequence


def test_last_sequence_of_a_batch_that_wraps() -> None:
    header = record_batch.parse_header(batch(count=3, producer_id=1, producer_epoch=0, base_sequence=2147483646))

    assert header.last_sequence == 0
