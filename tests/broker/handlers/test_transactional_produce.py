"""Produce with a transactional id: verification with the coordinator."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import pytest

from fauxka.broker.cluster import Cluster
from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.coordinators.transaction.transaction_coordinator import TransactionCoordinator
from fauxka.broker.handlers.records import produce
from fauxka.broker.network.listeners import Listener
from fauxka.broker.requests.connection_info import ConnectionInfo
from fauxka.broker.requests.request_context import RequestContext
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from fauxka.protocol.primitives import Writer
from fauxka.protocol.produced_records import TransactionalProducer

from ...manual_clock import manual_clock
from ..steps import result_of

TOPIC, TRANSACTIONAL_ID = "events", "transfers"
JOINS, VERIFIED = 12, 11
TIMEOUT_MS = 60_000


@dataclass
class Scene:
    """A cluster with a transactional producer, and the calls of the coordinator."""

    monkeypatch: pytest.MonkeyPatch
    asked: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.cluster = Cluster(BrokerConfig.from_entries({}), clock=manual_clock())
        for name in (TOPIC, "__transaction_state"):
            self.cluster.controller.create_topic(name, 2)
        self._watch("add")
        self._watch("verify")
        begun = self.cluster.node.coordinators.transactions.init_producer(TRANSACTIONAL_ID, TIMEOUT_MS, None)
        self.producer = TransactionalProducer(begun.producer_id, begun.producer_epoch)

    def _watch(self, name: str) -> None:
        real = getattr(TransactionCoordinator, name)

        def watched(
            coordinator: TransactionCoordinator, id_: str, producer: int, epoch: int, partitions: Collection[object]
        ) -> None:
            self.asked.append(name)
            real(coordinator, id_, producer, epoch, partitions)

        self.monkeypatch.setattr(TransactionCoordinator, name, watched)

    def produce(
        self, sequence: int, *, version: int = JOINS, epoch: int | None = None, transactional_id: str = TRANSACTIONAL_ID
    ) -> tuple[ErrorCode, int, str | None]:
        """Return the error, the offset and the message of one batch for partition 0."""
        options = BatchOptions(
            producer_id=self.producer.producer_id,
            producer_epoch=self.producer.producer_epoch if epoch is None else epoch,
            base_sequence=sequence,
            is_transactional=True,
        )
        data = PartitionProduceData(index=0, records=build_batch([Record(b"v")], options))
        request = ProduceRequest(
            transactional_id=transactional_id,
            acks=-1,
            timeout_ms=1000,
            topic_data=[TopicProduceData(name=TOPIC, partition_data=[data])],
        )
        writer = Writer()
        request.write(writer, version)
        decoded = produce.decode(memoryview(writer.buffer), 0, len(writer.buffer), version)
        results = result_of(produce.handle(self._context(version), decoded))
        assert results is not None
        ((_, (partition,)),) = results.topics
        return ErrorCode(partition.error_code), partition.base_offset, partition.error_message

    def _context(self, version: int) -> RequestContext:
        listener = Listener("PLAINTEXT", "127.0.0.1", 9092, "127.0.0.1", 9092)
        context = RequestContext(self.cluster.node, ConnectionInfo(1, listener, "127.0.0.1"))
        context.api_version = version
        return context

    def end(self) -> None:
        self.cluster.node.coordinators.transactions.end(TRANSACTIONAL_ID, self.producer, 0, is_commit=True)


@pytest.fixture
def scene(monkeypatch: pytest.MonkeyPatch) -> Scene:
    return Scene(monkeypatch)


def test_first_batch_makes_the_partition_join_and_those_behind_it_do_not_ask_again(scene: Scene) -> None:
    answers = [scene.produce(sequence) for sequence in range(3)]

    assert answers == [(ErrorCode.NONE, offset, None) for offset in range(3)]
    assert scene.asked == ["add"]
    assert list(scene.cluster.node.coordinators.transactions.describe(TRANSACTIONAL_ID).partitions) == [(TOPIC, 0)]


def test_next_transaction_asks_again(scene: Scene) -> None:
    scene.produce(0)
    scene.end()

    scene.produce(1)

    assert scene.asked == ["add", "add"]


def test_version_before_12_is_verified_and_refused_where_the_partition_was_not_added(scene: Scene) -> None:
    refused = scene.produce(0, version=VERIFIED)

    assert refused == (ErrorCode.TRANSACTION_ABORTABLE, -1, None)
    assert scene.asked == ["verify"]


def test_version_before_11_receives_the_error_as_a_message(scene: Scene) -> None:
    refused = scene.produce(0, version=10)

    assert refused == (ErrorCode.INVALID_TXN_STATE, -1, "Partition was not added to the transaction")


def test_older_epoch_is_refused_while_the_transaction_of_the_newer_one_is_open(scene: Scene) -> None:
    fenced = scene.producer.producer_epoch
    begun = scene.cluster.node.coordinators.transactions.init_producer(TRANSACTIONAL_ID, TIMEOUT_MS, None)
    scene.producer = TransactionalProducer(begun.producer_id, begun.producer_epoch)
    scene.produce(0)

    refused = scene.produce(0, epoch=fenced)

    assert refused == (ErrorCode.INVALID_PRODUCER_EPOCH, -1, None)


def test_unknown_transactional_id_is_refused(scene: Scene) -> None:
    assert scene.produce(0, transactional_id="nobody")[0] == ErrorCode.INVALID_PRODUCER_ID_MAPPING


def test_gap_in_an_open_transaction_is_refused_as_anywhere(scene: Scene) -> None:
    scene.produce(0)

    assert scene.produce(5)[0] == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
