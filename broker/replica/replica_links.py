"""Links the leader of each partition with its followers on other nodes, which append what it appends.

All nodes are in one process, so a follower needs no fetch: it has a batch before the leader's append returns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..metadata.metadata_image import TopicImage
    from .replica_manager import ReplicaManager


def link_replicas(managers: Mapping[int, ReplicaManager], topic: TopicImage, first_index: int) -> None:
    """Link the leaders of the topic's partitions from first_index on with their followers.

    managers: the replica manager of each node, by node id. Every one has the partitions.
    """
    for registration in topic.partitions[first_index:]:
        index = registration.index
        partitions = {
            node_id: partition
            for node_id in registration.replicas
            if (partition := managers[node_id].find_partition(topic.topic_id, index)) is not None
        }
        leader = partitions.pop(registration.leader_id)
        leader.followers = tuple(partitions.values())
