"""Correct programs with the default configuration of their clients, in which a hunt must find nothing.

`make test` tries the faults after which every client goes on at once, and the group hunt all. Those of proxies and of
defective brokers are never tried: they may break a correct program.
"""

import asyncio
import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from fauxka.testing import Broker, hunt, replay, report_text

from ..clients.aiokafka_client import aiokafka
from ..clients.java_program import FOLDER as JAVA_FOLDER
from ..clients.kafka_python_client import kafka
from ..reference.kafka_process import reference_jars
from .programs import fill, raise_failure

# kafka-python leaves sockets of connections that have failed to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")

EVENTS = [b"a", b"b", b"c"]
# Faults that are repaired or reported within a second; the others are waited for, by default a minute.
QUICK_FAULTS = (
    *("lost acknowledgement", "lost request", "reset after it was applied", "NOT_LEADER_OR_FOLLOWER"),
    *("producers expired", "producers fenced", "members expired", "crash after it was applied"),
)
# Trials of a slice.
SLICE = 8


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """Collect the garbage of a test before the next one."""
    yield
    gc.collect()


def confluent(broker: Broker) -> None:
    """Send events. Raises KafkaException."""
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for event in EVENTS:
        producer.produce("orders", event, on_delivery=raise_failure)
    producer.flush()


def confluent_idempotent(broker: Broker) -> None:
    """Send events, each once. Raises KafkaException."""
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "enable.idempotence": True})
    for event in EVENTS:
        producer.produce("orders", event, on_delivery=raise_failure)
    producer.flush()


async def of_aiokafka(broker: Broker) -> None:
    """Send events. Raises aiokafka's KafkaError."""
    producer = aiokafka.AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers)
    try:
        await producer.start()
        await asyncio.gather(*[await producer.send("orders", event) for event in EVENTS])
    finally:
        await producer.stop()


def of_kafka_python(broker: Broker) -> None:
    """Send events. Raises kafka-python's KafkaError."""
    with closing(kafka.KafkaProducer(bootstrap_servers=broker.bootstrap_servers)) as producer:
        for future in [producer.send("orders", event) for event in EVENTS]:
            future.get(60)


def confluent_transaction(broker: Broker) -> None:
    """Write events in one transaction; one that must be aborted is done again. Raises KafkaException."""
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "transactional.id": "book"})
    producer.init_transactions()
    while True:
        producer.begin_transaction()
        try:
            for event in EVENTS:
                producer.produce("orders", event)
            commit(producer)
        except KafkaException as failure:
            error = failure.args[0]
            if not isinstance(error, KafkaError) or not error.txn_requires_abort():
                raise
            producer.abort_transaction()
        else:
            return


def commit(producer: Producer) -> None:
    """Commit, again and again while the error says so. Raises KafkaException."""
    while True:
        try:
            producer.commit_transaction()
        except KafkaException as failure:
            error = failure.args[0]
            if not isinstance(error, KafkaError) or not error.retriable():
                raise
        else:
            return


def copy_then_commit(broker: Broker) -> None:
    """Copy the events as a member of a group, and commit each when its copy is written. Raises KafkaException."""
    settings = {"bootstrap.servers": broker.bootstrap_servers}
    ours = {"group.id": "copy", "enable.auto.commit": False, "auto.offset.reset": "earliest"}
    end = 2
    producer = Producer({**settings, "enable.idempotence": True})
    with closing(Consumer({**settings, **ours})) as consumer:
        consumer.subscribe(["orders"])
        while consumer.committed([TopicPartition("orders", 0)], timeout=60)[0].offset < end:
            message = consumer.poll(1)
            if message is None:
                continue
            if (error := message.error()) is not None:
                raise KafkaException(error)
            producer.produce("copies", message.value(), on_delivery=raise_failure)
            producer.flush()
            try:
                consumer.commit(message=message, asynchronous=False)
            except KafkaException as failure:
                # The partition is another member's, who copies the event again.
                if failure.args[0].code() not in (KafkaError.UNKNOWN_MEMBER_ID, KafkaError.REBALANCE_IN_PROGRESS):
                    raise


Program = Callable[[Broker], object]
# With what they promise.
PRODUCERS: Sequence[tuple[Program, str]] = (
    (confluent, "at-least-once"),
    (confluent_idempotent, "exactly-once"),
    (of_aiokafka, "at-least-once"),
    (of_kafka_python, "exactly-once"),
    (confluent_transaction, "exactly-once"),
)
IDS = [program.__name__ for program, _ in PRODUCERS]


@pytest.mark.parametrize(("program", "promise"), PRODUCERS, ids=IDS)
def test_a_correct_producer_is_not_accused_of_a_fault_that_is_soon_over(program: Program, promise: str) -> None:
    result = hunt(program, topics=["orders"], expect=promise, only=QUICK_FAULTS, budget=SLICE, jobs=2)

    assert not result.findings, report_text(result)


def test_a_correct_consumer_that_is_started_again_is_not_accused() -> None:
    result = hunt(
        copy_then_commit,
        topics=["copies"],
        expect="at-least-once",
        prepare=fill,
        restarts=1,
        only=QUICK_FAULTS,
        budget=SLICE,
        jobs=2,
    )

    assert not result.findings, report_text(result)


@pytest.mark.hunt
@pytest.mark.timeout(700)
@pytest.mark.parametrize(("program", "promise"), PRODUCERS, ids=IDS)
def test_a_correct_producer_is_not_accused(program: Program, promise: str) -> None:
    result = hunt(program, topics=["orders"], expect=promise, budget="10m", pairs=0, jobs=2)

    assert not result.findings, report_text(result)


@pytest.mark.hunt
@pytest.mark.timeout(700)
def test_a_correct_consumer_is_not_accused() -> None:
    result = hunt(
        copy_then_commit,
        topics=["copies"],
        expect="at-least-once",
        prepare=fill,
        restarts=1,
        budget="10m",
        pairs=0,
        jobs=2,
    )

    assert not result.findings, report_text(result)


@pytest.mark.java
def test_requests_in_flight_of_a_java_producer_do_not_overtake_the_one_with_a_change() -> None:
    rule = {
        "name": "producers expired",
        "match": {"api": "Produce", "topic": "orders"},
        "when": {"skip": 1},
        "point": "received",
        "action": {"kind": "hold", "mute": True},
    }
    program = str(JAVA_FOLDER / "InFlightProducer.java")

    judgement = replay(
        ["java", "-cp", f"{reference_jars()}/*", program, "{bootstrap}"],
        [rule],
        topics=["orders"],
        seed_topics={"orders": 1},
    )

    assert not judgement.is_finding, judgement.reasons
