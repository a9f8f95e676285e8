"""A cluster of three nodes: where topics are, and what each node returns about the others."""

from collections.abc import Iterator, Sequence

import pytest

from fauxka.broker.metadata.metadata_image import NO_LEADER, TopicImage
from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.error_codes import ErrorCode, KafkaError
from fauxka.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from fauxka.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from fauxka.protocol.messages.metadata import MetadataResponseTopic

from .blocking_client import BlockingClient, batch
from .running_cluster import RunningCluster

NODES = (1, 2, 3)
LAYOUT = [[1, 2], [2, 3], [3, 1]]


@pytest.fixture
def cluster() -> Iterator[RunningCluster]:
    with RunningCluster(["a", "b", None]) as running:
        yield running


def create(cluster: RunningCluster, name: str, layout: Sequence[Sequence[int]]) -> TopicImage:
    return cluster.call(lambda: cluster.cluster.controller.create_topic(name, len(layout), assignments=layout))


def described(client: BlockingClient, name: str) -> MetadataResponseTopic:
    (topic,) = [topic for topic in client.metadata().topics if topic.name == name]
    return topic


@pytest.mark.parametrize("node_id", NODES)
def test_each_node_returns_all_addresses_and_racks(cluster: RunningCluster, node_id: int) -> None:
    with cluster.client(node_id) as client:
        brokers = client.metadata().brokers

    addresses = {broker.node_id: f"{broker.host}:{broker.port}" for broker in brokers}
    assert addresses == {each: cluster.address(each) for each in NODES}
    assert [broker.rack for broker in brokers] == ["a", "b", None]


def test_batch_is_appended_on_the_leader_alone(cluster: RunningCluster) -> None:
    topic = create(cluster, "orders", [[2], [2]])

    with cluster.client(2) as leader, cluster.client(1) as other:
        accepted = leader.produce("orders", batch(b"one coffee"), partition=1)
        refused = other.produce("orders", batch(b"one coffee"), partition=1)

    assert (accepted.error_code, accepted.base_offset) == (ErrorCode.NONE, 0)
    assert refused.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    logs = [node.replicas.partitions_of(topic)[1].find_log() for node in cluster.cluster.nodes]
    assert [log is not None for log in logs] == [False, True, False]


def test_topic_whose_files_one_node_cannot_create_is_on_no_node(
    cluster: RunningCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(topic: TopicImage, first_index: int) -> None:
        raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "no space left on device")

    first, *_, last = cluster.cluster.nodes
    with monkeypatch.context() as patched:
        patched.setattr(last, "partitions_created", fail)
        with pytest.raises(KafkaError, match="no space left"):
            create(cluster, "orders", LAYOUT)

    assert cluster.cluster.image.find_topic("orders") is None
    topic = create(cluster, "orders", LAYOUT)
    assert [partition.index for partition in first.replicas.partitions_of(topic)] == [0, 1, 2]
    assert [partition.index for partition in last.replicas.partitions_of(topic)] == [0, 1, 2]


def test_partitions_that_one_node_cannot_create_are_added_on_no_node(
    cluster: RunningCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = create(cluster, "orders", LAYOUT)

    def fail(topic: TopicImage, first_index: int) -> None:
        raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "no space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(cluster.cluster.nodes[-1], "partitions_created", fail)
        with pytest.raises(KafkaError, match="no space left"):
            cluster.call(lambda: cluster.cluster.controller.create_partitions(topic, 5))

    counts = [len(node.replicas.partitions_of(topic)) for node in cluster.cluster.nodes]
    assert counts == [len(topic.partitions)] * 3 == [3, 3, 3]


def test_added_partitions_have_as_many_replicas_as_the_first(cluster: RunningCluster) -> None:
    topic = create(cluster, "orders", LAYOUT)

    cluster.call(lambda: cluster.cluster.controller.create_partitions(topic, 6))

    assert [len(partition.replicas) for partition in topic.partitions] == [2] * 6
    leads = [
        [partition.index for partition in node.replicas.partitions_of(topic) if partition.is_leader]
        for node in cluster.cluster.nodes
    ]
    assert sorted(index for indexes in leads for index in indexes) == [0, 1, 2, 3, 4, 5]


def test_deleted_topic_is_on_no_node(cluster: RunningCluster) -> None:
    topic = create(cluster, "orders", LAYOUT)

    with cluster.client(3) as client:
        assert client.delete_topic("orders") == ErrorCode.NONE

    assert [list(node.replicas.partitions_of(topic)) for node in cluster.cluster.nodes] == [[], [], []]


@pytest.mark.parametrize("node_id", NODES)
def test_coordinator_is_the_leader_of_its_partition(cluster: RunningCluster, node_id: int) -> None:
    create(cluster, "__consumer_offsets", [[2]])

    with cluster.client(node_id) as client:
        request = FindCoordinatorRequest(key_type=0, coordinator_keys=["readers"])
        (found,) = client.send(ApiKey.FIND_COORDINATOR, 4, request, FindCoordinatorResponse.read).coordinators

    assert (found.node_id, f"{found.host}:{found.port}") == (2, cluster.address(2))


def test_coordinator_without_a_leader_is_not_available(cluster: RunningCluster) -> None:
    topic = create(cluster, "__consumer_offsets", [[2]])
    topic.partitions[0].leader_id = NO_LEADER

    with cluster.client(1) as client:
        request = FindCoordinatorRequest(key_type=0, coordinator_keys=["readers"])
        (found,) = client.send(ApiKey.FIND_COORDINATOR, 4, request, FindCoordinatorResponse.read).coordinators

    assert (found.node_id, found.error_code) == (-1, ErrorCode.COORDINATOR_NOT_AVAILABLE)


def test_fenced_broker_is_not_listed_and_its_replicas_are_offline(cluster: RunningCluster) -> None:
    topic = create(cluster, "orders", LAYOUT)
    registration = cluster.cluster.image.find_broker(2)
    assert registration is not None
    registration.is_fenced = True
    topic.partitions[1].leader_id = NO_LEADER

    with cluster.client(1) as client:
        brokers = [broker.node_id for broker in client.metadata().brokers]
        partitions = described(client, "orders").partitions

    assert brokers == [1, 3]
    assert [partition.offline_replicas for partition in partitions] == [[2], [2], []]
    assert [partition.error_code for partition in partitions] == [
        ErrorCode.NONE,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NONE,
    ]


def test_new_partition_on_a_fenced_broker_is_led_by_another(cluster: RunningCluster) -> None:
    registration = cluster.cluster.image.find_broker(2)
    assert registration is not None
    registration.is_fenced = True

    topic = create(cluster, "orders", [[2, 3]])

    assert (topic.partitions[0].leader_id, topic.partitions[0].isr) == (3, [3])
    with pytest.raises(KafkaError, match="are fenced or in controlled shutdown") as raised:
        create(cluster, "payments", [[2]])
    assert raised.value.code == ErrorCode.INVALID_REPLICA_ASSIGNMENT


def test_broker_without_the_listener_of_the_client_is_not_listed(cluster: RunningCluster) -> None:
    registration = cluster.cluster.image.find_broker(3)
    assert registration is not None
    registration.endpoints = {"INTERNAL": registration.endpoints["PLAINTEXT"]}

    with cluster.client(1) as client:
        assert [broker.node_id for broker in client.metadata().brokers] == [1, 2]


# -- replication


def test_followers_have_the_batch_when_the_leader_responds(cluster: RunningCluster) -> None:
    topic = create(cluster, "orders", [[2, 3]])

    with cluster.client(2) as leader:
        assert leader.produce("orders", batch(b"one coffee", producer_id=7, sequence=0)).error_code == ErrorCode.NONE
        repeated = leader.produce("orders", batch(b"one coffee", producer_id=7, sequence=0))

    assert repeated.base_offset == 0
    leaders, followers = (cluster.cluster.nodes[number].replicas.partitions_of(topic)[0].log for number in (1, 2))
    assert (leaders.log_end_offset, followers.log_end_offset) == (1, 1)
    assert list(followers.producers.active_producers()) == list(leaders.producers.active_producers())
    assert cluster.cluster.nodes[0].replicas.partitions_of(topic)[0].find_log() is None


def test_client_reads_from_a_follower_and_not_from_a_node_without_a_replica(cluster: RunningCluster) -> None:
    create(cluster, "orders", [[2, 3]])
    with cluster.client(2) as leader, cluster.client(3) as follower, cluster.client(1) as other:
        leader.produce("orders", batch(b"one coffee"))

        stored, copied, refused = (client.fetch("orders") for client in (leader, follower, other))

    assert stored.records == copied.records != b""
    assert (copied.high_watermark, refused.error_code) == (1, ErrorCode.NOT_LEADER_OR_FOLLOWER)


def test_deleted_records_are_deleted_on_the_followers_too(cluster: RunningCluster) -> None:
    topic = create(cluster, "orders", [[2, 3]])
    with cluster.client(2) as leader:
        for _ in range(3):
            leader.produce("orders", batch(b"one coffee"))
        deleted = DeleteRecordsPartition(partition_index=0, offset=2)
        request = DeleteRecordsRequest(
            topics=[DeleteRecordsTopic(name="orders", partitions=[deleted])], timeout_ms=10_000
        )
        response = leader.send(ApiKey.DELETE_RECORDS, 2, request, DeleteRecordsResponse.read)

    assert response.topics[0].partitions[0].low_watermark == 2
    starts = [cluster.cluster.nodes[number].replicas.partitions_of(topic)[0].log.log_start_offset for number in (1, 2)]
    assert starts == [2, 2]


def test_added_partitions_are_replicated(cluster: RunningCluster) -> None:
    topic = create(cluster, "orders", [[1, 2]])
    cluster.call(lambda: cluster.cluster.controller.create_partitions(topic, 2, assignments=[[3, 1]]))

    with cluster.client(3) as leader:
        leader.produce("orders", batch(b"one coffee"), partition=1)

    assert cluster.cluster.nodes[0].replicas.partitions_of(topic)[1].log.log_end_offset == 1
