"""The partitions of a cluster on the nodes that lead them, where operations read records and producers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .errors import conflict

if TYPE_CHECKING:
    from ..broker.cluster import Cluster
    from ..broker.metadata.metadata_image import PartitionRegistration, TopicImage
    from ..broker.replica.partition import Partition


def find_leading_partition(
    cluster: Cluster, topic: TopicImage, registration: PartitionRegistration
) -> Partition | None:
    """Return the partition on the node of its leader; without a leader, on the first replica's node that has it."""
    for node_id in (registration.leader_id, *registration.replicas):
        node = cluster.find_node(node_id)
        partition = None if node is None else node.replicas.find_partition(topic.topic_id, registration.index)
        if partition is not None:
            return partition
    return None


def leading_partition_of(cluster: Cluster, topic: TopicImage, registration: PartitionRegistration) -> Partition:
    """Return the partition on the node of its leader, or of a replica. Raises CallError 409 if all are down."""
    partition = find_leading_partition(cluster, topic, registration)
    if partition is None:
        place = f"{topic.name}-{registration.index}"
        raise conflict(f"all nodes with a replica of {place} are down", field="partition", value=registration.index)
    return partition


def leading_partitions(cluster: Cluster) -> Iterator[Partition]:
    """Yield each partition of the cluster on the node of its leader, in the order of the image."""
    for name in cluster.image.topics:
        yield from leading_partitions_of(cluster, name)


def leading_partitions_of(cluster: Cluster, name: str) -> Iterator[Partition]:
    """Yield each partition of a topic on the node of its leader, without those whose nodes are all down."""
    topic = cluster.image.find_topic(name)
    if topic is None:
        return
    for registration in topic.partitions:
        partition = find_leading_partition(cluster, topic, registration)
        if partition is not None:
            yield partition


def following_partitions(cluster: Cluster) -> Iterator[Partition]:
    """Yield the other replicas of each partition."""
    for topic in cluster.image.topics.values():
        for registration in topic.partitions:
            leading = find_leading_partition(cluster, topic, registration)
            for node_id in registration.replicas:
                node = cluster.find_node(node_id)
                found = None if node is None else node.replicas.find_partition(topic.topic_id, registration.index)
                if found is not None and found is not leading:
                    yield found
