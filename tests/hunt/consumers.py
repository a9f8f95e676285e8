"""Correct consumers of a group with the default configuration of their clients: each commits what it has processed."""

from collections.abc import Callable, Mapping
from contextlib import closing
from functools import partial
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from fauxka.testing import Broker

from ..clients.aiokafka_client import aiokafka, aiokafka_errors
from ..clients.kafka_python_client import kafka, kafka_errors

TOPIC, GROUP = "orders", "billing"
COUNT = 3
# What a commit is refused with after a rebalance; the records are read again, by the member that has the partition.
_OVERTAKEN = (
    KafkaError.UNKNOWN_MEMBER_ID,
    KafkaError.REBALANCE_IN_PROGRESS,
    KafkaError.ILLEGAL_GENERATION,
    KafkaError.STALE_MEMBER_EPOCH,
    KafkaError.FENCED_MEMBER_EPOCH,
)


def fill(broker: Broker) -> None:
    """Write the orders."""
    broker.topics.create(TOPIC)
    broker.topics.seed(TOPIC, [{"key": f"k{number}", "value": "v"} for number in range(COUNT)])


def by_confluent(broker: Broker, config: Mapping[str, str]) -> None:
    """Read until all is committed. Raises KafkaException."""
    settings = {"bootstrap.servers": broker.bootstrap_servers, "group.id": GROUP, **config}
    with closing(Consumer({**settings, "enable.auto.commit": False, "auto.offset.reset": "earliest"})) as consumer:
        processed: list[Message] = []
        consumer.subscribe([TOPIC], on_revoke=lambda _, __: processed.clear())
        while consumer.committed([TopicPartition(TOPIC, 0)], timeout=60)[0].offset < COUNT:
            message = consumer.poll(1)
            if message is not None:
                processed[:] = [valid(message)]
            if processed and is_committed(consumer, processed[0]):
                processed.clear()


def valid(message: Message) -> Message:
    """Return the message. Raises KafkaException if it is an error."""
    error = message.error()
    if error is not None:
        raise KafkaException(error)
    return message


def is_committed(consumer: Consumer, message: Message) -> bool:
    """Commit a message. Return whether it is, and not to be repeated after the rebalance. Raises KafkaException."""
    try:
        consumer.commit(message=message, asynchronous=False)
    except KafkaException as failure:
        if failure.args[0].code() not in _OVERTAKEN:
            raise
        return False
    return True


async def by_aiokafka(broker: Broker) -> None:
    """Read until all is committed. Raises aiokafka's KafkaError."""
    place = aiokafka.TopicPartition(TOPIC, 0)
    settings: dict[str, Any] = {"bootstrap_servers": broker.bootstrap_servers, "group_id": GROUP}
    consumer = aiokafka.AIOKafkaConsumer(TOPIC, **settings, enable_auto_commit=False, auto_offset_reset="earliest")
    try:
        await consumer.start()
        while (await consumer.committed(place) or 0) < COUNT:
            for records in (await consumer.getmany(timeout_ms=1000, max_records=1)).values():
                try:
                    await consumer.commit({place: records[-1].offset + 1})
                except aiokafka_errors.CommitFailedError:
                    continue
    finally:
        await consumer.stop()


def by_kafka_python(broker: Broker) -> None:
    """Read until all is committed. Raises kafka-python's KafkaError."""
    place = kafka.TopicPartition(TOPIC, 0)
    settings: dict[str, Any] = {"bootstrap_servers": broker.bootstrap_servers, "group_id": GROUP}
    consumer = kafka.KafkaConsumer(TOPIC, **settings, enable_auto_commit=False, auto_offset_reset="earliest")
    processed = 0
    try:
        while (consumer.committed(place) or 0) < COUNT:
            for records in consumer.poll(timeout_ms=1000, max_records=1).values():
                processed = records[-1].offset + 1
            if processed:
                try:
                    consumer.commit({place: kafka.OffsetAndMetadata(processed, "", -1)})
                except kafka_errors.CommitFailedError:
                    # By a rebalance: it is repeated after the next poll.
                    continue
    finally:
        consumer.close(autocommit=False)


Program = Callable[[Broker], object]
CONSUMERS: Mapping[str, Program] = {
    "confluent-kafka, eager": partial(by_confluent, config={}),
    "confluent-kafka, cooperative": partial(
        by_confluent, config={"partition.assignment.strategy": "cooperative-sticky"}
    ),
    "confluent-kafka, KIP-848": partial(by_confluent, config={"group.protocol": "consumer"}),
    "aiokafka": by_aiokafka,
    "kafka-python": by_kafka_python,
}
