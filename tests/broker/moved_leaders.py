"""Moves the leader of a partition of a running cluster, as an election does."""

from fauxka.broker.cluster import Cluster
from fauxka.broker.metadata.metadata_image import NO_LEADER, TopicImage


def move_leader(cluster: Cluster, topic: TopicImage, index: int, node_id: int) -> None:
    """Let a node lead the partition, or none (NO_LEADER). Call it on the cluster's thread."""
    if node_id != NO_LEADER:
        cluster.controller.replication.move_leader(topic, index, node_id)
        return
    before = topic.partitions[index]
    topic.partitions[index] = before.led_by(NO_LEADER, before.isr)
    assert cluster.controller.publish_partitions is not None, "a cluster of several nodes"
    cluster.controller.publish_partitions(topic, [index])
