"""Compaction and retention on call: they do at once what the broker else does at intervals."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer

from fauxka.testing import CallError

from .transports import Broker

SECONDS_MAX = 30
DAY_MS = 24 * 3600 * 1000
COMPACTED: dict[str, str | int] = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": 1}
OF_ONE_KEY: list[Any] = [{"key": "tea", "value": str(number)} for number in range(4)]


@pytest.fixture(params=["memory", "files"])
def broker(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Broker]:
    with Broker({"num.partitions": 1}, data_dir=tmp_path if request.param == "files" else None) as running:
        yield running


def values_of(broker: Broker) -> list[bytes | None]:
    return [record.value for record in broker.records("orders")]


def test_compaction_leaves_the_last_record_of_each_key(broker: Broker) -> None:
    broker.topics.create("orders", configs=COMPACTED)
    broker.topics.seed("orders", [*OF_ONE_KEY, {"key": "milk", "value": "9"}])
    size_before = broker.topics.get("orders").partitions[0].size_bytes

    (removed,) = broker.topics.compact("orders")

    size_after = broker.topics.get("orders").partitions[0].size_bytes
    assert size_before is not None
    assert size_after is not None
    assert values_of(broker) == [b"3", b"9"]
    assert (removed.topic, removed.partition, removed.node, removed.records) == ("orders", 0, 1, 3)
    assert removed.bytes == size_before - size_after


def test_compaction_merges_segments_and_has_nothing_to_do_twice(broker: Broker) -> None:
    broker.topics.create("orders", configs=COMPACTED)
    broker.topics.seed("orders", OF_ONE_KEY[:1])
    with_one = broker.topics.compact("orders", 0)
    broker.topics.seed("orders", OF_ONE_KEY[1:2])

    (removed,) = broker.topics.compact("orders", 0)

    assert with_one == broker.topics.compact("orders", 0) == []
    assert (removed.records, removed.segments) == (1, 1)
    assert values_of(broker) == [b"1"]


def test_compaction_goes_by_the_clock_of_the_broker(broker: Broker) -> None:
    broker.topics.create("orders", configs={**COMPACTED, "min.compaction.lag.ms": DAY_MS})
    broker.topics.seed("orders", OF_ONE_KEY)

    too_early = broker.topics.compact("orders")
    broker.clock.advance(2 * DAY_MS)
    # The periodic cleaning may have begun with the advance.
    broker.topics.compact("orders")

    assert too_early == []
    assert values_of(broker) == [b"3"]


@pytest.mark.clients
def test_consumer_reads_the_compacted_topic(broker: Broker) -> None:
    broker.topics.create("orders", configs=COMPACTED)
    broker.topics.seed("orders", OF_ONE_KEY)

    broker.topics.compact("orders")

    consumer = Consumer(
        {"bootstrap.servers": broker.bootstrap_servers, "group.id": "g", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe(["orders"])
    (message,) = consumer.consume(1, SECONDS_MAX)
    consumer.close()
    assert (message.offset(), message.value()) == (3, b"3")


def test_topic_that_is_not_compacted_is_refused(broker: Broker) -> None:
    broker.topics.seed("orders", ["tea"], create=True)

    with pytest.raises(CallError, match=r"^orders is not compacted: it needs cleanup\.policy=compact$") as raised:
        broker.topics.compact("orders")
    with pytest.raises(CallError, match="there is no partition 1 of orders") as unknown:
        broker.topics.compact("orders", 1)
    assert (raised.value.status, unknown.value.status) == (409, 404)


def test_retention_deletes_the_segments_that_are_too_old(broker: Broker) -> None:
    broker.topics.create("orders", configs={"retention.ms": DAY_MS})
    broker.topics.create("others", configs={"retention.ms": -1})
    for topic in ("orders", "others"):
        broker.topics.seed(topic, [{"value": "old", "timestamp": broker.clock.now_ms - 2 * DAY_MS}])

    other = broker.topics.apply_retention("others")
    removed = broker.topics.apply_retention()

    assert other == []
    assert [(each.topic, each.partition, each.node, each.records, each.segments) for each in removed] == [
        ("orders", 0, 1, 1, 1)
    ]
    assert removed[0].bytes > 0
    assert values_of(broker) == []
    assert broker.verdict("orders").records.deleted == 1


def test_retention_keeps_the_bytes_of_the_config(broker: Broker) -> None:
    broker.topics.create("orders", configs={"retention.bytes": 100, "internal.segment.bytes": 150})
    for _ in range(4):
        broker.topics.seed("orders", ["one coffee"])

    (removed,) = broker.topics.apply_retention("orders")

    assert (removed.records, removed.segments, len(values_of(broker))) == (2, 2, 2)


def test_unknown_topic_has_no_retention(broker: Broker) -> None:
    with pytest.raises(CallError, match="there is no topic 'orders'"):
        broker.topics.apply_retention("orders")


def test_followers_clean_their_logs_too() -> None:
    with Broker({"default.replication.factor": 3, "min.insync.replicas": 3}, nodes=3) as broker:
        broker.topics.create("orders", partitions=1, configs=COMPACTED)
        broker.topics.seed("orders", OF_ONE_KEY)
        broker.topics.create("events", partitions=1, configs={"retention.ms": DAY_MS})
        broker.topics.seed("events", [{"value": "old", "timestamp": broker.clock.now_ms - 2 * DAY_MS}])

        compacted = broker.topics.compact("orders")
        deleted = broker.topics.apply_retention()

        assert [(each.node, each.records) for each in compacted] == [(1, 3), (2, 3), (3, 3)]
        assert [(each.topic, each.node, each.records) for each in deleted] == [
            ("events", node, 1) for node in (1, 2, 3)
        ]


def test_compaction_works_without_the_log_cleaner() -> None:
    with Broker({"log.cleaner.enable": False, "num.partitions": 1}) as broker:
        broker.topics.create("orders", configs=COMPACTED)
        broker.topics.seed("orders", OF_ONE_KEY)

        broker.topics.compact("orders")

        assert values_of(broker) == [b"3"]
