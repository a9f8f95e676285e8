"""The versions that Kafka 4.0 dropped, with what real brokers of 3.9.1 (KRaft) and 2.1.1 (ZooKeeper) answered."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fauxka.broker.config.config_resources import ResourceType
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from fauxka.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from fauxka.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from fauxka.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from fauxka.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic, OffsetFetchResponse
from fauxka.protocol.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData
from fauxka.testing import Broker

from ...wire.message_client import MessageClient

TOPIC, EMPTY = "orders", "empty"
GROUP = "billing"
LATEST, EARLIEST = -1, -2
FAR_AHEAD = 9_999_999_999_999
NOW_MS = 1_760_000_000_000
# Topic, timestamp, number of offsets; error code and offsets.
LIST_OFFSETS: list[tuple[str, int, int, tuple[int, list[int]]]] = [
    (EMPTY, LATEST, 5, (0, [0])),
    (EMPTY, EARLIEST, 5, (0, [0])),
    (EMPTY, 0, 5, (0, [])),
    (TOPIC, LATEST, 5, (0, [3, 0])),
    (TOPIC, LATEST, 1, (0, [3])),
    (TOPIC, LATEST, 0, (0, [])),
    (TOPIC, LATEST, -1, (-1, [])),
    (TOPIC, EARLIEST, 5, (0, [0])),
    (TOPIC, 0, 5, (0, [])),
    (TOPIC, FAR_AHEAD, 5, (0, [3, 0])),
    ("unknown", LATEST, 1, (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, [])),
]


@pytest.fixture(scope="module", params=["2.1", "3.9"])
def broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    with Broker(as_version=request.param) as broker, MessageClient(broker.bootstrap_servers) as client:
        broker.topics.create(EMPTY)
        broker.topics.create(TOPIC)
        for value in (b"one", b"two", b"three"):
            batch = build_batch([Record(value, timestamp=NOW_MS)], BatchOptions())
            data = TopicProduceData(name=TOPIC, partition_data=[PartitionProduceData(index=0, records=batch)])
            produced = client.call(ProduceRequest(acks=1, timeout_ms=10_000, topic_data=[data]), 7, ProduceResponse)
            assert produced.responses[0].partition_responses[0].error_code == ErrorCode.NONE
        yield broker


@pytest.fixture
def client(broker: Broker) -> Iterator[MessageClient]:
    with MessageClient(broker.bootstrap_servers) as client:
        yield client


def offsets(client: MessageClient, topic: str, timestamp: int, count: int) -> tuple[int, list[int]]:
    partition = ListOffsetsPartition(partition_index=0, timestamp=timestamp, max_num_offsets=count)
    request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=topic, partitions=[partition])])
    response = client.call(request, 0, ListOffsetsResponse).topics[0].partitions[0]
    return response.error_code, response.old_style_offsets


@pytest.mark.parametrize(("topic", "timestamp", "count", "expected"), LIST_OFFSETS)
def test_list_offsets_0_returns_the_starts_of_segments_and_the_end(
    client: MessageClient, topic: str, timestamp: int, count: int, expected: tuple[int, list[int]]
) -> None:
    assert offsets(client, topic, timestamp, count) == expected


def commit(client: MessageClient, version: int, topic: str = TOPIC) -> int:
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=2, committed_metadata="")
    topics = [OffsetCommitRequestTopic(name=topic, partitions=[partition])]
    request = OffsetCommitRequest(group_id=GROUP, generation_id_or_member_epoch=-1, topics=topics)
    return client.call(request, version, OffsetCommitResponse).topics[0].partitions[0].error_code


def committed(client: MessageClient, version: int) -> tuple[int, int]:
    request = OffsetFetchRequest(group_id=GROUP, topics=[OffsetFetchRequestTopic(name=TOPIC, partition_indexes=[0])])
    partition = client.call(request, version, OffsetFetchResponse).topics[0].partitions[0]
    return partition.error_code, partition.committed_offset


@pytest.mark.parametrize(("release", "expected"), [("2.1", (0, 0, 2)), ("3.9", (35, 35, -1))])
def test_version_0_of_offsets_needs_zookeeper(release: str, expected: tuple[int, int, int]) -> None:
    with Broker(as_version=release) as broker, MessageClient(broker.bootstrap_servers) as client:
        broker.topics.create(TOPIC)

        assert (commit(client, 0), *committed(client, 0)) == expected


def test_version_1_of_offsets_is_for_the_coordinator(client: MessageClient) -> None:
    assert commit(client, 1) == ErrorCode.NONE
    assert committed(client, 1) == (ErrorCode.NONE, 2)


def test_offset_commit_0_of_an_unknown_topic_is_refused(client: MessageClient) -> None:
    assert commit(client, 0, "unknown") == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_describe_configs_0_says_which_values_are_defaults(client: MessageClient) -> None:
    create = CreateTopicsRequest(topics=[CreatableTopic(name="kept", num_partitions=1, replication_factor=1)])
    client.call(create, 0, CreateTopicsResponse)
    resource = DescribeConfigsResource(
        resource_type=ResourceType.TOPIC, resource_name="kept", configuration_keys=["retention.ms", "segment.bytes"]
    )

    response = client.call(DescribeConfigsRequest(resources=[resource]), 0, DescribeConfigsResponse)

    configs = sorted((each.name, each.value, each.is_default) for each in response.results[0].configs)
    assert configs == [("retention.ms", "604800000", True), ("segment.bytes", "1073741824", True)]
