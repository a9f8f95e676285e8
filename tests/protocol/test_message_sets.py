"""Message sets, magic 0 and 1: conversions as Kafka's own classes make them, and there and back."""

import json
import struct
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fauxka.protocol.batches import compression
from fauxka.protocol.batches.lz4_frame import xxh32_of_few
from fauxka.protocol.batches.message_sets import (
    CorruptMessageSet,
    InvalidMessageSet,
    ZstdNotConvertible,
    batch_of,
    fetched_message_set,
    message_set_of,
)
from fauxka.protocol.batches.record_batch import Compression, parse_header
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch, decode_batch

from ..golden.capture_message_sets import FILE

CASES = [json.loads(line) for line in FILE.read_text().splitlines()]
DOWN = [case for case in CASES if case[0][0] == "down"]
UP = [case for case in CASES if case[0][0] == "up"]
ERRORS = {
    "CorruptRecordException": CorruptMessageSet,
    "InvalidRecordException": InvalidMessageSet,
    "UnsupportedCompressionTypeException": ZstdNotConvertible,
    # A value that cannot be decompressed, and fields that do not fit: an unexpected error of Kafka.
    "KafkaException": compression.BrokenPayload,
    "IllegalArgumentException": compression.BrokenPayload,
    "IndexOutOfBoundsException": compression.BrokenPayload,
}
# Kafka checks the messages of a value while it decompresses it: here a CRC is wrong before the stream is.
FOUND_LATER = 280
CODECS_OF_MESSAGES = (Compression.NONE, Compression.GZIP, Compression.SNAPPY, Compression.LZ4)
RECORDS = st.lists(
    st.builds(
        Record,
        st.none() | st.binary(max_size=50),
        st.none() | st.binary(max_size=50),
        st.integers(min_value=0, max_value=2**40),
    ),
    min_size=1,
    max_size=8,
)


def plain(message_set: bytes) -> Iterator[tuple[bytes, object]]:
    """Yield the bytes of each message before its value, and its value: the messages in it for a compressed one."""
    position = 0
    while position < len(message_set):
        end = position + 12 + int.from_bytes(message_set[position + 8 : position + 12], "big")
        message = message_set[position:end]
        magic, attributes = message[16], message[17]
        value_position = 26 if magic else 18
        key_size = max(int.from_bytes(message[value_position : value_position + 4], "big", signed=True), 0)
        value_position += 4 + key_size + 4
        codec = Compression(attributes & 7)
        if not codec:
            yield message, None
        else:
            # Libraries compress to other bytes: sizes and CRC differ.
            value = message[value_position:]
            if codec is Compression.LZ4 and magic == 0:
                assert value[6] == 0x1A, "the checksum of an lz4 header of magic 0"
                value = value[:6] + b"\x82" + value[7:]
            inner = compression.decompress(codec, memoryview(value))
            yield message[:8] + message[16 : value_position - 4], list(plain(inner))
        position = end


@pytest.mark.parametrize("case", DOWN, ids=range(len(DOWN)))
def test_batches_become_the_messages_that_kafka_makes(case: tuple[list[str], str]) -> None:
    (_, magic, first_offset, data), answer = case
    batch = bytes.fromhex(data)

    if answer in ERRORS:
        with pytest.raises(ERRORS[answer]):
            message_set_of([batch], int(magic), int(first_offset))
    else:
        message_set = message_set_of([batch], int(magic), int(first_offset))
        assert list(plain(message_set)) == list(plain(bytes.fromhex("" if answer == "empty" else answer)))


@pytest.mark.parametrize("case", UP, ids=range(len(UP)))
def test_sets_become_the_batches_that_kafka_makes(case: tuple[list[str], str]) -> None:
    (_, data), answer = case
    message_set = bytes.fromhex(data)

    if answer == "empty":
        assert batch_of(message_set) is None
    elif answer in ERRORS:
        with pytest.raises(compression.BrokenPayload if UP.index(case) == FOUND_LATER else ERRORS[answer]):
            batch_of(message_set)
    else:
        batch, stored = batch_of(message_set), bytes.fromhex(answer)
        assert batch is not None
        assert parse_header(batch).attributes == parse_header(stored).attributes
        assert decode_batch(batch) == decode_batch(stored)


@pytest.mark.parametrize("codec", CODECS_OF_MESSAGES)
@pytest.mark.parametrize("magic", [0, 1])
@given(batch_records=RECORDS)
def test_records_come_back_from_messages(magic: int, codec: Compression, batch_records: list[Record]) -> None:
    batch = build_batch(batch_records, BatchOptions(compression=codec))

    message_set = message_set_of([batch], magic, 0)
    returned_batch = batch_of(message_set)
    assert returned_batch is not None
    returned = decode_batch(returned_batch)

    assert [(each.key, each.value) for each in returned] == [(each.key, each.value) for each in batch_records]
    assert [each.timestamp for each in returned] == [each.timestamp if magic else -1 for each in batch_records]


def test_markers_of_transactions_are_left_out() -> None:
    marker = build_batch([Record(b"\0\0\0\0\0\0", b"\0\0\0\1")], BatchOptions(is_control=True, is_transactional=True))
    batch = build_batch([Record(b"value")])

    assert message_set_of([marker, batch], 1, 0) == message_set_of([batch], 1, 0)


def test_hash_is_the_one_of_the_specification() -> None:
    # With seed 0, as the library of its author computes them: without, with one and with three words of four bytes.
    assert xxh32_of_few(b"") == 0x02CC5D05
    assert xxh32_of_few(b"a") == 0x550D7456
    assert xxh32_of_few(b"abc") == 0x32D153FF
    assert xxh32_of_few(b"abcd") == 0xA3643705
    assert xxh32_of_few(b"abcdefgh") == 0x0BB3C6BB
    assert xxh32_of_few(b"fifteen letters") == 0x87E4CC3A


def test_fetched_messages_have_the_bytes_of_the_batches() -> None:
    batches = [
        build_batch([Record(b"value" * 30, headers=(("name", b"lost"),))], BatchOptions(base_offset=offset))
        for offset in range(3)
    ]
    size = sum(map(len, batches))
    messages = message_set_of(batches, 1, 0)
    assert len(messages) < size - 12

    fetched = fetched_message_set(batches, 1, 0)

    # After the messages comes the beginning of one that goes beyond the end.
    assert len(fetched) == size
    assert fetched[: len(messages)] == messages
    left = size - len(messages)
    assert fetched[len(messages) :] == struct.pack(">qi", -1, max(left + 1, 61)) + bytes(left - 12)


def test_a_message_beyond_the_bytes_of_the_batches_is_cut() -> None:
    many = build_batch([Record(b"", timestamp=index) for index in range(20)])
    batches = [many, build_batch([Record(b"next")], BatchOptions(base_offset=20))]

    fetched = fetched_message_set(batches, 1, 0)

    # The first batch is whole, however long its messages are.
    assert len(fetched) == max(sum(map(len, batches)), len(message_set_of([many], 1, 0)))
    assert fetched == message_set_of(batches, 1, 0)[: len(fetched)]


def test_markers_alone_become_the_beginning_of_a_message() -> None:
    marker = build_batch([Record(b"\0\0\0\0\0\0", b"\0\0\0\1")], BatchOptions(is_control=True, is_transactional=True))

    assert fetched_message_set([marker], 0, 0) == struct.pack(">qi", -1, 61)
    assert fetched_message_set([], 0, 0) == b""


def test_a_batch_that_cannot_be_converted_ends_the_messages() -> None:
    plain, compressed = (
        build_batch([Record(b"value")], BatchOptions(compression=codec))
        for codec in (Compression.NONE, Compression.ZSTD)
    )

    assert fetched_message_set([plain, compressed], 1, 0).startswith(message_set_of([plain], 1, 0))
    with pytest.raises(ZstdNotConvertible):
        fetched_message_set([compressed, plain], 1, 0)
