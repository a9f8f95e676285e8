"""Which node coordinates a key, by the controller's image.

A node that is isolated from the controller keeps the coordinators of partitions that other nodes lead now.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..broker.coordinators.internal_topics import INTERNAL_TOPICS, CoordinatorType, partition_index_of_key

if TYPE_CHECKING:
    from ..broker.cluster import Cluster
    from ..broker.node import Node
    from ..protocol.messages.list_groups import ListedGroup


def is_coordinator(cluster: Cluster, node: Node, coordinator_type: CoordinatorType, key: str) -> bool:
    """Return whether the node leads the key's partition of the internal topic in the controller's image."""
    if len(cluster.nodes) == 1:
        return True
    topic = cluster.image.find_topic(INTERNAL_TOPICS[coordinator_type].name)
    if topic is None:
        return False
    return topic.partitions[partition_index_of_key(key, len(topic.partitions))].leader_id == node.node_id


def coordinated_groups(cluster: Cluster) -> Iterator[tuple[Node, ListedGroup]]:
    """Yield each group of the cluster once, with the node that coordinates it."""
    for node in cluster.nodes:
        for group in node.coordinators.list_groups():
            if is_coordinator(cluster, node, CoordinatorType.GROUP, group.group_id):
                yield node, group
