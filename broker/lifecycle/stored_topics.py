"""Derives topics from partition folders, for a data folder without a metadata file and for imported logs.

The folder's name has the topic and the partition; its partition.metadata has the topic id. Configs are not in the
folders, so that the topics get unlimited retention.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from ...protocol.kafka_uuid import new_uuid, uuid_text
from ..metadata.cluster_metadata import TopicMetadata
from ..metadata.metadata_image import is_internal_topic

if TYPE_CHECKING:
    from ...storage.log_manager import StoredPartition


# The original retention is unknown, and no record must be lost.
KEEP_ALL = {"retention.ms": "-1", "retention.bytes": "-1"}
COMPACT = {"cleanup.policy": "compact"}


def topics_in_folders(stored: Iterable[StoredPartition], compacted: Collection[str]) -> list[TopicMetadata]:
    """Return the topics of the partitions, sorted by name.

    compacted: the names of compacted topics. If partitions of one name have different topic ids, that of the lowest
    partition counts (see belongs_to). A topic without an id gets a new one.
    """
    partitions: dict[str, list[StoredPartition]] = {}
    for each in stored:
        partitions.setdefault(each.topic_name, []).append(each)
    topics: list[TopicMetadata] = []
    for name, members in sorted(partitions.items()):
        members.sort(key=lambda member: member.partition)
        topic_id = next((member.topic_id for member in members if member.topic_id is not None), None)
        own = [member for member in members if topic_id is None or belongs_to(member, topic_id)]
        configs = COMPACT if name in compacted or is_internal_topic(name) else KEEP_ALL
        topics.append(TopicMetadata(name, topic_id or new_uuid(), own[-1].partition + 1, dict(configs)))
    return topics


def belongs_to(stored: StoredPartition, topic_id: bytes) -> bool:
    """Return whether the partition is one of the topic with that id, or its folder has no topic id."""
    return stored.topic_id is None or stored.topic_id == topic_id


def describe_topics(topics: Iterable[TopicMetadata]) -> str:
    """Return the topics as text for the log."""
    return ", ".join(
        f"{topic.name} (id {uuid_text(topic.topic_id)}, {topic.partition_count} partitions, "
        f"{' '.join(f'{name}={text}' for name, text in topic.configs.items())})"
        for topic in topics
    )
