"""Links the leader of each partition with its followers on other nodes, which append what it appends.

All nodes are in one process, so a follower needs no fetch: it has a batch before the leader's append returns. The links
are the last publisher of the controller, when every node has its partitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..metadata.metadata_image import TopicImage
    from .replica_manager import ReplicaManager


class ReplicaLinks:
    """The replica managers of all nodes. A MetadataPublisher."""

    def __init__(self) -> None:
        """Begin without nodes."""
        self.managers: dict[int, ReplicaManager] = {}

    def partitions_created(self, topic: TopicImage, first_index: int) -> None:
        """Link the leaders of the topic's partitions from first_index on with their followers."""
        for registration in topic.partitions[first_index:]:
            index = registration.index
            partitions = {
                node_id: partition
                for node_id in registration.replicas
                if (partition := self.managers[node_id].find_partition(topic.topic_id, index)) is not None
            }
            leader = partitions.pop(registration.leader_id)
            leader.followers = tuple(partitions.values())

    def partitions_taken_back(self, topic: TopicImage, first_index: int) -> None:
        """Return: the partitions are gone."""

    def topic_created(self, topic: TopicImage) -> None:
        """Return: the partitions are linked already."""

    def topics_removed(self, topics: Sequence[TopicImage]) -> None:
        """Return: the partitions are gone."""

    def complete_waiting(self) -> None:
        """Return: nothing waits for a link."""

    def topic_configs_changed(self, topic: TopicImage) -> None:
        """Return: configs change no link."""

    def broker_configs_changed(self) -> None:
        """Return: configs change no link."""
