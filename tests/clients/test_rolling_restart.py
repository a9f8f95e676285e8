"""Each client produces, and reads in a group, while the three nodes of a cluster restart in turn."""

import gc
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Protocol

import pytest

from fauxka.testing import Broker

from .aiokafka_client import AiokafkaClient
from .client import STEP_SECONDS_MAX
from .confluent_client import ConfluentClient
from .console_processes import ConsoleProcesses
from .java_client import JavaClient
from .kafka_python_client import KafkaPythonClient
from .kcat_client import KcatClient
from .records import FIRST_TIMESTAMP_MS, PARTITION_COUNT, Record, StoredRecord

NODES = (1, 2, 3)
TOPIC, GROUP = "orders", "audit"
# The two nodes that are left acknowledge with acks=all.
CONFIG = {
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
}
SEND_COUNT = 60
CLIENTS = [
    pytest.param(ConfluentClient, id="confluent-kafka", marks=pytest.mark.clients),
    pytest.param(AiokafkaClient, id="aiokafka", marks=pytest.mark.clients),
    pytest.param(KafkaPythonClient, id="kafka-python", marks=pytest.mark.clients),
    pytest.param(JavaClient, id="java", marks=pytest.mark.java),
    pytest.param(ConsoleProcesses, id="console", marks=pytest.mark.java),
    pytest.param(KcatClient, id="kcat", marks=pytest.mark.kcat),
]


class Producer(Protocol):
    """An idempotent producer of one topic."""

    def send(self, records: Sequence[Record]) -> None:
        """Send records without waiting for the responses."""
        ...

    def wait(self) -> object:
        """Wait for all responses. Raises if a record was not acknowledged."""
        ...

    def close(self) -> None:
        """Close it."""
        ...


class Member(Protocol):
    """A member of a group."""

    def poll(self) -> list[StoredRecord]:
        """Return the records that came."""
        ...

    def close(self) -> object:
        """Leave the group."""
        ...


class Client(Protocol):
    """A client, or a pair of commands."""

    def start_producer(self, topic: str) -> Producer:
        """Start a producer."""
        ...

    def join(self, group: str, topic: str) -> Member:
        """Start a member that reads from the beginning."""
        ...

    def close(self) -> None:
        """Close what is still open."""
        ...


class Application:
    """A producer and a reader, with the values that were sent and read."""

    def __init__(self, producer: Producer, reader: Member) -> None:
        self.sent: list[bytes] = []
        self.read: set[bytes | None] = set()
        self._producer = producer
        self._reader = reader

    def send(self) -> None:
        """Send the next records, in turn over the partitions."""
        numbers = range(len(self.sent), len(self.sent) + SEND_COUNT)
        values = [str(number).encode() for number in numbers]
        self.sent += values
        self._producer.send(
            [
                Record(number % PARTITION_COUNT, value, value, (), FIRST_TIMESTAMP_MS)
                for number, value in zip(numbers, values, strict=True)
            ]
        )

    def read_everything(self) -> None:
        """Read until every record that was sent has come."""
        deadline = time.monotonic() + STEP_SECONDS_MAX
        while not self.read.issuperset(self.sent):
            assert time.monotonic() < deadline, f"{len(self.read)} of {len(self.sent)} records were read"
            self.read.update(stored.record.value for stored in self._reader.poll())


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker(CONFIG, nodes=3) as started:
        started.topics.create(TOPIC, PARTITION_COUNT)
        yield started


def await_in_sync(broker: Broker) -> None:
    """Wait until every replica is in the ISR, as an operator does before the next node stops."""
    deadline = time.monotonic() + STEP_SECONDS_MAX
    while any(set(partition.isr) != set(NODES) for partition in broker.partitions()):
        assert time.monotonic() < deadline, broker.partitions()
        time.sleep(0.02)


def restart_nodes_in_turn(make: Callable[[str], Client], broker: Broker, *, is_controlled: bool) -> Application:
    """Stop and start each node while the client works, and return the application after all its responses."""
    with (
        closing(make(broker.bootstrap_servers)) as client,
        closing(client.start_producer(TOPIC)) as producer,
        closing(client.join(GROUP, TOPIC)) as reader,
    ):
        application = Application(producer, reader)
        application.send()
        application.read_everything()
        for node in NODES:
            broker.move_coordinator(node, group_id=GROUP)
            await_in_sync(broker)

            application.send()
            broker.stop_node(node, controlled=is_controlled, noticed=not is_controlled)
            application.send()
            application.read_everything()
            broker.start_node(node)
        producer.wait()
    return application


@pytest.mark.parametrize("is_controlled", [True, False], ids=["stopped", "killed"])
@pytest.mark.parametrize("make", CLIENTS)
def test_every_acknowledged_record_is_read_while_the_nodes_restart_in_turn(
    make: Callable[[str], Client], broker: Broker, is_controlled: bool, caplog: pytest.LogCaptureFixture
) -> None:
    # The captured log refers to kafka-python's connections.
    caplog.set_level(logging.CRITICAL, "kafka")
    sent_count = len(restart_nodes_in_turn(make, broker, is_controlled=is_controlled).sent)
    # Finds the sockets that kafka-python did not close here, not in a later test.
    gc.collect()

    verdict = broker.verdict(TOPIC)
    verdict.assert_exactly_once()
    assert verdict.records.in_log == sent_count
