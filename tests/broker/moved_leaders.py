"""Moves the leader of a partition of a running cluster, as an election does."""

from fauxka.broker.cluster import Cluster
from fauxka.broker.metadata.metadata_image import TopicImage


def move_leader(cluster: Cluster, topic: TopicImage, index: int, node_id: int) -> None:
    """Let a node lead the partition, or none (NO_LEADER). Call it on the cluster's thread."""
    registration = topic.partitions[index]
    registration.leader_id = node_id
    registration.leader_epoch += 1
    for node in cluster.nodes:
        node.replicas.apply_leaders(topic)
    partitions = [node.replicas.partitions_of(topic)[index] for node in cluster.nodes]
    replicas = [each for each in partitions if each.has_replica]
    for each in replicas:
        each.followers = tuple(other for other in replicas if other is not each) if each.is_leader else ()
    for node in cluster.nodes:
        node.coordinators.leaders_changed(topic, [index])
