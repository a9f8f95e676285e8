"""The topics of the cluster as groups read them, and the metadata hash that detects changes of a group's topics.

Source: CoordinatorMetadataImage, TopicIds, and Utils.computeTopicHash and computeGroupHash, Kafka 4.3.0.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ....protocol.stored_records.consumer_group_values import Partitions
from ..java_hash_tables import buckets_of_grown, in_hash_order
from ..java_strings import java_string_hash, java_string_length, java_string_order

if TYPE_CHECKING:
    from ...metadata.metadata_image import MetadataImage, TopicImage

_TOPIC_HASH_VERSION = 0
_INT64_SIGN = 1 << 63


class GroupTopic(NamedTuple):
    """The fields of a topic that groups use.

    racks: of each partition the sorted racks of its replicas; empty if no broker has a rack.
    """

    name: str
    topic_id: bytes
    partition_count: int
    racks: tuple[tuple[str, ...], ...] = ()


class GroupTopics(Protocol):
    """The topics of the cluster."""

    def version(self) -> int:
        """Return a number that increases when topics were created since the last call."""
        ...

    def continue_after(self, version: int) -> None:
        """Return numbers above version from now on, because an earlier run of the broker used it."""
        ...

    def find(self, name: str) -> GroupTopic | None:
        """Return the topic with this name, or None."""
        ...

    def find_by_id(self, topic_id: bytes) -> GroupTopic | None:
        """Return the topic with this id, or None."""
        ...

    def names(self) -> Collection[str]:
        """Return the names of all topics."""
        ...


# Some topics at one moment; None for a topic that does not exist.
TopicsSnapshot = tuple[GroupTopic | None, ...]


def take_snapshot(names: Iterable[str], topics: GroupTopics) -> TopicsSnapshot:
    """Return the current topics. names: always in the same order, because snapshots are compared."""
    return tuple(topics.find(name) for name in names)


def find_topics(names: Iterable[str], topics: GroupTopics) -> list[GroupTopic]:
    """Return the topics that exist, in the order of their names. Most of very many names have no topic."""
    existing = topics.names()
    found = (topics.find(name) for name in names if name in existing)
    return [topic for topic in found if topic is not None]


def topic_ids_of(names: Iterable[str], topics: GroupTopics) -> frozenset[bytes]:
    """Return the ids of the topics that exist."""
    return frozenset(topic.topic_id for topic in find_topics(names, topics))


def topic_ids_in_order(names: Collection[str], topics: GroupTopics) -> tuple[bytes, ...]:
    """Return the ids of the topics that exist, in the order in which Kafka iterates the names."""
    found = sorted(find_topics(names, topics), key=lambda topic: topic.name)
    ordered = in_hash_order(found, lambda topic: java_string_hash(topic.name), buckets_of_grown(len(names)))
    return tuple(topic.topic_id for topic in ordered)


def topic_hash(topic: GroupTopic) -> int:
    """Return the hash of a topic's id, name, partitions and racks, as an unsigned number."""
    high, low = struct.unpack(">QQ", topic.topic_id)
    parts = [struct.pack("<BQQ", _TOPIC_HASH_VERSION, high, low), _string(topic.name)]
    parts.append(struct.pack("<i", topic.partition_count))
    for partition in range(topic.partition_count):
        parts.append(struct.pack("<i", partition))
        for rack in topic.racks[partition] if topic.racks else ():
            parts += [struct.pack("<i", java_string_length(rack)), _string(rack)]
    return _xxh3_64(b"".join(parts))


def metadata_hash(names: Iterable[str], topics: GroupTopics) -> int:
    """Return the hash of the topics that exist, as a signed number; 0 if none exists."""
    found = sorted(find_topics(names, topics), key=lambda topic: java_string_order(topic.name))
    if not found:
        return 0
    value = _xxh3_64(b"".join(struct.pack("<Q", topic_hash(topic)) for topic in found))
    return value - 2 * _INT64_SIGN if value & _INT64_SIGN else value


def existing_topics(partitions: Partitions, topics: GroupTopics) -> list[tuple[GroupTopic, frozenset[int]]]:
    """Return the topics that still exist, with their partitions."""
    found = ((topics.find_by_id(topic_id), of_topic) for topic_id, of_topic in partitions.items())
    return [(topic, of_topic) for topic, of_topic in found if topic is not None]


def _xxh3_64(data: bytes) -> int:
    """Return the XXH3 hash of the bytes as an unsigned number (hash4j: Hashing.xxh3_64)."""
    # Loaded with the first hash.
    from xxhash import xxh3_64_intdigest

    return xxh3_64_intdigest(data)


def _string(text: str) -> bytes:
    """Encode a string as hash4j does: its UTF-16 units, then their number."""
    return text.encode("utf-16-le", "surrogatepass") + struct.pack("<i", java_string_length(text))


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
