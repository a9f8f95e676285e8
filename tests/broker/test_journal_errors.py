"""The first error inside a response in the journal, for requests of a client that a real broker refuses in part."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fauxka.faults.journal.journal_entries import JournalEntry
from fauxka.faults.rule_error import RuleError
from fauxka.protocol.client_requests import RequestMessage
from fauxka.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from fauxka.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from fauxka.protocol.messages.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from fauxka.protocol.messages.delete_topics import DeleteTopicsRequest
from fauxka.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from fauxka.protocol.messages.find_coordinator import FindCoordinatorRequest
from fauxka.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from fauxka.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from fauxka.protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from fauxka.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from fauxka.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from fauxka.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from fauxka.testing import Broker

from ..wire.message_client import MessageClient

# Enough for a response within the test; no request waits for it.
TIMEOUT_MS = 1000


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker(config={"auto.create.topics.enable": False}) as running:
        running.topics.create("orders", partitions=3)
        yield running


@pytest.fixture
def client(broker: Broker) -> Iterator[MessageClient]:
    with MessageClient(broker.bootstrap_servers) as connected:
        yield connected


def newest(broker: Broker) -> JournalEntry:
    return broker.journal.entries()[-1]


def place_of(entry: JournalEntry) -> tuple[object, ...]:
    """Return the first error with its topic, partition and group, and the number of the others."""
    first = entry.first_error
    assert first is not None, f"{entry.api} has no error"
    assert entry.error == first.error
    return first.error, first.topic, first.partition, first.group_id, entry.more_errors


def join(client: MessageClient, member_id: str = "") -> JoinGroupResponse:
    request = JoinGroupRequest(
        group_id="billing",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        member_id=member_id,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=bytes(10))],
    )
    return client.call(request, 7, JoinGroupResponse)


def test_member_id_required_has_the_group_and_the_new_member(broker: Broker, client: MessageClient) -> None:
    joined = join(client)

    entry = newest(broker)
    assert place_of(entry) == ("MEMBER_ID_REQUIRED", None, None, "billing", 0)
    assert entry.first_error is not None
    assert entry.first_error.member_id == joined.member_id


def test_illegal_generation_has_the_first_partition_and_counts_the_others(
    broker: Broker, client: MessageClient
) -> None:
    member_id = join(client).member_id
    generation = join(client, member_id).generation_id
    partitions = [OffsetCommitRequestPartition(partition_index=index, committed_offset=7) for index in (2, 0, 1)]

    client.call(
        OffsetCommitRequest(
            group_id="billing",
            generation_id_or_member_epoch=generation + 1,
            member_id=member_id,
            topics=[OffsetCommitRequestTopic(name="orders", partitions=partitions)],
        ),
        8,
    )

    entry = newest(broker)
    assert place_of(entry) == ("ILLEGAL_GENERATION", "orders", 2, "billing", 2)
    assert entry.offsets is not None
    assert (entry.offsets.member_id, entry.offsets.epoch) == (member_id, generation + 1)
    assert [(each.partition, each.offset, each.error) for each in entry.offsets.offsets] == [
        (2, 7, "ILLEGAL_GENERATION"),
        (0, 7, "ILLEGAL_GENERATION"),
        (1, 7, "ILLEGAL_GENERATION"),
    ]


def test_offset_out_of_range_has_the_partition_and_the_offset_asked_for(broker: Broker, client: MessageClient) -> None:
    partitions = [
        FetchPartition(partition=index, fetch_offset=index * 50, partition_max_bytes=1000) for index in (0, 1)
    ]
    topics = [FetchTopic(topic="orders", partitions=partitions)]

    client.call(FetchRequest(max_wait_ms=0, max_bytes=1000, topics=topics), 11)

    entry = newest(broker)
    assert place_of(entry) == ("OFFSET_OUT_OF_RANGE", "orders", 1, None, 0)
    assert entry.fetch is not None
    assert [(each.fetch_offset, each.error) for each in entry.fetch.partitions] == [
        (0, None),
        (50, "OFFSET_OUT_OF_RANGE"),
    ]


def fenced_producer(client: MessageClient) -> int:
    """Return the id of a producer whose epoch 0 is fenced, after the coordinators have been looked up."""
    for key_type, key in ((0, "billing"), (1, "shop-1")):
        client.call(FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key]), 4)
    request = InitProducerIdRequest(transactional_id="shop-1", transaction_timeout_ms=10_000)
    client.call(request, 4, InitProducerIdResponse)
    return client.call(request, 4, InitProducerIdResponse).producer_id


def test_producer_fenced_has_the_transaction_and_its_first_partition(broker: Broker, client: MessageClient) -> None:
    request = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id="shop-1",
        v3_and_below_producer_id=fenced_producer(client),
        v3_and_below_producer_epoch=0,
        v3_and_below_topics=[AddPartitionsToTxnTopic(name="orders", partitions=[1, 2])],
    )

    client.call(request, 3)

    entry = newest(broker)
    assert place_of(entry) == ("PRODUCER_FENCED", "orders", 1, None, 1)
    assert entry.first_error is not None
    assert entry.first_error.transactional_id == "shop-1"


def test_refused_txn_offset_commit_has_its_partition(broker: Broker, client: MessageClient) -> None:
    partition = TxnOffsetCommitRequestPartition(partition_index=1, committed_offset=9)
    request = TxnOffsetCommitRequest(
        transactional_id="shop-1",
        group_id="billing",
        producer_id=fenced_producer(client),
        producer_epoch=0,
        topics=[TxnOffsetCommitRequestTopic(name="orders", partitions=[partition])],
    )

    client.call(request, 3)

    entry = newest(broker)
    assert place_of(entry) == ("INVALID_PRODUCER_EPOCH", "orders", 1, "billing", 0)
    assert entry.offsets is not None
    assert entry.offsets.producer_epoch == 0
    assert [(each.partition, each.offset) for each in entry.offsets.offsets] == [(1, 9)]


OF_A_TOPIC: list[tuple[RequestMessage, int, tuple[object, ...]]] = [
    (
        ListOffsetsRequest(
            topics=[ListOffsetsTopic(name="none", partitions=[ListOffsetsPartition(partition_index=4, timestamp=-1)])]
        ),
        5,
        ("UNKNOWN_TOPIC_OR_PARTITION", "none", 4, None, 0),
    ),
    (
        DeleteRecordsRequest(
            topics=[
                DeleteRecordsTopic(name="orders", partitions=[DeleteRecordsPartition(partition_index=2, offset=9)])
            ],
            timeout_ms=TIMEOUT_MS,
        ),
        2,
        ("OFFSET_OUT_OF_RANGE", "orders", 2, None, 0),
    ),
    (
        CreateTopicsRequest(
            topics=[CreatableTopic(name=name, num_partitions=1, replication_factor=1) for name in ("new", "orders")],
            timeout_ms=TIMEOUT_MS,
        ),
        5,
        ("TOPIC_ALREADY_EXISTS", "orders", None, None, 0),
    ),
    (
        DeleteTopicsRequest(topic_names=["none", "neither"], timeout_ms=TIMEOUT_MS),
        5,
        ("UNKNOWN_TOPIC_OR_PARTITION", "none", None, None, 1),
    ),
    (
        MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in ("orders", "none")]),
        9,
        ("UNKNOWN_TOPIC_OR_PARTITION", "none", None, None, 0),
    ),
]


@pytest.mark.parametrize(("request_message", "version", "expected"), OF_A_TOPIC, ids=lambda value: type(value).__name__)
def test_error_has_its_topic_and_partition(
    request_message: RequestMessage, version: int, expected: tuple[object, ...], broker: Broker, client: MessageClient
) -> None:
    client.call(request_message, version)

    assert place_of(newest(broker)) == expected


def test_refused_find_coordinator_has_its_key(broker: Broker, client: MessageClient) -> None:
    client.call(FindCoordinatorRequest(key_type=9, coordinator_keys=["billing"]), 4)

    entry = newest(broker)
    assert entry.first_error is not None
    assert (entry.error, entry.first_error.key) == ("INVALID_REQUEST", "billing")


def test_filter_finds_an_error_that_is_not_the_first(broker: Broker, client: MessageClient) -> None:
    topics = [MetadataRequestTopic(name=name) for name in ("none", "a/b", "orders")]
    client.call(MetadataRequest(topics=topics), 9)
    entry = newest(broker)

    assert (entry.error, entry.more_errors) == ("UNKNOWN_TOPIC_OR_PARTITION", 1)
    assert broker.journal.entries(error="INVALID_TOPIC_EXCEPTION") == [entry]
    assert broker.journal.count(error="INVALID_TOPIC_EXCEPTION", api="Metadata") == 1
    assert broker.journal.count(error="INVALID_TOPIC_EXCEPTION", api="Fetch") == 0
    assert broker.journal.assert_requests(error="FENCED_LEADER_EPOCH", count=0) == []


@pytest.mark.parametrize("name", ["ILLEGAL_GENERATIONS", "NONE"])
def test_filter_by_an_unknown_error_is_refused(name: str, broker: Broker) -> None:
    with pytest.raises(RuleError, match=f"error: Kafka has no error '{name}'") as raised:
        broker.journal.entries(error=name)

    assert raised.value.field == "error"
