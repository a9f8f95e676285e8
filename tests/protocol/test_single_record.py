"""The fast path for a batch of one record accepts only what the full validation accepts."""

from hypothesis import assume, given
from hypothesis import strategies as st

from fauxka.protocol.batches.record_batch import HEADER_SIZE
from fauxka.protocol.batches.record_validation import SingleRecordShape, find_single_timestamp, summarize_records

from ..golden.raw_batches import RecordFields, record

HEADER = bytes(HEADER_SIZE)


def found(payload: bytes) -> int | None:
    return find_single_timestamp(memoryview(HEADER + payload), HEADER_SIZE)


@given(
    st.none() | st.binary(max_size=9000),
    st.fixed_dictionaries(
        {"key": st.none() | st.binary(max_size=70), "timestamp_delta": st.integers(-70, 70)},
        optional={"headers": st.just([(b"name", b"value")]), "offset_delta": st.integers(-1, 1)},
    ),
    st.lists(st.tuples(st.integers(0), st.integers(0, 255)), max_size=3),
)
def test_timestamp_is_that_of_the_full_validation(
    value: bytes | None, fields: RecordFields, changes: list[tuple[int, int]]
) -> None:
    payload = bytearray(record(value, **fields))
    for position, byte in changes:
        payload[position % min(len(payload), 12)] = byte

    delta = found(bytes(payload))
    assume(delta is not None)
    summary = summarize_records(bytes(payload), 0, 1, True)

    assert summary.least_timestamp_delta == summary.greatest_timestamp_delta == delta
    assert summary.are_offsets_in_order


@given(st.none() | st.binary(max_size=8000), st.none() | st.binary(max_size=63), st.integers(-64, 63))
def test_plain_record_is_accepted(value: bytes | None, key: bytes | None, timestamp_delta: int) -> None:
    assert found(record(value, key=key, timestamp_delta=timestamp_delta)) == timestamp_delta


@given(st.binary(max_size=40))
def test_any_bytes_give_a_delta_or_none(payload: bytes) -> None:
    delta = found(payload)

    assert delta is None or summarize_records(payload, 0, 1, True).greatest_timestamp_delta == delta


@given(
    st.none() | st.binary(max_size=300),
    st.none() | st.binary(max_size=63),
    st.integers(-64, 63),
    st.lists(st.tuples(st.integers(0), st.integers(0, 255)), max_size=3),
)
def test_record_with_the_shape_of_a_valid_one_is_valid(
    value: bytes | None, key: bytes | None, timestamp_delta: int, changes: list[tuple[int, int]]
) -> None:
    payload = record(value, key=key, timestamp_delta=timestamp_delta)
    shape = SingleRecordShape(memoryview(HEADER + payload), HEADER_SIZE, timestamp_delta)
    other = bytearray(payload)
    for position, byte in changes:
        other[position % len(other)] = byte

    is_of_shape = shape.unpack(HEADER + other) == shape.right
    delta = found(bytes(other))

    assert shape.batch_bytes == len(HEADER + payload)
    assert not is_of_shape or delta == timestamp_delta
    assert shape.unpack(HEADER + payload) == shape.right


def test_shape_covers_all_bytes_but_key_and_value() -> None:
    shape = SingleRecordShape(memoryview(HEADER + record(b"value", key=b"key")), HEADER_SIZE, 0)

    assert shape.unpack(HEADER + record(b"VALUE", key=b"KEY")) == shape.right
    assert shape.unpack(HEADER + record(b"valu", key=b"key+")) != shape.right
