"""The loop the broker runs on, with uvloop and without."""

from __future__ import annotations

import asyncio
import sys

import pytest
import uvloop
from confluent_kafka import Consumer, Producer, TopicPartition

from fauxka.broker.runtime.event_loop import new_event_loop
from fauxka.testing import Broker

RECORDS = 2_000
ANSWER_SECONDS_MAX = 30.0


def test_uvloop_is_used_where_it_is_installed() -> None:
    loop = new_event_loop()
    loop.close()

    assert isinstance(loop, uvloop.Loop)


def test_asyncio_serves_where_there_is_no_uvloop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)
    loop = new_event_loop()
    loop.close()

    with Broker() as broker:
        produce(broker.bootstrap_servers)
        values = consume(broker.bootstrap_servers)

    assert not isinstance(loop, uvloop.Loop)
    assert isinstance(loop, asyncio.AbstractEventLoop)
    assert values == [b"%d" % number for number in range(RECORDS)]


def produce(bootstrap_servers: str) -> None:
    producer = Producer({"bootstrap.servers": bootstrap_servers, "enable.idempotence": True})
    for number in range(RECORDS):
        producer.produce("events", b"%d" % number)
    assert producer.flush(ANSWER_SECONDS_MAX) == 0


def consume(bootstrap_servers: str) -> list[bytes | None]:
    consumer = Consumer({"bootstrap.servers": bootstrap_servers, "group.id": "readers"})
    consumer.assign([TopicPartition("events", 0, 0)])
    try:
        return [message.value() for message in consumer.consume(RECORDS, ANSWER_SECONDS_MAX)]
    finally:
        consumer.close()
