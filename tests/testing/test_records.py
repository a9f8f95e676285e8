"""Broker.records: every record of a log, decoded."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from fauxka.admin.errors import CallError
from fauxka.admin.methods import records as record_methods
from fauxka.admin.operations import record_operations
from fauxka.broker.replica import record_reader
from fauxka.broker.replica.record_reader import StoredRecord
from fauxka.faults.rule_error import InvalidValueError
from fauxka.protocol.batches.compression import compress
from fauxka.protocol.batches.record_batch import Compression, parse_header
from fauxka.protocol.batches.records import BatchOptions

from ..protocol.batch_bytes import batch, record, records
from .stored_batches import TOPIC, append, append_batch
from .transports import Broker

# 1970 is before any bound of message.timestamp.before.max.ms.
CREATE_TIME_MS = 1000


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker() as running:
        running.topics.create(TOPIC, partitions=2)
        yield running


def offsets(found: list[StoredRecord]) -> list[tuple[int, int]]:
    return [(each.partition, each.offset) for each in found]


def test_record_has_all_its_parts(broker: Broker) -> None:
    options = BatchOptions(producer_id=7, producer_epoch=1, base_sequence=0, compression=Compression.ZSTD)
    append(broker, b"a", b"\xff", options=options)

    _, second = broker.records(TOPIC)

    assert second == StoredRecord(
        topic=TOPIC,
        partition=0,
        offset=1,
        timestamp=CREATE_TIME_MS,
        timestamp_type="CreateTime",
        key=None,
        value=b"\xff",
        headers=(),
        producer_id=7,
        producer_epoch=1,
        sequence=1,
        is_control=False,
        transaction="none",
        compression="zstd",
        leader_epoch=0,
    )


def test_record_without_a_producer_has_no_sequence(broker: Broker) -> None:
    append(broker, b"a", b"b")

    assert [(each.producer_id, each.sequence) for each in broker.records(TOPIC)] == [(-1, -1), (-1, -1)]


def test_headers_and_a_null_value_are_decoded(broker: Broker) -> None:
    append_batch(broker, batch(record(None, b"k", headers=[(b"trace", b"1"), (b"empty", None)])))

    (found,) = broker.records(TOPIC)

    assert (found.key, found.value, found.headers) == (b"k", None, (("trace", b"1"), ("empty", None)))


def test_topic_with_append_time_has_the_timestamp_of_the_broker(broker: Broker) -> None:
    broker.clock.set_mode("manual")
    broker.topics.create("timed", configs={"message.timestamp.type": "LogAppendTime"})
    broker.topics.seed("timed", [{"value": "a", "timestamp": 5}])

    (found,) = broker.records("timed")

    assert (found.timestamp_type, found.timestamp) == ("LogAppendTime", broker.clock.now_ms)


@pytest.mark.parametrize("codec", Compression, ids=lambda codec: codec.name.lower())
def test_every_codec_is_decoded_and_named(broker: Broker, codec: Compression) -> None:
    append(broker, b"a", b"b", options=BatchOptions(compression=codec))

    found = broker.records(TOPIC)

    assert [each.value for each in found] == [b"a", b"b"]
    assert {each.compression for each in found} == {codec.name.lower()}


def test_records_are_sorted_by_partition_and_offset(broker: Broker) -> None:
    append(broker, b"a", partition=1)
    append(broker, b"b")
    append(broker, b"c", b"d", partition=1)

    assert offsets(broker.records(TOPIC)) == [(0, 0), (1, 0), (1, 1), (1, 2)]
    assert offsets(broker.records(TOPIC, 1)) == [(1, 0), (1, 1), (1, 2)]


def test_offsets_are_those_of_each_partition_and_both_included(broker: Broker) -> None:
    append(broker, b"a", b"b", b"c", b"d")
    append(broker, b"a", b"b", partition=1)

    assert offsets(broker.records(TOPIC, from_offset=1, to_offset=2)) == [(0, 1), (0, 2), (1, 1)]
    assert broker.records(TOPIC, from_offset=4) == []


def test_limit_returns_the_first_records(broker: Broker) -> None:
    append(broker, b"a", b"b", b"c")
    append(broker, b"d", partition=1)

    assert offsets(broker.records(TOPIC, limit=2)) == [(0, 0), (0, 1)]
    assert len(broker.records(TOPIC, limit=100)) == 4


def test_records_before_the_log_start_are_not_returned(broker: Broker) -> None:
    append(broker, b"a", b"b", b"c")
    broker.call(lambda: broker.cluster.node.replicas.partition_of(TOPIC, 0).log.delete_records_before(1))

    assert offsets(broker.records(TOPIC)) == [(0, 1), (0, 2)]


def test_records_of_many_batches_and_segments_are_all_returned(broker: Broker) -> None:
    broker.topics.create("rolled", partitions=1, configs={"internal.segment.bytes": 3000})
    for number in range(40):
        broker.topics.seed("rolled", [{"value": f"{number}-{index}" * 20} for index in range(10)])

    found = broker.records("rolled")

    assert [each.offset for each in found] == list(range(400))
    assert broker.call(lambda: len(broker.cluster.node.replicas.partition_of("rolled", 0).log.segments)) > 1


def test_page_ends_after_its_bytes_and_the_pages_have_every_record(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_operations, "PAGE_BYTES_MAX", 100)
    append(broker, *[b"x" * 40] * 5, b"y" * 300, b"z")
    append(broker, b"last", partition=1)

    assert [len(each.value or b"") for each in broker.records(TOPIC)] == [40, 40, 40, 40, 40, 300, 1, 4]


def test_more_records_than_one_call_returns_are_an_error(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_methods, "RECORDS_MAX", 2)
    append(broker, b"a", b"b", b"c")

    with pytest.raises(CallError, match="orders has more than 2 such records: set limit"):
        broker.records(TOPIC)
    assert len(broker.records(TOPIC, limit=3)) == 3
    assert len(broker.records(TOPIC, to_offset=1)) == 2


def test_unknown_topic_and_partition_are_errors(broker: Broker) -> None:
    with pytest.raises(CallError, match="there is no topic 'oders'"):
        broker.records("oders")
    with pytest.raises(CallError, match="there is no partition 2 of orders"):
        broker.records(TOPIC, 2)


@pytest.mark.parametrize(
    "chosen", [{"limit": 0}, {"limit": True}, {"from_offset": -1}, {"to_offset": "1"}, {"offset": 1}]
)
def test_invalid_argument_is_an_error_with_its_name(broker: Broker, chosen: dict[str, Any]) -> None:
    (name,) = chosen

    with pytest.raises(InvalidValueError, match=name):
        broker.records(TOPIC, **chosen)


def test_damaged_batch_ends_the_records_before_it_and_is_an_error_with_the_next_offset(broker: Broker) -> None:
    append(broker, b"a")
    with broker.files.add(action="corrupt", file_kind="log"):
        append(broker, b"b", b"c")
    append(broker, b"d")

    with pytest.raises(CallError, match=r"offsets 1\.\.2 of orders-0 does not decode: .*CRC.* from_offset 3 continues"):
        broker.records(TOPIC)
    assert offsets(broker.records(TOPIC, to_offset=0)) == [(0, 0)]
    assert offsets(broker.records(TOPIC, limit=1)) == [(0, 0)]
    assert offsets(broker.records(TOPIC, from_offset=3)) == [(0, 3)]


def test_batch_that_does_not_decode_is_an_error(broker: Broker) -> None:
    broken = batch(b"no zstd", attributes=Compression.ZSTD)

    def append_unchecked() -> None:
        partition = broker.cluster.node.replicas.partition_of(TOPIC, 0)
        header, data = parse_header(broken), memoryview(broken)
        partition.append(data, 0, (header, data, 0, False))

    broker.call(append_unchecked)

    with pytest.raises(CallError, match="does not decode: zstd"):
        broker.records(TOPIC)


def test_record_that_is_too_large_is_an_error_with_the_next_offset(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_reader, "RECORD_BYTES_MAX", 10)
    append(broker, b"a", b"b" * 11, b"c")

    with pytest.raises(CallError, match=r"offset 1 of orders-0 has 11 bytes .* from_offset 2 continues after it"):
        broker.records(TOPIC)
    assert [each.value for each in broker.records(TOPIC, from_offset=2)] == [b"c"]


def test_record_with_too_many_headers_is_an_error(broker: Broker) -> None:
    headers = [(b"", None)] * (record_reader.RECORD_HEADERS_MAX + 1)
    append_batch(broker, batch(compress(Compression.ZSTD, record(headers=headers)), attributes=Compression.ZSTD))

    with pytest.raises(CallError, match="10001 headers"):
        broker.records(TOPIC)


def test_pages_of_one_large_batch_have_every_record_once(broker: Broker) -> None:
    count = 25_000
    append_batch(broker, batch(compress(Compression.ZSTD, records(count)), attributes=Compression.ZSTD, count=count))

    found = broker.records(TOPIC)

    assert len(found) == count
    assert all(after.offset == before.offset + 1 for before, after in pairwise(found))
