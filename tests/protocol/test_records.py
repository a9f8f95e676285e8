"""Records are built and decoded, and compared with kafka-python's."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fauxka.protocol.batches import records
from fauxka.protocol.batches.record_batch import Compression, parse_header
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch, decode_batch

from ..run_counts import examples
from . import kafka_python_records
from .batch_bytes import NOW_MS, batch, record

texts = st.text(max_size=8)
values = st.none() | st.binary(max_size=300)
drawn_records = st.lists(
    st.builds(
        Record,
        value=values,
        key=values,
        timestamp=st.integers(0, 2**45),
        headers=st.lists(st.tuples(texts, values), max_size=3).map(tuple),
    ),
    min_size=1,
    max_size=80,
)


def with_offsets(sent: list[Record], base_offset: int) -> list[Record]:
    return [
        Record(each.value, each.key, each.timestamp, each.headers, base_offset + index)
        for index, each in enumerate(sent)
    ]


@given(drawn_records, st.sampled_from(Compression), st.integers(0, 2**40))
@settings(derandomize=True, max_examples=examples(150), deadline=None)
def test_built_batch_is_decoded(sent: list[Record], codec: Compression, base_offset: int) -> None:
    built = build_batch(sent, BatchOptions(compression=codec, base_offset=base_offset))

    assert decode_batch(built) == with_offsets(sent, base_offset)


@given(drawn_records, st.sampled_from(Compression))
@settings(derandomize=True, max_examples=examples(100), deadline=None)
def test_kafka_python_decodes_a_built_batch(sent: list[Record], codec: Compression) -> None:
    built = build_batch(sent, BatchOptions(compression=codec, producer_id=9, producer_epoch=3, base_sequence=7))

    theirs = kafka_python_records.first_batch_of(built)

    assert theirs.validate_crc()
    assert (theirs.producer_id, theirs.producer_epoch, theirs.base_sequence) == (9, 3, 7)
    assert kafka_python_records.records_of(theirs) == with_offsets(sent, 0)


@pytest.mark.parametrize("codec", [Compression.NONE, Compression.GZIP, Compression.SNAPPY, Compression.LZ4])
def test_batch_of_kafka_python_is_decoded(codec: Compression) -> None:
    sent = [Record(b"v%d" % index, b"k", NOW_MS + index, (("h", b"x"),), index) for index in range(50)]

    assert decode_batch(kafka_python_records.build(sent, codec)) == sent


def test_log_append_time_is_the_timestamp_of_every_record() -> None:
    stored = batch(record() + record(offset_delta=1, timestamp_delta=3), count=2, attributes=8, max_timestamp=99)

    assert [each.timestamp for each in decode_batch(stored)] == [99, 99]


def test_timestamps_wrap_as_in_java() -> None:
    stored = batch(record(timestamp_delta=10), base_timestamp=2**63 - 1)

    assert [each.timestamp for each in decode_batch(stored)] == [-(2**63) + 9]


def test_rebuilt_records_have_their_shortest_form_and_offsets_from_zero() -> None:
    padded_size = b"\x82\x80\x00"
    body = b"\x07" + b"\x0a" + b"\x0e" + b"\x01" + padded_size + b"v" + b"\x00"
    sent = batch(bytes((len(body) * 2,)) + body)

    rebuilt = records.rebuild_records(parse_header(sent), sent, 61)

    assert rebuilt.data == record(b"v")
    assert rebuilt.base_timestamp == NOW_MS + 5


def test_rebuilt_batch_keeps_producer_and_transaction() -> None:
    sent = batch(record(), attributes=0x10, producer_id=5, producer_epoch=1, base_sequence=4)

    rebuilt = parse_header(records.rebuilt_batch(parse_header(sent), Compression.ZSTD, NOW_MS, NOW_MS, b"payload"))

    assert (rebuilt.producer_id, rebuilt.producer_epoch, rebuilt.base_sequence) == (5, 1, 4)
    assert rebuilt.attributes == 0x14
