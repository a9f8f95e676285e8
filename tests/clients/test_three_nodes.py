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


@pytest.fixture
def cluster() -> Iterator[RunningCluster]:
    with RunningCluster() as running:
        yield running


def create(cluster: RunningCluster, *, replication_factor: int) -> TopicImage:
    controller = cluster.cluster.controller
    return cluster.call(lambda: controller.create_topic(TOPIC, PARTITION_COUNT, replication_factor=replication_factor))


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
