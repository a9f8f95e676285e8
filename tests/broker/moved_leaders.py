"""Moves the leader of a partition of a running cluster, as an election does."""

from fauxka.broker.cluster import Cluster
from fauxka.broker.metadata.metadata_image import NO_LEADER, TopicImage
from fauxka.broker.replica.replica_links import link_replicas


def move_leader(cluster: Cluster, topic: TopicImage, index: int, node_id: int) -> None:
    """Let a node lead the partition, or none (NO_LEADER). Call it on the cluster's thread."""
    registration = topic.partitions[index]
    registration.leader_id = node_id
    registration.leader_epoch += 1
    for node in cluster.nodes:
        node.replicas.apply_leaders(topic)
        node.replicas.partitions_of(topic)[index].followers = ()
    if node_id != NO_LEADER:
        link_replicas({node.node_id: node.replicas for node in cluster.nodes}, topic, 0)
    for node in cluster.nodes:
        node.coordinators.leaders_changed(topic, [index])
