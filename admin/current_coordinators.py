"""Which node coordinates a key, by the controller's image.

A node that is isolated from the controller keeps the coordinators of partitions that other nodes lead now.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..broker.coordinators.internal_topics import INTERNAL_TOPICS, CoordinatorType, partition_index_of_key

if TYPE_CHECKING:
    from ..broker.cluster import Cluster
    from ..broker.coordinators.transaction.transaction_coordinator import TransactionCoordinator
    from ..broker.coordinators.transaction.transaction_metadata import TransactionMetadata
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


def transaction_coordinators(cluster: Cluster) -> list[tuple[Node, TransactionCoordinator]]:
    """Return the transaction coordinators that have been used, with their nodes."""
    return [(node, node.coordinators.transactions) for node in cluster.nodes if node.coordinators.has_transactions]


def coordinated_transactions(cluster: Cluster) -> Iterator[TransactionMetadata]:
    """Yield each transactional id of the cluster once."""
    for node, transactions in transaction_coordinators(cluster):
        for known in transactions.list_all():
            if is_coordinator(cluster, node, CoordinatorType.TRANSACTION, known.transactional_id):
                yield known
