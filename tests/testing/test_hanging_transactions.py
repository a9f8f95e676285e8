"""A hanging transaction: librdkafka gives a batch up, aborts, and the batch arrives late."""

from __future__ import annotations

from functools import partial

import pytest
from confluent_kafka import Consumer, Producer

from fauxka.faults.verdict.verdict_findings import Finding
from fauxka.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from fauxka.testing import Broker

from ..wire.message_client import MessageClient

BROKER_RESOURCE = 4
TOPIC, VERIFICATION = "orders", "transaction.partition.verification.enable"
GIVEN_UP_MS = 1_500
POLL_SECONDS = 0.01


def new_producer(broker: Broker) -> Producer:
    producer = Producer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "transactional.id": "transfers",
            "linger.ms": 0,
            # It gives up a batch without a response so early, and can abort.
            "message.timeout.ms": GIVEN_UP_MS,
            "socket.timeout.ms": 1_000,
        }
    )
    producer.init_transactions()
    return producer


def set_dynamically(broker: Broker, key: str, value: str) -> None:
    config = AlterableConfig(name=key, config_operation=0, value=value)
    resource = AlterConfigsResource(resource_type=BROKER_RESOURCE, resource_name="1", configs=[config])
    client = MessageClient(broker.bootstrap_servers)
    client.call(IncrementalAlterConfigsRequest(resources=[resource]), 1)
    client.close()


def commit(producer: Producer, value: bytes) -> None:
    producer.begin_transaction()
    producer.produce(TOPIC, value)
    producer.commit_transaction()


def send_late(broker: Broker, producer: Producer) -> int:
    """Abort a transaction, and have its last batch arrive after the abort. Return the request of the batch."""
    producer.begin_transaction()
    producer.produce(TOPIC, b"in time")
    producer.flush()
    broker.faults.held(topic=TOPIC)
    producer.produce(TOPIC, b"late")
    # A batch that is not sent yet would be dropped by the abort.
    while not broker.held.list():
        producer.poll(POLL_SECONDS)
    producer.abort_transaction()
    broker.held.release()
    return broker.journal.entries(api="Produce")[-1].id


def hanging(broker: Broker) -> list[Finding]:
    return [each for each in broker.verdict(TOPIC).findings if each.kind == "hanging_transaction"]


def read_committed(broker: Broker) -> list[bytes | None]:
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": "readers",
            "auto.offset.reset": "earliest",
            "enable.partition.eof": False,
            "isolation.level": "read_committed",
        }
    )
    consumer.subscribe([TOPIC])
    try:
        return [message.value() for message in consumer.consume(10, timeout=5)]
    finally:
        consumer.close()


@pytest.mark.parametrize("is_dynamic", [False, True])
def test_a_batch_behind_the_abort_of_its_transaction_hangs_without_verification(*, is_dynamic: bool) -> None:
    with Broker({} if is_dynamic else {VERIFICATION: "false"}) as broker:
        if is_dynamic:
            set_dynamically(broker, VERIFICATION, "false")
        producer = new_producer(broker)
        commit(producer, b"before")
        request_id = send_late(broker, producer)
        other = Producer({"bootstrap.servers": broker.bootstrap_servers})
        other.produce(TOPIC, b"behind")
        other.flush()

        (finding,) = hanging(broker)

        assert (finding.offsets, finding.base_sequence, finding.requests) == ([4, 4], 2, [request_id])
        assert finding.why == (
            "the batch of producer 0 epoch 0, sequences 2..2, "
            "began a transaction at offset 4 that no coordinator ends: "
            "the transactional id 'transfers' is in state Empty and does not have this partition; "
            "read_committed consumers do not read offset 4 and what follows"
        )
        assert read_committed(broker) == [b"before"]
        with pytest.raises(AssertionError, match="expected exactly once, found 1 hanging transaction\\n"):
            broker.verdict(TOPIC).assert_exactly_once()


def test_the_end_of_the_next_transaction_ends_one_that_hangs() -> None:
    with Broker({VERIFICATION: "false"}) as broker:
        producer = new_producer(broker)
        send_late(broker, producer)
        producer.begin_transaction()
        producer.produce(TOPIC, b"next")
        producer.flush()
        assert [each.offsets for each in hanging(broker)] == []

        producer.commit_transaction()

        assert hanging(broker) == []
        assert b"next" in read_committed(broker)


def test_verification_refuses_the_late_batch() -> None:
    with Broker() as broker:
        producer = new_producer(broker)
        send_late(broker, producer)

        verdict = broker.verdict(TOPIC)

        assert (verdict.findings, verdict.batches.refused) == ([], 1)


def test_an_open_transaction_is_no_finding() -> None:
    with Broker({VERIFICATION: "false"}) as broker:
        producer = new_producer(broker)
        producer.begin_transaction()
        producer.produce(TOPIC, b"open")
        producer.flush()

        assert broker.verdict(TOPIC).findings == []
        producer.abort_transaction()


def test_a_transaction_of_a_deleted_transactional_id_hangs() -> None:
    with Broker({VERIFICATION: "false"}) as broker:
        producer = new_producer(broker)
        send_late(broker, producer)
        broker.transactions.delete("transfers")

        (finding,) = hanging(broker)

        assert "no coordinator ends: no transactional id has this producer id;" in finding.why


def test_a_transaction_of_a_coordinator_that_is_down_is_no_finding() -> None:
    with Broker({"default.replication.factor": "1", VERIFICATION: "false"}, nodes=2) as broker:
        for name, node in (("__transaction_state", 2), (TOPIC, 1)):
            broker.call(partial(broker.cluster.controller.create_topic, name, 1, assignments=[[node]]))
        producer = new_producer(broker)
        send_late(broker, producer)
        assert len(hanging(broker)) == 1

        broker.stop_node(2, controlled=False, noticed=False)

        assert hanging(broker) == []
