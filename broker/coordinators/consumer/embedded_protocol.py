"""Assignments in the consumer protocol that classic members embed in JoinGroup and SyncGroup."""

from __future__ import annotations

from collections.abc import Iterable

from ....protocol.consumer_protocol import read_version
from ....protocol.messages.consumer_protocol_assignment import ConsumerProtocolAssignment, TopicPartition
from ....protocol.messages.consumer_protocol_subscription import TopicPartition as OwnedPartitions
from ....protocol.primitives import Reader, Writer
from ....protocol.stored_records.consumer_group_values import Partitions
from .topics import GroupTopics, existing_topics


def encode_assignment(partitions: Partitions, topics: GroupTopics, subscription: bytes) -> bytes:
    """Encode an assignment in the version of the member's subscription. Raises FrameError for one without a version."""
    version = read_version(Reader.of_request(subscription))
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
