"""Validation of a batch's records, compared with a slow model of Kafka's rules."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fauxka.protocol.batches.record_validation import InvalidRecords, OverlongRecordLength, summarize_records

from ..run_counts import examples
from .batch_bytes import record, records, unsigned, zigzag
from .record_validation_model import Invalid, ModelSummary, Uncaught, summary_of

DETERMINISTIC = settings(derandomize=True, max_examples=examples(200), deadline=None)

sizes = st.sampled_from([0, 1, 5, 63, 64, 100, 8191, 8192, 9000])
contents = st.none() | sizes.map(bytes)
deltas = st.integers(-70, 70) | st.sampled_from([-(2**63), -8193, -8192, -65, 8191, 8192, 2**31, 2**63 - 1])


@st.composite
def shapes(draw: st.DrawFn) -> list[bytes]:
    """Draw rows of records of one shape, some of them long, with single records of any shape between them."""
    drawn: list[bytes] = []
    for _ in range(draw(st.integers(1, 4))):
        count = draw(st.sampled_from([1, 2, 11, 12, 13, 40, 70, 140]))
        value, key = draw(contents), draw(contents)
        headers = draw(st.sampled_from([(), ((b"h", b"x"),), ((b"name", None), (b"", b"y" * 70))]))
        if count > 2 and (len(value or b"") > 100 or len(key or b"") > 100):
            count = 2
        for _ in range(count):
            index = len(drawn)
            offset = index if draw(st.integers(0, 60)) else draw(st.integers(-2, 20000))
            delta = draw(deltas) if not draw(st.integers(0, 9)) else 3
            drawn.append(record(value, key, offset_delta=offset, timestamp_delta=delta, headers=headers))
    return drawn


def no_pause() -> None:
    """What takes no longer than a piece does not pause."""


def found(data: bytes, count: int, *, are_lengths_checked: bool) -> ModelSummary | type[Exception]:
    try:
        summary = summarize_records(data, 0, count, are_lengths_checked, no_pause)
    except InvalidRecords:
        return Invalid
    except OverlongRecordLength:
        return Uncaught
    return ModelSummary(
        summary.least_timestamp_delta,
        summary.greatest_timestamp_delta,
        summary.are_offsets_in_order,
        summary.are_keys_present,
    )


def expected(data: bytes, count: int, *, are_lengths_checked: bool) -> ModelSummary | type[Exception]:
    try:
        return summary_of(data, count, are_lengths_checked=are_lengths_checked)
    except (Invalid, Uncaught) as error:
        return type(error)


@given(shapes(), st.booleans())
@DETERMINISTIC
def test_valid_records_have_the_summary_of_the_model(drawn: list[bytes], are_lengths_checked: bool) -> None:
    data, count = b"".join(drawn), len(drawn)

    summary = found(data, count, are_lengths_checked=are_lengths_checked)

    assert isinstance(summary, ModelSummary)
    assert summary == expected(data, count, are_lengths_checked=are_lengths_checked)


@given(shapes(), st.booleans(), st.data())
@DETERMINISTIC
def test_damaged_records_have_the_result_of_the_model(
    drawn: list[bytes], are_lengths_checked: bool, choose: st.DataObject
) -> None:
    damaged = bytearray(b"".join(drawn))
    for _ in range(choose.draw(st.integers(1, 3))):
        # Mostly near the start of a record, where its sizes are.
        at = len(b"".join(drawn[: choose.draw(st.integers(0, len(drawn) - 1))])) + choose.draw(st.integers(0, 8))
        damaged[min(at, len(damaged) - 1)] = choose.draw(st.integers(0, 255))
    count = len(drawn) + choose.draw(st.sampled_from([0, 0, 0, -1, 1]))

    answer = found(bytes(damaged), max(count, 1), are_lengths_checked=are_lengths_checked)

    assert answer == expected(bytes(damaged), max(count, 1), are_lengths_checked=are_lengths_checked)


@st.composite
def damaged_rows(draw: st.DrawFn) -> tuple[bytes, int]:
    """Draw a row of records of one shape, with a few bytes changed in one, some or all of them."""
    value = draw(st.sampled_from([None, b"", b"v", bytes(54), bytes(63), bytes(64), bytes(92)]))
    key = draw(st.sampled_from([None, b"", b"key", bytes(63)]))
    count = draw(st.integers(12, 30) | st.integers(60, 150))
    row = [bytearray(record(value, key, offset_delta=index, timestamp_delta=5)) for index in range(count)]
    for _ in range(draw(st.integers(1, 2))):
        # Counted from the start or the end: the positions of the sizes and of the header count.
        at = draw(st.integers(0, 7) | st.integers(-2, -1) | st.just(5 + len(key or b"")) | st.just(6 + len(key or b"")))
        change = draw(st.sampled_from([1, 2, 128, 130, 255, 3]))
        first = draw(st.just(0) | st.integers(0, count - 1))
        for each in row[first : draw(st.sampled_from([first + 1, first + 2, count]))] if first else row:
            if -len(each) <= at < len(each):
                each[at] ^= change
    return b"".join(bytes(each) for each in row), count


@given(damaged_rows(), st.booleans())
@settings(DETERMINISTIC, max_examples=examples(400))
def test_damaged_rows_have_the_result_of_the_model(drawn: tuple[bytes, int], are_lengths_checked: bool) -> None:
    data, count = drawn

    answer = found(data, count, are_lengths_checked=are_lengths_checked)

    assert answer == expected(data, count, are_lengths_checked=are_lengths_checked)


@pytest.mark.parametrize("value", [None, b"v", bytes(64)], ids=["null", "small", "two-byte size"])
@pytest.mark.parametrize("key", [None, b"key"], ids=["no key", "key"])
@pytest.mark.parametrize("are_all_changed", [False, True], ids=["one record", "all records"])
def test_every_changed_byte_of_a_row_is_found(value: bytes | None, key: bytes | None, are_all_changed: bool) -> None:
    rows = [record(value, key, offset_delta=index, timestamp_delta=5) for index in range(90)]
    size = min(len(each) for each in rows)
    changes = [(at, change) for at in range(-3, min(size, 13)) for change in (1, 2, 128)]
    missed: list[tuple[int, int, int]] = []

    for index in (0, 1, 40, 64, 75, 89):
        for at, change in changes:
            changed = [bytearray(each) for each in rows]
            for each in changed if are_all_changed else changed[index : index + 1]:
                each[at] ^= change
            data = b"".join(changed)
            if found(data, 90, are_lengths_checked=True) != expected(data, 90, are_lengths_checked=True):
                missed.append((index, at, change))

    assert missed == []


@given(st.binary(max_size=60), st.integers(1, 30), st.booleans())
@DETERMINISTIC
def test_any_bytes_have_the_result_of_the_model(data: bytes, count: int, are_lengths_checked: bool) -> None:
    answer = found(data, count, are_lengths_checked=are_lengths_checked)

    assert answer == expected(data, count, are_lengths_checked=are_lengths_checked)


@pytest.mark.parametrize("count", [1, 12, 63, 64, 65, 200, 8193, 8300])
def test_records_of_one_shape_are_all_counted(count: int) -> None:
    summary = summarize_records(records(count), 0, count, True, no_pause)

    assert summary.are_offsets_in_order
    assert (summary.least_timestamp_delta, summary.greatest_timestamp_delta) == (0, 0)


@pytest.mark.parametrize("index", [0, 5, 63, 64, 99])
@pytest.mark.parametrize(
    "odd",
    [
        record(b"vv", offset_delta=0),
        record(b"v", offset_delta=9),
        record(None, b"vv", offset_delta=0),
        record(b"v", headers=[(b"h", b"")]),
    ],
)
def test_record_of_another_shape_in_a_row_is_found(index: int, odd: bytes) -> None:
    row = [record(offset_delta=each) for each in range(100)]
    row[index] = odd

    summary = summarize_records(b"".join(row), 0, 100, True, no_pause)

    assert not summary.are_offsets_in_order or index == 0


def test_wrong_record_length_is_rejected_unless_compressed() -> None:
    lying = record(length_error=1)

    with pytest.raises(InvalidRecords):
        summarize_records(lying, 0, 1, True, no_pause)
    assert summarize_records(lying, 0, 1, False, no_pause).are_offsets_in_order


def test_negative_record_length_is_rejected() -> None:
    body = record()[1:]

    with pytest.raises(InvalidRecords):
        summarize_records(zigzag(-len(body) - 1) + body, 0, 1, True, no_pause)


def test_endless_record_length_is_a_server_error() -> None:
    with pytest.raises(OverlongRecordLength):
        summarize_records(b"\xff" * 20, 0, 1, True, no_pause)
    with pytest.raises(InvalidRecords):
        summarize_records(b"\xff" * 20, 0, 1, False, no_pause)


def test_header_count_above_the_bytes_left_is_rejected() -> None:
    body = b"\x00\x00\x00" + zigzag(-1) + zigzag(-1) + unsigned(2**32 - 2)

    with pytest.raises(InvalidRecords, match="headers at byte"):
        summarize_records(zigzag(len(body)) + body, 0, 1, True, no_pause)
