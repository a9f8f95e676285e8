"""Transaction markers: the bytes of a real Kafka, and other contents of a control batch."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fauxka.protocol.batches.control_records import EndTransactionMarker, build_marker_batch, decode_marker
from fauxka.protocol.batches.record_batch import PREFIX_SIZE, is_crc_right, parse_header, stamped_prefix

from .batch_bytes import batch, record

# Attributes of a marker: transactional and control.
MARKER = 0x30

# demo-0 of tests/golden/kafka-4.3.0-data-dir, offset 6.
COMMIT = bytes.fromhex(
    "0000000000000006 00000042 00000000 02 534d1d01 0030 00000000 000001a1fcc47d8e 000001a1fcc47d8e"
    "0000000000000000 0001 ffffffff 00000001 20 00 00 00 08 00000001 0c 000000000000 00"
)


def marker_in(data: bytes) -> EndTransactionMarker | None:
    return decode_marker(parse_header(data), memoryview(data))


def control_batch(key: bytes | None, value: bytes | None) -> bytes:
    return batch(record(value, key), attributes=MARKER, producer_id=7, producer_epoch=1)


def test_marker_of_a_real_kafka_is_read() -> None:
    assert marker_in(COMMIT) == EndTransactionMarker(is_commit=True, coordinator_epoch=0)


def test_marker_is_built_as_kafka_builds_it() -> None:
    built = build_marker_batch(
        EndTransactionMarker(is_commit=True, coordinator_epoch=0),
        producer_id=0,
        producer_epoch=1,
        timestamp=0x1A1FCC47D8E,
    )

    assert stamped_prefix(6, 66, 0) + built[PREFIX_SIZE:] == COMMIT


@pytest.mark.parametrize("is_commit", [True, False])
def test_built_marker_is_decoded(is_commit: bool) -> None:
    marker = EndTransactionMarker(is_commit, coordinator_epoch=2**31 - 1)

    built = build_marker_batch(marker, producer_id=2**62, producer_epoch=32767, timestamp=5)

    header = parse_header(built)
    assert is_crc_right(memoryview(built), header.crc)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (2**62, 32767, -1)
    assert marker_in(built) == marker


def test_later_versions_with_more_bytes_are_read_as_version_0() -> None:
    data = control_batch(bytes.fromhex("00010000ff"), bytes.fromhex("000100000009ff"))

    assert marker_in(data) == EndTransactionMarker(is_commit=False, coordinator_epoch=9)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("00000002", "000000000000"),
        ("0000ffff", "000000000000"),
        ("ffff0001", "000000000000"),
        ("00000001", "ffff00000000"),
        ("000000", "000000000000"),
        ("00000001", "0000000000"),
        ("00000001", None),
        (None, "000000000000"),
    ],
    ids=[
        "leader change",
        "unknown type",
        "negative key version",
        "negative value version",
        "short key",
        "short value",
        "no value",
        "no key",
    ],
)
def test_record_of_another_type_is_not_a_marker(key: str | None, value: str | None) -> None:
    data = control_batch(None if key is None else bytes.fromhex(key), None if value is None else bytes.fromhex(value))

    assert marker_in(data) is None


def test_batch_without_records_has_no_marker() -> None:
    emptied = batch(b"", count=0, last_offset_delta=0, attributes=MARKER, producer_id=7, producer_epoch=1)

    assert marker_in(emptied) is None


def test_batch_of_data_records_has_no_marker() -> None:
    data = batch(record(bytes(6), bytes.fromhex("00000001")), attributes=0x10, producer_id=7, producer_epoch=1)

    assert marker_in(data) is None


@given(st.binary(max_size=40), st.integers(0, 0xFF))
def test_any_bytes_give_a_marker_or_none(payload: bytes, attributes: int) -> None:
    data = batch(payload, attributes=attributes | MARKER)

    assert isinstance(marker_in(data), EndTransactionMarker | None)


@pytest.mark.parametrize("size", range(61, len(COMMIT) - 1))
def test_truncated_marker_is_not_a_marker(size: int) -> None:
    cut = COMMIT[:size]

    assert decode_marker(parse_header(cut), cut) is None
