"""What a refused heartbeat leaves behind, and the commit of a member that has lost a task."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from fauxka.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from fauxka.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from fauxka.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from fauxka.protocol.messages.streams_group_heartbeat import (
    Endpoint,
    StreamsGroupHeartbeatRequest,
    Subtopology,
    TaskIds,
    Topology,
)
from fauxka.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)
from fauxka.testing import Broker

from ....wire.message_client import MessageClient
from ....wire.streams_member import CONFIG, GROUP, TOPOLOGY, beat, send
from .streams_scene import begin

TRANSACTION = 1
STATELESS = Topology(subtopologies=[Subtopology(subtopology_id="0", source_topics=["orders"])])


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker(CONFIG) as started:
        yield started


@pytest.fixture
def client(broker: Broker) -> Iterator[MessageClient]:
    client = MessageClient(broker.bootstrap_servers)
    yield client
    client.close()


def test_new_partitions_are_assigned_after_a_refused_heartbeat(broker: Broker, client: MessageClient) -> None:
    address = broker.bootstrap_servers
    broker.topics.create("orders", partitions=1)
    epoch = beat(address, "a", 0, topology=STATELESS).member_epoch
    grown = CreatePartitionsTopic(name="orders", count=2, assignments=None)
    client.call(CreatePartitionsRequest(topics=[grown], timeout_ms=10_000), 3, CreatePartitionsResponse)

    refused = beat(address, "a", epoch, [TaskIds(subtopology_id="none", partitions=[0])])
    accepted = beat(address, "a", epoch)

    assert refused.error_code == ErrorCode.INVALID_REQUEST
    assert accepted.active_tasks == [TaskIds(subtopology_id="0", partitions=[0, 1])]


def test_member_whose_endpoint_cannot_be_listed_makes_no_group(broker: Broker) -> None:
    request = StreamsGroupHeartbeatRequest(
        group_id=GROUP,
        member_id="a",
        process_id="process",
        rebalance_timeout_ms=60_000,
        topology=TOPOLOGY,
        user_endpoint=Endpoint(host="localhost", port=9),
        active_tasks=[],
        standby_tasks=[],
        warmup_tasks=[],
    )

    answer = send(broker.bootstrap_servers, request)

    assert answer.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert broker.groups.list() == []


def test_transactional_commit_of_a_lost_task_has_an_error_that_old_clients_know(
    broker: Broker, client: MessageClient
) -> None:
    epoch = begin(broker)
    find = FindCoordinatorRequest(key_type=TRANSACTION, coordinator_keys=["app-1"])
    client.call(find, 4, FindCoordinatorResponse)
    begun = InitProducerIdRequest(transactional_id="app-1", transaction_timeout_ms=60_000)
    producer = client.call(begun, 4, InitProducerIdResponse)
    added = AddOffsetsToTxnRequest(
        transactional_id="app-1",
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        group_id=GROUP,
    )
    client.call(added, 3, AddOffsetsToTxnResponse)
    lost = TxnOffsetCommitRequestPartition(partition_index=3, committed_offset=1)
    topic = TxnOffsetCommitRequestTopic(name="orders", partitions=[lost])

    request = TxnOffsetCommitRequest(
        transactional_id="app-1",
        group_id=GROUP,
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        member_id="a",
        generation_id=epoch - 1,
        topics=[topic],
    )
    answer = client.call(request, 4, TxnOffsetCommitResponse)

    assert answer.topics[0].partitions[0].error_code == ErrorCode.ILLEGAL_GENERATION
