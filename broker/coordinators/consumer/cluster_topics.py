"""The topics of a cluster, as groups look at them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .topics import GroupTopic

if TYPE_CHECKING:
    from ...cluster import Cluster, Topic


class ClusterTopics:
    """See GroupTopics."""

    __slots__ = ("_cluster", "_names", "_version")

    def __init__(self, cluster: Cluster) -> None:
        """Look at the topics of cluster."""
        self._cluster = cluster
        self._version = 0
        self._names: frozenset[str] = frozenset()

    def version(self) -> int:
        """Return a number that has grown if there are topics now that there were not when it was last asked for."""
        names = self._cluster.topics.keys()
        if names != self._names:
            self._version += not names <= self._names
            self._names = frozenset(names)
        return self._version

    def continue_after(self, version: int) -> None:
        """Return larger numbers from now on: an earlier run had this one."""
        self._version = max(self._version, version + 1)

    def find(self, name: str) -> GroupTopic | None:
        """Return the topic of that name, or None."""
        return self._of(self._cluster.find_topic(name))

    def find_by_id(self, topic_id: bytes) -> GroupTopic | None:
        """Return the topic of that id, or None."""
        return self._of(self._cluster.find_topic_by_id(topic_id))

    def names(self) -> Iterable[str]:
        """Return the names of all topics."""
        return self._cluster.topics

    def _of(self, topic: Topic | None) -> GroupTopic | None:
        if topic is None:
            return None
        rack = self._cluster.config.broker_rack
        return GroupTopic(topic.name, topic.topic_id, len(topic.partitions), () if rack is None else (rack,))
