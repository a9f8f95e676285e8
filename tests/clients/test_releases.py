"""Clients of Python against brokers of each release: idempotent and transactional producers, and a consumer group."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import confluent_kafka
import pytest

from fauxka.protocol.api_keys import APIS
from fauxka.testing import Broker

from ..golden.capture_releases import captured_releases
from .aiokafka_client import aiokafka
from .client import STEP_SECONDS_MAX
from .kafka_python_client import kafka

pytestmark = pytest.mark.clients

RELEASES = captured_releases()
TOPIC = "orders"
RECORDS = [b"idempotent", b"transactional"]
# The last version of Produce that each client has.
LAST_PRODUCE = {"confluent_kafka": 10, "kafka_python": 9, "aiokafka": 7}


def use_confluent_kafka(servers: str) -> list[bytes]:
    """Produce one record idempotently and one in a transaction; return what a group reads."""
    idempotent = confluent_kafka.Producer({"bootstrap.servers": servers, "enable.idempotence": True})
    idempotent.produce(TOPIC, RECORDS[0])
    assert idempotent.flush(STEP_SECONDS_MAX) == 0
    transactional = confluent_kafka.Producer({"bootstrap.servers": servers, "transactional.id": "copier"})
    transactional.init_transactions(STEP_SECONDS_MAX)
    transactional.begin_transaction()
    transactional.produce(TOPIC, RECORDS[1])
    transactional.commit_transaction(STEP_SECONDS_MAX)
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "readers",
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
        }
    )
    consumer.subscribe([TOPIC])
    received = [consumer.poll(STEP_SECONDS_MAX) for _ in RECORDS]
    consumer.commit(asynchronous=False)
    consumer.close()
    return [bytes(message.value() or b"") for message in received if message is not None]


def use_kafka_python(servers: str) -> list[bytes]:
    """As use_confluent_kafka."""
    idempotent = kafka.KafkaProducer(bootstrap_servers=servers, enable_idempotence=True)
    idempotent.send(TOPIC, RECORDS[0]).get(STEP_SECONDS_MAX)
    idempotent.close()
    transactional = kafka.KafkaProducer(bootstrap_servers=servers, transactional_id="copier")
    transactional.init_transactions()
    transactional.begin_transaction()
    transactional.send(TOPIC, RECORDS[1]).get(STEP_SECONDS_MAX)
    transactional.commit_transaction()
    transactional.close()
    consumer = kafka.KafkaConsumer(
        TOPIC,
        bootstrap_servers=servers,
        group_id="readers",
        auto_offset_reset="earliest",
        isolation_level="read_committed",
        consumer_timeout_ms=int(STEP_SECONDS_MAX * 1000),
    )
    received = [next(consumer).value for _ in RECORDS]
    consumer.commit()
    consumer.close()
    return received


async def _use_aiokafka(servers: str) -> list[bytes]:
    idempotent = aiokafka.AIOKafkaProducer(bootstrap_servers=servers, enable_idempotence=True)
    await idempotent.start()
    await idempotent.send_and_wait(TOPIC, RECORDS[0])
    await idempotent.stop()
    transactional = aiokafka.AIOKafkaProducer(bootstrap_servers=servers, transactional_id="copier")
    await transactional.start()
    async with transactional.transaction():
        await transactional.send_and_wait(TOPIC, RECORDS[1])
    await transactional.stop()
    consumer = aiokafka.AIOKafkaConsumer(
        TOPIC,
        bootstrap_servers=servers,
        group_id="readers",
        auto_offset_reset="earliest",
        isolation_level="read_committed",
    )
    await consumer.start()
    received = [(await asyncio.wait_for(consumer.getone(), STEP_SECONDS_MAX)).value for _ in RECORDS]
    await consumer.commit()
    await consumer.stop()
    return [value or b"" for value in received]


def use_aiokafka(servers: str) -> list[bytes]:
    """As use_confluent_kafka."""
    return asyncio.run(_use_aiokafka(servers))


@pytest.mark.parametrize("use", [use_confluent_kafka, use_kafka_python, use_aiokafka])
@pytest.mark.parametrize(
    "release",
    [
        "2.1",
        pytest.param("2.8", marks=pytest.mark.deep),
        pytest.param("3.6", marks=pytest.mark.deep),
        "3.9",
        pytest.param("4.0", marks=pytest.mark.deep),
        "4.4",
    ],
)
def test_client_works_in_the_versions_of_the_release(release: str, use: Callable[[str], list[bytes]]) -> None:
    supported = {
        APIS[key].name: range(first, last + 1) for key, first, last in RELEASES[release]["api_keys"] if key in APIS
    }
    last_produce = min(LAST_PRODUCE[use.__name__.removeprefix("use_")], supported["Produce"][-1])

    with Broker(as_version=release) as broker:
        broker.topics.create(TOPIC)
        received = use(broker.bootstrap_servers)
        requests = {(each.api, each.api_version) for each in broker.journal.entries() if each.api != "ApiVersions"}

    assert received == RECORDS
    assert {version for api, version in requests if api == "Produce"} == {last_produce}
    assert {"AddPartitionsToTxn", "EndTxn", "InitProducerId", "JoinGroup", "OffsetCommit"} <= {
        api for api, _ in requests
    }
    assert [(api, version) for api, version in sorted(requests) if version not in supported[api]] == []
