"""Rules of older releases that the captures of tests/golden do not reach."""

from __future__ import annotations

import pytest

from fauxka.broker.cluster import Cluster
from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.protocol.batches.records import Record, build_batch
from fauxka.protocol.error_codes import ErrorCode, KafkaError
from fauxka.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from fauxka.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse
from fauxka.protocol.produced_records import TransactionalProducer
from fauxka.storage.producers.emulated_version import EmulatedVersion
from fauxka.testing import Broker

from ..manual_clock import manual_clock
from ..wire.message_client import MessageClient
from .blocking_client import TOPIC as TOPIC_RESOURCE
from .blocking_client import BlockingClient

OLD_CLIENT = 0


def produce_before_and_after_a_higher_min_isr(as_version: str) -> list[int]:
    """The error codes of three batches with acks=all; min.insync.replicas is raised to 2 before the last one."""
    batch = build_batch([Record(value=b"v", timestamp=1)])
    with Broker(as_version=as_version) as broker, BlockingClient(broker.bootstrap_servers) as client:
        assert client.create_topic("events").error_code == 0
        codes = [client.produce("events", batch).error_code for _ in range(2)]
        assert client.set_config(TOPIC_RESOURCE, "events", "min.insync.replicas", "2") == 0
        return [*codes, client.produce("events", batch).error_code]


def test_before_3_7_a_higher_min_isr_refuses_a_producer_that_sent_before() -> None:
    assert produce_before_and_after_a_higher_min_isr("3.6") == [0, 0, ErrorCode.NOT_ENOUGH_REPLICAS]


def test_from_3_7_on_min_isr_is_at_most_the_number_of_replicas() -> None:
    assert produce_before_and_after_a_higher_min_isr("3.7") == [0, 0, 0]


@pytest.mark.parametrize(("as_version", "state"), [("2.5", "PrepareCommit"), ("2.6", "Ongoing")])
def test_before_2_6_a_refused_end_in_a_higher_epoch_decides_and_writes_no_marker(as_version: str, state: str) -> None:
    version = EmulatedVersion.parse(as_version)
    cluster = Cluster(BrokerConfig.from_entries({}), clock=manual_clock(), emulated_version=version)
    for name in ("events", "__transaction_state"):
        cluster.controller.create_topic(name, 1)
    transactions = cluster.node.coordinators.transactions
    begun = transactions.init_producer("transfers", 60_000, None)
    producer = TransactionalProducer(begun.producer_id, begun.producer_epoch)
    transactions.add("transfers", *producer, [("events", 0)], client_version=OLD_CLIENT)

    with pytest.raises(KafkaError) as refused:
        transactions.end("transfers", producer._replace(producer_epoch=1), OLD_CLIENT, is_commit=True)

    assert refused.value.code == ErrorCode.PRODUCER_FENCED
    assert transactions.describe("transfers").state_name == state
    assert cluster.node.replicas.partition_of("events", 0).log.log_end_offset == 0


def rises_of_consumer_epochs(as_version: str) -> list[int]:
    """The rises of the epoch in which a second and a third member of a consumer group join."""
    epochs: list[int] = []
    with Broker(as_version=as_version) as broker, MessageClient(broker.bootstrap_servers) as client:
        broker.topics.create("orders")
        for member_id in "abc":
            request = ConsumerGroupHeartbeatRequest(
                group_id="billing",
                member_id=member_id,
                member_epoch=0,
                rebalance_timeout_ms=6000,
                subscribed_topic_names=["orders"],
                topic_partitions=[],
            )
            epochs.append(client.call(request, 0, ConsumerGroupHeartbeatResponse).member_epoch)
    return [epochs[1] - epochs[0], epochs[2] - epochs[1]]


def rises_of_share_epochs(as_version: str) -> list[int]:
    """The rises of the epoch in which a second and a third member of a share group join."""
    epochs: list[int] = []
    with Broker(as_version=as_version) as broker, MessageClient(broker.bootstrap_servers) as client:
        broker.topics.create("orders")
        for member_id in "abc":
            request = ShareGroupHeartbeatRequest(
                group_id="billing", member_id=member_id, member_epoch=0, subscribed_topic_names=["orders"]
            )
            epochs.append(client.call(request, 1, ShareGroupHeartbeatResponse).member_epoch)
    return [epochs[1] - epochs[0], epochs[2] - epochs[1]]


# As Kafka 4.0.0, 4.2.0 and 4.3.0 return them.
@pytest.mark.parametrize(("as_version", "rises"), [("4.0", [1, 1]), ("4.2", [1, 1]), ("4.3", [0, 0])])
def test_before_4_3_each_member_of_a_consumer_group_has_its_assignment_at_once(
    as_version: str, rises: list[int]
) -> None:
    assert rises_of_consumer_epochs(as_version) == rises


@pytest.mark.parametrize(("as_version", "rises"), [("4.2", [1, 1]), ("4.3", [0, 0])])
def test_before_4_3_each_member_of_a_share_group_has_its_assignment_at_once(as_version: str, rises: list[int]) -> None:
    assert rises_of_share_epochs(as_version) == rises
