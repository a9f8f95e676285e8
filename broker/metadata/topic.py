"""A topic and a broker as a cluster knows them."""

from __future__ import annotations

from typing import NamedTuple

from ..replica.partition import Partition

# The topics that coordinators keep their state in; clients may read them and not write them.
_INTERNAL_NAMES = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})


def is_internal_name(name: str) -> bool:
    """Return whether a topic of that name is where a coordinator keeps its state."""
    return name in _INTERNAL_NAMES


class Topic:
    """A topic of the cluster; configs holds what was set for it, everything else comes from the broker's."""

    __slots__ = ("configs", "name", "partitions", "topic_id")

    def __init__(self, name: str, topic_id: bytes, configs: dict[str, str]) -> None:
        """Start without partitions."""
        self.name = name
        self.topic_id = topic_id
        self.partitions: list[Partition] = []
        self.configs = configs

    @property
    def is_internal(self) -> bool:
        """Whether a coordinator keeps its state there."""
        return is_internal_name(self.name)

    def find_partition(self, index: int) -> Partition | None:
        """Return the partition, or None where there is none of that index."""
        return self.partitions[index] if 0 <= index < len(self.partitions) else None


class BrokerNode(NamedTuple):
    """A broker as Metadata tells it."""

    node_id: int
    rack: str | None
