"""Broker.topics.seed: test data without a producer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from fauxka.admin.errors import CallError
from fauxka.broker.replica.record_writer import BATCH_BYTES_MAX
from fauxka.faults.rule_error import InvalidValueError
from fauxka.protocol.murmur2 import partition_of_key
from fauxka.testing import SeedFields

from .transports import Broker


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker() as running:
        running.topics.create("orders", partitions=3)
        yield running


def values(broker: Broker, topic: str = "orders") -> list[tuple[int, bytes | None]]:
    return [(each.partition, each.value) for each in broker.records(topic)]


def test_places_are_returned_in_the_order_of_the_call(broker: Broker) -> None:
    given: list[SeedFields] = [
        {"value": "a", "partition": 2},
        {"value": "b", "partition": 1},
        {"value": "c", "partition": 2},
    ]

    places = broker.topics.seed("orders", given)

    assert [(place.partition, place.offset) for place in places] == [(2, 0), (1, 0), (2, 1)]
    assert values(broker) == [(1, b"b"), (2, b"a"), (2, b"c")]


def test_key_chooses_the_partition_as_in_kafka(broker: Broker) -> None:
    keys = [f"order-{number}" for number in range(20)]

    places = broker.topics.seed("orders", [{"key": key} for key in keys])

    assert [place.partition for place in places] == [partition_of_key(key.encode(), 3) for key in keys]
    assert {place.partition for place in places} == {0, 1, 2}


@pytest.mark.clients
def test_partitions_of_keys_are_those_of_a_client_with_the_partitioner_of_kafka(broker: Broker) -> None:
    keys = [f"{'k' * size}{size}" for size in range(12)]
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "partitioner": "murmur2_random"})
    for key in keys:
        producer.produce("orders", key=key)
    producer.flush(30)
    produced = {each.key: each.partition for each in broker.records("orders")}

    places = broker.topics.seed("orders", [{"key": key} for key in keys])

    assert [place.partition for place in places] == [produced[key.encode()] for key in keys]


def test_records_without_a_key_go_to_the_partitions_in_turn_from_0_in_each_call(broker: Broker) -> None:
    for _ in range(2):
        places = broker.topics.seed("orders", [{"value": "a"}, {"value": "b"}, {"key": "k"}, {"value": "c"}])

        assert [place.partition for place in places if place is not places[2]] == [0, 1, 2]


def test_text_bytes_and_none_are_stored_as_given(broker: Broker) -> None:
    headers: list[tuple[str, str | bytes | None]] = [
        ("text", "ü"),
        ("bytes", b"\xff"),
        ("null", None),
        ("text", "again"),
    ]
    broker.topics.seed("orders", [{"key": b"\xff", "value": "ü", "headers": headers, "timestamp": 5}])

    (found,) = broker.records("orders")

    assert (found.key, found.value, found.timestamp) == (b"\xff", "ü".encode(), 5)
    assert found.headers == (("text", "ü".encode()), ("bytes", b"\xff"), ("null", None), ("text", b"again"))


def test_headers_may_be_a_mapping_and_fields_are_optional(broker: Broker) -> None:
    broker.clock.set_mode("manual")

    broker.topics.seed("orders", [{"headers": {"id": "1"}}])

    (found,) = broker.records("orders")
    assert (found.key, found.value, found.headers) == (None, None, (("id", b"1"),))
    assert found.timestamp == broker.clock.now_ms


def test_records_are_split_into_batches_of_limited_size(broker: Broker) -> None:
    broker.topics.seed("orders", [{"value": "x" * 1000, "partition": 0} for _ in range(50)])

    log = broker.call(lambda: broker.cluster.node.replicas.partition_of("orders", 0).log)
    assert broker.call(lambda: log.size_bytes) > 3 * BATCH_BYTES_MAX
    assert [each.offset for each in broker.records("orders")] == list(range(50))


def test_records_that_fit_one_by_one_are_accepted_with_a_small_max_message_bytes(broker: Broker) -> None:
    broker.topics.create("small", partitions=1, configs={"max.message.bytes": 300})

    broker.topics.seed("small", [{"value": "x" * 200} for _ in range(5)])

    assert len(broker.records("small")) == 5


def test_record_that_is_too_large_is_refused_and_none_is_appended(broker: Broker) -> None:
    broker.topics.create("small", partitions=2, configs={"max.message.bytes": 300})

    with pytest.raises(CallError, match=r"records\[1\]: MESSAGE_TOO_LARGE: a batch of 370 bytes") as raised:
        broker.topics.seed("small", [{"value": "a"}, {"value": "x" * 300}, {"value": "b"}])

    assert (raised.value.status, raised.value.detail.field) == (400, "records[1]")
    assert broker.records("small") == []


def test_record_without_a_key_is_refused_by_a_compacted_topic_with_its_index(broker: Broker) -> None:
    broker.topics.create("compacted", partitions=1, configs={"cleanup.policy": "compact"})

    with pytest.raises(CallError, match=r"records\[1\]: INVALID_RECORD: .*without key"):
        broker.topics.seed("compacted", [{"key": "k"}, {"value": "v"}])


def test_failing_storage_is_an_error_with_the_number_of_appended_records(broker: Broker) -> None:
    broker.topics.seed("orders", [{"partition": 1}])
    with (
        broker.files.add(action="disk_full", folder="orders-1"),
        pytest.raises(CallError, match=r"records\[1\]: KAFKA_STORAGE_ERROR: .*; records appended before: 1") as error,
    ):
        broker.topics.seed("orders", [{"value": "a"}, {"value": "b"}])

    assert error.value.status == 409
    assert values(broker) == [(0, b"a"), (1, None)]


@pytest.mark.parametrize(
    ("topic", "record", "message"),
    [
        ("oders", {}, "there is no topic 'oders'"),
        ("orders", {"partition": 3}, "there is no partition 3 of orders"),
        ("__consumer_offsets", {}, "there is no topic"),
    ],
)
def test_unknown_place_is_an_error(broker: Broker, topic: str, record: SeedFields, message: str) -> None:
    with pytest.raises(CallError, match=message):
        broker.topics.seed(topic, [record])


@pytest.mark.parametrize(
    ("record", "field"),
    [
        ({"vale": "a"}, r"records\[0\]\.vale"),
        ({"value": {5}}, r"records\[0\]\.value"),
        ({"partition": -1}, r"records\[0\]\.partition"),
        ({"timestamp": -1}, r"records\[0\]\.timestamp"),
        ({"value": "\ud800"}, r"records\[0\]\.value"),
        ({"headers": {"\ud800": "x"}}, r"records\[0\]\.headers\[0\]\.name"),
        ({"headers": 5}, r"records\[0\]\.headers"),
        ({"headers": ["x"]}, r"records\[0\]\.headers"),
        (["a"], r"records\[0\]"),
    ],
)
def test_invalid_record_is_an_error_with_its_field(broker: Broker, record: Any, field: str) -> None:
    with pytest.raises(InvalidValueError, match=field):
        broker.topics.seed("orders", [record])


def test_seeded_records_are_no_requests_and_meet_no_fault_rule(broker: Broker) -> None:
    with broker.faults.refuse("NOT_LEADER_OR_FOLLOWER", api="Produce") as refused:
        broker.topics.seed("orders", [{"value": "a"}])

    assert (refused.matched, broker.journal.count()) == (0, 0)
    verdict = broker.verdict("orders")
    assert (verdict.records.in_log, verdict.batches.appended_once) == (1, 0)


def test_seeded_records_wait_for_the_flush_that_the_topic_asks_for(tmp_path: Path) -> None:
    with Broker(data_dir=tmp_path) as broker:
        broker.topics.create("flushed", partitions=1, configs={"flush.messages": 1})
        with broker.files.add(action="fail", operation="fsync", file_kind="log") as failed, pytest.raises(CallError):
            broker.topics.seed("flushed", [{"value": "a"}])

        assert failed.hits == 1


def test_seeded_records_survive_a_restart(tmp_path: Path) -> None:
    with Broker(data_dir=tmp_path) as broker:
        broker.topics.create("orders", partitions=2)
        broker.topics.seed("orders", [{"value": "a"}, {"value": "b"}])

    with Broker(data_dir=tmp_path) as again:
        assert values(again) == [(0, b"a"), (1, b"b")]
