"""Damage in a log: each damaged range is one row, and the batches around it are read."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fauxka.pipeline.decode.batch_table import read_batches
from fauxka.protocol.batches import records
from fauxka.protocol.batches.record_batch import Compression, parse_header, sealed_header
from fauxka.protocol.batches.records import BatchOptions, Record

from ..run_counts import examples
from .batch_strategies import log_files
from .plain_rows import Row, decoded, plain_records


def batch(base_offset: int, count: int = 2, codec: Compression = Compression.NONE) -> bytes:
    stored = [Record(f"value {base_offset + index}".encode(), b"k", 1_700_000_000_000) for index in range(count)]
    options = BatchOptions(base_offset=base_offset, compression=codec, producer_id=5, producer_epoch=0, base_sequence=0)
    return records.build_batch(stored, options)


def flipped(data: bytes, position: int) -> bytes:
    return data[:position] + bytes((data[position] ^ 1,)) + data[position + 1 :]


def damaged(rows: list[Row]) -> list[tuple[int | None, str]]:
    return [(row["offset"], row["damage"]) for row in rows if row["damage"] is not None]


def offsets(rows: list[Row]) -> list[int | None]:
    return [row["offset"] for row in rows]


def test_a_wrong_crc_is_one_row_in_its_place() -> None:
    log = batch(0) + flipped(batch(2), 70) + batch(4)

    rows = decoded(log, "records")

    assert offsets(rows) == [0, 1, 2, 4, 5]
    assert [row["valid_crc"] for row in rows] == [True, True, False, True, True]
    assert damaged(rows)[0][1].startswith("its CRC-32C is ")
    row = rows[2]
    assert (row["key"], row["value"], row["headers"], row["timestamp"], row["sequence"]) == (None,) * 5
    assert (row["producer_id"], row["base_sequence"], row["batch_base_offset"]) == (5, 0, 2)


def test_the_batches_view_reports_a_wrong_crc() -> None:
    log = batch(0) + flipped(batch(2), 70) + batch(4)

    rows = decoded(log, "batches")

    assert [(row["base_offset"], row["valid_crc"], row["damage"] is None) for row in rows] == [
        (0, True, True),
        (2, False, False),
        (4, True, True),
    ]


def test_batches_behind_a_torn_one_are_found() -> None:
    """A broker that trusts its clean shutdown marker appends behind the torn end."""
    log = batch(0) + batch(2)[:-9] + batch(4) + batch(6)

    rows = decoded(log, "records")

    assert offsets(rows) == [0, 1, 2, 4, 5, 6, 7]
    assert [offset for offset, _ in damaged(rows)] == [2]


def test_a_file_that_ends_within_a_batch_reports_the_missing_bytes() -> None:
    torn = batch(2)[:-9]

    rows = decoded(batch(0) + torn, "records")

    assert offsets(rows) == [0, 1, 2]
    assert damaged(rows) == [(2, f"cut off: {len(torn)} of {len(torn) + 9} bytes are there")]


def test_a_file_that_ends_within_a_header_is_reported() -> None:
    rows = decoded(batch(0) + batch(2)[:30], "records")

    assert damaged(rows) == [(None, "the last 30 bytes are no whole batch")]
    assert rows[-1]["producer_id"] is None
    assert rows[-1]["valid_crc"] is False


def test_zero_bytes_between_batches_are_one_row() -> None:
    log = batch(0) + bytes(1000) + batch(2)

    rows = decoded(log, "batches")

    assert [(row["base_offset"], row["batch_bytes"]) for row in rows] == [
        (0, len(batch(0))),
        (None, 1000),
        (2, len(batch(2))),
    ]
    assert rows[1]["damage"] == "no batch: its magic would be 0"


def test_a_message_of_an_old_format_is_named() -> None:
    old = bytes(8) + (30).to_bytes(4, "big") + bytes(4) + b"\x01" + bytes(100)

    rows = decoded(batch(0) + old[:42] + batch(2), "records")

    assert damaged(rows) == [(None, "a message of magic 1, the format before Kafka 0.11, with a wrong CRC or size")]
    assert offsets(rows) == [0, 1, None, 2, 3]


@pytest.mark.parametrize("codec", [codec for codec in Compression if codec])
def test_a_payload_that_its_codec_cannot_read_is_a_row(codec: Compression) -> None:
    header = parse_header(batch(2, codec=codec))
    broken = sealed_header(header, b"not compressed") + b"not compressed"

    rows = decoded(batch(0) + broken + batch(4, codec=codec), "records")

    assert offsets(rows) == [0, 1, 2, 4, 5]
    assert rows[2]["damage"].startswith("its records cannot be decompressed: ")
    assert rows[2]["valid_crc"] is True


def test_a_codec_that_does_not_exist_is_a_row() -> None:
    header = parse_header(batch(2)).replaced(attributes=6)
    payload = batch(2)[61:]

    rows = decoded(batch(0) + sealed_header(header, payload) + payload, "records")

    assert damaged(rows) == [(2, "no codec has the number 6")]
    assert rows[-1]["codec"] is None


@pytest.mark.parametrize(
    ("count", "words"), [(-1, "it says -1 records"), (2**31 - 1, "it says 2147483647 records and")]
)
def test_an_impossible_count_is_a_row(count: int, words: str) -> None:
    header = parse_header(batch(2)).replaced(records_count=count)
    payload = batch(2)[61:]

    rows = decoded(batch(0) + sealed_header(header, payload) + payload + batch(4), "records")

    assert offsets(rows) == [0, 1, 2, 4, 5]
    assert rows[2]["damage"].startswith(words)


@given(st.integers(0, 40), st.integers(0, 255), st.integers(0, 200))
@settings(max_examples=examples(100), deadline=None)
def test_a_changed_byte_under_a_right_crc_does_not_affect_other_batches(
    place: int, byte: int, batches_before: int
) -> None:
    """With many batches around it the damaged one is walked in lockstep, with few by the plain loop."""
    whole = batch(1000)
    payload = bytearray(whole[61:])
    payload[place % len(payload)] = byte
    broken = sealed_header(parse_header(whole), bytes(payload)) + payload
    before = b"".join(batch(2 * index) for index in range(batches_before))

    rows = decoded(before + broken + batch(2000), "records")

    others = [row for row in rows if row["batch_base_offset"] != 1000]
    assert others == plain_records(before + batch(2000))
    assert 1 <= len(rows) - len(others) <= 2


@given(log_files(batches_min=1), st.data())
@settings(max_examples=examples(60), deadline=None)
def test_damage_does_not_affect_other_batches(batches: list[bytes], data: st.DataObject) -> None:
    log = b"".join(batches)
    start = data.draw(st.integers(0, len(log) - 1))
    junk = data.draw(st.binary(max_size=300))
    end = data.draw(st.integers(start, min(len(log), start + 300)))
    base_offset = parse_header(log).base_offset

    rows = decoded(log[:start] + junk + log[end:], "batches", base_offset=base_offset)

    position = 0
    for stored in batches:
        if position + len(stored) <= start or position >= end:
            assert parse_header(stored).base_offset in [row["base_offset"] for row in rows if row["valid_crc"]]
        position += len(stored)


@given(st.binary(max_size=2000))
@settings(max_examples=examples(60), deadline=None)
def test_any_bytes_become_rows_that_cover_them(data: bytes) -> None:
    table = read_batches(memoryview(data))

    assert int(table.sizes.sum()) == len(data)
    decoded(data, "records")


def test_an_unfinished_batch_at_the_end_of_a_fetch_is_left_out() -> None:
    log = batch(0) + batch(2)

    whole_and_part = read_batches(memoryview(log)[:-5], may_be_cut_off=True)
    whole_and_header = read_batches(memoryview(log)[: len(batch(0)) + 20], may_be_cut_off=True)

    assert len(whole_and_part) == 1
    assert len(whole_and_header) == 1
    assert not whole_and_part.damage
