"""The topics of the metadata image, as consumer groups and share groups see them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from .topics import GroupTopic

if TYPE_CHECKING:
    from ...metadata.metadata_image import MetadataImage, TopicImage


class ImageTopics:
    """The topics of the image; implements GroupTopics."""

    __slots__ = ("_image", "_names", "_racks", "_racks_offset", "_version")

    def __init__(self, image: MetadataImage) -> None:
        """image: read at each call."""
        self._image = image
        self._version = 0
        self._names: frozenset[str] = frozenset()
        # The racks by topic id, and the offset of the image that they are of.
        self._racks: dict[bytes, tuple[tuple[str, ...], ...]] = {}
        self._racks_offset = 0

    def version(self) -> int:
        """Return a number that increases when topics were created since the last call."""
        names = self._image.topics.keys()
        if names != self._names:
            self._version += not names <= self._names
            self._names = frozenset(names)
        return self._version

    def continue_after(self, version: int) -> None:
        """Return numbers above version from now on, because an earlier run of the broker used it."""
        self._version = max(self._version, version + 1)

    def find(self, name: str) -> GroupTopic | None:
        """Return the topic with this name, or None."""
        return self._of(self._image.find_topic(name))

    def find_by_id(self, topic_id: bytes) -> GroupTopic | None:
        """Return the topic with this id, or None."""
        return self._of(self._image.find_topic_by_id(topic_id))

    def names(self) -> Collection[str]:
        """Return the names of all topics."""
        return self._image.topics

    def _of(self, topic: TopicImage | None) -> GroupTopic | None:
        if topic is None:
            return None
        return GroupTopic(topic.name, topic.topic_id, len(topic.partitions), self._racks_of(topic))

    def _racks_of(self, topic: TopicImage) -> tuple[tuple[str, ...], ...]:
        """Return the racks of each partition. They are kept, because each heartbeat may read them."""
        if self._racks_offset != self._image.offset:
            self._racks.clear()
            self._racks_offset = self._image.offset
        racks = self._racks.get(topic.topic_id)
        if racks is None:
            rack_of = {broker.node_id: broker.rack for broker in self._image.brokers if broker.rack is not None}
            racks = self._racks[topic.topic_id] = _racks_of_partitions(topic, rack_of) if rack_of else ()
        return racks


def _racks_of_partitions(topic: TopicImage, rack_of: Mapping[int, str]) -> tuple[tuple[str, ...], ...]:
    """Source: KRaftCoordinatorMetadataImage.partitionRacks and Utils.computeTopicHash, Kafka 4.3.0."""
    return tuple(
        tuple(sorted(rack_of[node_id] for node_id in partition.replicas if node_id in rack_of))
        for partition in topic.partitions
    )
