"""Topics, producers, groups and transactions for a cluster of three brokers, and what its clients see of them.

`ClusterScene.fill` writes the same to a real Kafka and to fauxka. `observe` asks for everything that must outlast a
change of brokers: batches, records of committed transactions, committed offsets, and the responses to producers that
continue.
"""

import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from fauxka.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from fauxka.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

from ..broker.blocking_client import BlockingClient
from ..golden.raw_batches import batch
from .log_client import LogClient, ProduceAnswer, Stored, log_client

NODES = (1, 2, 3)
# Each topic with the replicas of its partitions; the first replica leads.
REPLICATED, SINGLE, UNFINISHED = "replicated", "single", "unfinished"
ASSIGNMENTS: Mapping[str, list[list[int]]] = {
    REPLICATED: [[1, 2, 3], [2, 3, 1], [3, 1, 2]],
    SINGLE: [[1], [2], [3]],
    UNFINISHED: [[2, 1, 3]],
}
PARTITIONS = tuple((topic, index) for topic, of_topic in ASSIGNMENTS.items() for index in range(len(of_topic)))

# Far above what a fresh broker gives away in a test.
FIRST_PRODUCER = 7000
BATCHES_OF_PRODUCER = 7
TRANSACTIONS = 6
# Of the ids, one has an open transaction.
TRANSACTIONAL_IDS = COMPLETED_ID, OPEN_ID = "completed", "open"
GROUPS = READERS, COPIERS = "readers", "copiers"
SECONDS_MAX = 60.0
POLL_SECONDS = 0.05
# COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR, CONCURRENT_TRANSACTIONS.
COORDINATOR_NOT_READY = (14, 15, 16, 51)
COORDINATOR_OF_TRANSACTIONS = 1
TIMEOUT_MS = 900_000


@dataclass(frozen=True, slots=True)
class Observed:
    """What clients see, by the name of the partition, the group, the question or the transactional id.

    initialized: producer id and epoch. ends: the log end offsets after all questions.
    """

    logs: Mapping[str, Stored]
    committed_values: Mapping[str, list[bytes | None]]
    committed_offsets: Mapping[str, Mapping[str, int]]
    answers: Mapping[str, ProduceAnswer]
    initialized: Mapping[str, tuple[int, int]]
    ends: Mapping[str, int]


class ClusterScene:
    """A moment, and what is produced as if it were then."""

    def __init__(self) -> None:
        self._start_ms = int(time.time() * 1000)

    def fill(self, bootstrap: str) -> None:
        """Create the topics, produce, consume and commit."""
        _create_topics(bootstrap)
        self._fill_producers(bootstrap)
        _fill_plain(bootstrap)
        _fill_transactions(bootstrap)
        _commit_offsets(bootstrap)

    def _fill_producers(self, bootstrap: str) -> None:
        """Append batches of one producer a partition, with ids that tests can use again."""
        with ExitStack() as opened:
            clients = leader_clients(bootstrap, opened)
            for number, (topic, index) in enumerate(PARTITIONS):
                for turn in range(BATCHES_OF_PRODUCER):
                    clients[topic, index].append(topic, self._of(number, 2 * turn), index)

    def ask(self, bootstrap: str) -> dict[str, ProduceAnswer]:
        """Return the responses to retries, gaps and next batches of the producers, by what they are about."""
        asked = (
            ("the last batch again", 2 * (BATCHES_OF_PRODUCER - 1)),
            ("a gap", 2 * BATCHES_OF_PRODUCER + 10),
            ("the next batch", 2 * BATCHES_OF_PRODUCER),
            ("the next batch again", 2 * BATCHES_OF_PRODUCER),
        )
        answers: dict[str, ProduceAnswer] = {}
        with ExitStack() as opened:
            clients = leader_clients(bootstrap, opened)
            for number, (topic, index) in enumerate(PARTITIONS):
                for about, base_sequence in asked:
                    sent = self._of(number, base_sequence)
                    answers[f"{topic}-{index}: {about}"] = clients[topic, index].produce(topic, sent, index)
        return answers

    def observe(self, bootstrap: str) -> Observed:
        """Read everything, and then have the producers continue."""
        with ExitStack() as opened:
            clients = leader_clients(bootstrap, opened)
            logs = {name_of(*each): clients[each].stored(*each) for each in PARTITIONS}
        committed_values, committed_offsets = _committed_values(bootstrap), _committed_offsets(bootstrap)
        answers = self.ask(bootstrap)
        initialized = {each: _initialize(bootstrap, each) for each in TRANSACTIONAL_IDS}
        with ExitStack() as opened:
            clients = leader_clients(bootstrap, opened)
            ends = {name_of(*each): clients[each].stored(*each).log_end_offset for each in PARTITIONS}
        return Observed(logs, committed_values, committed_offsets, answers, initialized, ends)

    def _of(self, number: int, base_sequence: int) -> bytes:
        producer_id = FIRST_PRODUCER + number
        return batch(2, self._start_ms, producer_id=producer_id, producer_epoch=0, base_sequence=base_sequence)


def name_of(topic: str, index: int) -> str:
    return f"{topic}-{index}"


def leader_clients(bootstrap: str, opened: ExitStack) -> dict[tuple[str, int], LogClient]:
    """Return a client of the leader of each partition, once all partitions have one. opened: closes the clients."""
    addresses = _leader_addresses(bootstrap)
    clients = {address: opened.enter_context(log_client(address)) for address in set(addresses.values())}
    for (topic, index), address in addresses.items():
        clients[address].wait_until_led(topic, index)
    return {partition: clients[address] for partition, address in addresses.items()}


def _leader_addresses(bootstrap: str) -> dict[tuple[str, int], str]:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    deadline = time.monotonic() + SECONDS_MAX
    while True:
        metadata = admin.list_topics(timeout=SECONDS_MAX)
        brokers = {broker.id: f"{broker.host}:{broker.port}" for broker in metadata.brokers.values()}
        found = {
            (name, index): brokers[metadata.topics[name].partitions[index].leader]
            for name, index in PARTITIONS
            if name in metadata.topics and metadata.topics[name].partitions[index].leader in brokers
        }
        if len(found) == len(PARTITIONS):
            return found
        assert time.monotonic() < deadline, f"only {sorted(found)} have leaders"
        time.sleep(POLL_SECONDS)


def _create_topics(bootstrap: str) -> None:
    topics = [
        CreatableTopic(
            name=name,
            num_partitions=-1,
            replication_factor=-1,
            assignments=[
                CreatableReplicaAssignment(partition_index=index, broker_ids=replicas)
                for index, replicas in enumerate(assignment)
            ],
            configs=[CreatableTopicConfig(name="retention.ms", value="-1")],
        )
        for name, assignment in ASSIGNMENTS.items()
    ]
    with BlockingClient(bootstrap.partition(",")[0]) as client:
        request = CreateTopicsRequest(topics=topics, timeout_ms=TIMEOUT_MS)
        response = client.send(ApiKey.CREATE_TOPICS, 7, request, CreateTopicsResponse.read)
    assert [each.error_code for each in response.topics] == [0] * len(topics), response


def _fill_plain(bootstrap: str) -> None:
    """Produce compressed batches with keys and headers, by an idempotent client."""
    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True, "compression.type": "lz4"})
    for number in range(200):
        for topic in (REPLICATED, SINGLE):
            headers: list[tuple[str, str | bytes | None]] = [("number", b"%d" % number)]
            partition = number % len(ASSIGNMENTS[topic])
            producer.produce(topic, b"plain %d" % number, b"key %d" % number, partition, headers=headers)
    assert producer.flush(SECONDS_MAX) == 0


def _fill_transactions(bootstrap: str) -> None:
    """Commit and abort transactions of one id, with offsets of a group, and leave one of another id open."""
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": COMPLETED_ID})
    producer.init_transactions(SECONDS_MAX)
    group = Consumer({"bootstrap.servers": bootstrap, "group.id": COPIERS})
    for number in range(TRANSACTIONS):
        producer.begin_transaction()
        for topic, index in PARTITIONS:
            producer.produce(topic, b"transaction %d" % number, partition=index)
        offsets = [TopicPartition(REPLICATED, 0, number + 1)]
        producer.send_offsets_to_transaction(offsets, group.consumer_group_metadata(), SECONDS_MAX)
        if number % 2:
            producer.flush(SECONDS_MAX)
            producer.abort_transaction(SECONDS_MAX)
        else:
            producer.commit_transaction(SECONDS_MAX)
    group.close()
    unfinished = Producer(
        {"bootstrap.servers": bootstrap, "transactional.id": OPEN_ID, "transaction.timeout.ms": TIMEOUT_MS}
    )
    unfinished.init_transactions(SECONDS_MAX)
    unfinished.begin_transaction()
    unfinished.produce(UNFINISHED, b"never committed", partition=0)
    assert unfinished.flush(SECONDS_MAX) == 0


def _commit_offsets(bootstrap: str) -> None:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": READERS, "enable.auto.commit": False})
    offsets = [TopicPartition(topic, index, 3 + index) for topic, index in PARTITIONS]
    committed = consumer.commit(offsets=offsets, asynchronous=False)
    assert committed is not None
    assert [each.error for each in committed] == [None] * len(offsets)
    consumer.close()


def _committed_values(bootstrap: str) -> dict[str, list[bytes | None]]:
    """Return the values that a consumer with read_committed gets from each partition, in order."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "not used",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "enable.auto.commit": False,
        }
    )
    values: dict[str, list[bytes | None]] = {name_of(*each): [] for each in PARTITIONS}
    consumer.assign([TopicPartition(topic, index, OFFSET_BEGINNING) for topic, index in PARTITIONS])
    open_partitions = set(values)
    while open_partitions:
        message = consumer.poll(SECONDS_MAX)
        assert message is not None, f"nothing of {sorted(open_partitions)}"
        name = _partition_of(message)
        error = message.error()
        if error is None:
            values[name].append(message.value())
        else:
            assert error.code() == KafkaError._PARTITION_EOF, error
            open_partitions.discard(name)
    consumer.close()
    return values


def _partition_of(message: Message) -> str:
    topic, partition = message.topic(), message.partition()
    assert topic is not None
    assert partition is not None
    return name_of(topic, partition)


def _committed_offsets(bootstrap: str) -> dict[str, dict[str, int]]:
    offsets: dict[str, dict[str, int]] = {}
    for group in GROUPS:
        consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group})
        found = consumer.committed([TopicPartition(*each) for each in PARTITIONS], SECONDS_MAX)
        offsets[group] = {name_of(each.topic, each.partition): each.offset for each in found}
        consumer.close()
    return offsets


def _initialize(bootstrap: str, transactional_id: str) -> tuple[int, int]:
    """Initialize a producer as a client that starts again. Return its id and epoch.

    A cluster that starts has no coordinator for a while, and an open transaction is aborted first.
    """
    deadline = time.monotonic() + SECONDS_MAX
    find = FindCoordinatorRequest(key_type=COORDINATOR_OF_TRANSACTIONS, key=transactional_id)
    initialize = InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=TIMEOUT_MS)
    with BlockingClient(bootstrap.partition(",")[0]) as client:
        while True:
            found = client.send(ApiKey.FIND_COORDINATOR, 3, find, FindCoordinatorResponse.read)
            error_code = found.error_code
            if error_code == 0:
                with BlockingClient(f"{found.host}:{found.port}") as coordinator:
                    response = coordinator.send(ApiKey.INIT_PRODUCER_ID, 4, initialize, InitProducerIdResponse.read)
                if response.error_code == 0:
                    return response.producer_id, response.producer_epoch
                error_code = response.error_code
            assert error_code in COORDINATOR_NOT_READY and time.monotonic() < deadline, error_code
            time.sleep(POLL_SECONDS)
