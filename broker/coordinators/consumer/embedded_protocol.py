"""Codec of the consumer protocol that classic members embed in JoinGroup and SyncGroup.

A version (int16) is first. A version newer than VERSION_MAX is read as VERSION_MAX, because newer ones only add fields.
Source: ConsumerProtocol, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Iterable

from ....protocol.frames import FrameError
from ....protocol.messages.consumer_protocol_assignment import ConsumerProtocolAssignment, TopicPartition
from ....protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from ....protocol.messages.consumer_protocol_subscription import TopicPartition as OwnedPartitions
from ....protocol.primitives import Reader, Writer
from ....protocol.stored_records.consumer_group_values import Partitions
from .topics import GroupTopics, existing_topics

VERSION_MAX = 3


def read_subscription(metadata: bytes) -> ConsumerProtocolSubscription:
    """Decode a member's subscription. Raises FrameError."""
    reader = Reader.of_request(metadata)
    return ConsumerProtocolSubscription.read(reader, _read_version(reader))


def read_assignment(assignment: bytes) -> ConsumerProtocolAssignment:
    """Decode the assignment of a member; empty bytes are an empty assignment. Raises FrameError."""
    if not assignment:
        return ConsumerProtocolAssignment()
    reader = Reader.of_request(assignment)
    return ConsumerProtocolAssignment.read(reader, _read_version(reader))


def encode_assignment(partitions: Partitions, topics: GroupTopics, subscription: bytes) -> bytes:
    """Encode an assignment in the version of the member's subscription. Raises FrameError for one without a version."""
    version = _read_version(Reader.of_request(subscription))
    message = ConsumerProtocolAssignment(
        assigned_partitions=[
            TopicPartition(topic=topic.name, partitions=sorted(of_topic))
            for topic, of_topic in existing_topics(partitions, topics)
        ],
        user_data=None,
    )
    writer = Writer()
    writer.int16(version)
    message.write(writer, version)
    return writer.getvalue()


def by_topic_id(entries: Iterable[TopicPartition | OwnedPartitions], topics: GroupTopics) -> Partitions:
    """Return the partitions of existing topics, by topic id."""
    found = ((topics.find(entry.topic), entry.partitions) for entry in entries)
    return {topic.topic_id: frozenset(partitions) for topic, partitions in found if topic is not None}


def _read_version(reader: Reader) -> int:
    version = reader.int16()
    if version < 0:
        raise FrameError(f"version {version} of the consumers' protocol")
    return min(version, VERSION_MAX)
