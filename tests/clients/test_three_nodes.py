"""Python's clients against three nodes: each partition has another leader, and each node is a bootstrap server."""

from collections.abc import Iterator

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

from fauxka.broker.metadata.metadata_image import TopicImage

from ..broker.running_cluster import RunningCluster
from .client import STEP_SECONDS_MAX

pytestmark = pytest.mark.clients

RECORD_COUNT = 300
PARTITION_COUNT = 6
TOPIC = "orders"
# Their hash codes select three different partitions of three.
GROUP_IDS = ("a", "b", "c")


@pytest.fixture
def cluster() -> Iterator[RunningCluster]:
    with RunningCluster() as running:
        yield running


def create(cluster: RunningCluster, *, replication_factor: int) -> TopicImage:
    controller = cluster.cluster.controller
    return cluster.call(lambda: controller.create_topic(TOPIC, PARTITION_COUNT, replication_factor=replication_factor))


def create_internal(cluster: RunningCluster, name: str) -> None:
    """Create the topic of a coordinator: each node leads one partition."""
    controller, layout = cluster.cluster.controller, [[1, 2], [2, 3], [3, 1]]
    cluster.call(lambda: controller.create_topic(name, len(layout), assignments=layout))


@pytest.mark.parametrize("node_id", [1, 2, 3])
def test_confluent_writes_to_all_leaders_and_reads_everything_back(cluster: RunningCluster, node_id: int) -> None:
    bootstrap = cluster.address(node_id)
    topic = create(cluster, replication_factor=3)
    assert {partition.leader_id for partition in topic.partitions} == {1, 2, 3}

    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 5})
    for number in range(RECORD_COUNT):
        producer.produce(TOPIC, str(number).encode(), partition=number % PARTITION_COUNT)
    assert producer.flush(STEP_SECONDS_MAX) == 0

    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "unused", "enable.auto.commit": False})
    consumer.assign([TopicPartition(TOPIC, index, OFFSET_BEGINNING) for index in range(PARTITION_COUNT)])
    messages = consumer.consume(RECORD_COUNT, STEP_SECONDS_MAX)
    consumer.close()
    values: list[list[int]] = [[] for _ in range(PARTITION_COUNT)]
    for message in messages:
        index = message.partition()
        assert index is not None
        values[index].append(int(message.value() or b""))
    assert values == [list(range(index, RECORD_COUNT, PARTITION_COUNT)) for index in range(PARTITION_COUNT)]


def test_every_replica_has_the_records_that_were_acknowledged(cluster: RunningCluster) -> None:
    producer = Producer({"bootstrap.servers": cluster.address(1), "acks": "all", "linger.ms": 5})
    topic = create(cluster, replication_factor=2)
    for number in range(RECORD_COUNT):
        producer.produce(TOPIC, str(number).encode(), partition=number % PARTITION_COUNT)
    assert producer.flush(STEP_SECONDS_MAX) == 0

    ends = {
        node.node_id: [
            log.log_end_offset
            for partition in node.replicas.partitions_of(topic)
            if (log := partition.find_log()) is not None
        ]
        for node in cluster.cluster.nodes
    }

    # Two replicas of six partitions are four a node.
    assert ends == dict.fromkeys((1, 2, 3), [RECORD_COUNT // PARTITION_COUNT] * 4)


def test_each_group_is_served_by_the_node_that_coordinates_it(cluster: RunningCluster) -> None:
    create(cluster, replication_factor=3)
    create_internal(cluster, "__consumer_offsets")
    producer = Producer({"bootstrap.servers": cluster.address(1), "linger.ms": 5})
    for number in range(RECORD_COUNT):
        producer.produce(TOPIC, str(number).encode(), partition=number % PARTITION_COUNT)
    assert producer.flush(STEP_SECONDS_MAX) == 0

    for group_id in GROUP_IDS:
        consumer = Consumer(
            {
                "bootstrap.servers": cluster.address(3),
                "group.id": group_id,
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
            }
        )
        consumer.subscribe([TOPIC])
        assert len(consumer.consume(RECORD_COUNT, STEP_SECONDS_MAX)) == RECORD_COUNT
        consumer.commit(asynchronous=False)
        consumer.close()

    nodes = cluster.cluster.nodes
    groups = [[group.group_id for group in node.coordinators.list_groups()] for node in nodes]
    assert sorted(group_id for of_node in groups for group_id in of_node) == sorted(GROUP_IDS)
    assert all(groups)


def test_transactions_with_offsets_go_over_all_nodes(cluster: RunningCluster) -> None:
    create(cluster, replication_factor=3)
    create_internal(cluster, "__consumer_offsets")
    create_internal(cluster, "__transaction_state")
    for group_id in GROUP_IDS:
        # Each of the ids has another transaction coordinator, and the group another coordinator than the last one.
        producer = Producer({"bootstrap.servers": cluster.address(2), "transactional.id": group_id})
        consumer = Consumer({"bootstrap.servers": cluster.address(1), "group.id": group_id})
        producer.init_transactions(STEP_SECONDS_MAX)
        for is_commit in (True, False):
            producer.begin_transaction()
            for index in range(PARTITION_COUNT):
                producer.produce(TOPIC, str(is_commit).encode(), partition=index)
            consumed = TopicPartition(TOPIC, 0, 10 if is_commit else 20)
            producer.send_offsets_to_transaction([consumed], consumer.consumer_group_metadata(), STEP_SECONDS_MAX)
            if is_commit:
                producer.commit_transaction(STEP_SECONDS_MAX)
            else:
                producer.abort_transaction(STEP_SECONDS_MAX)
        (committed,) = consumer.committed([TopicPartition(TOPIC, 0)], STEP_SECONDS_MAX)
        assert committed.offset == 10
        consumer.close()

    reader = Consumer({"bootstrap.servers": cluster.address(3), "group.id": "reader", "enable.auto.commit": False})
    reader.assign([TopicPartition(TOPIC, index, OFFSET_BEGINNING) for index in range(PARTITION_COUNT)])
    messages = reader.consume(len(GROUP_IDS) * PARTITION_COUNT, STEP_SECONDS_MAX)
    assert [message.value() for message in messages] == [b"True"] * (len(GROUP_IDS) * PARTITION_COUNT)
    assert reader.consume(1, 1.0) == []
    reader.close()
