"""Derives topics from partition folders: without a metadata file, for imported logs, and after a damaged metadata file.

The folder's name has the topic and the partition; its partition.metadata has the topic id. Configs are not in the
folders, so that the topics get unlimited retention.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
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


@dataclass(frozen=True, slots=True)
class CompletedTopics:
    """The topics of a copy of the metadata, completed from the folders.

    added: topics that only the folders have, also with another topic id. removed: topics of the copy without folders.
    """

    topics: list[TopicMetadata]
    added: list[TopicMetadata]
    removed: list[TopicMetadata]


def complete_topics(
    copied: Iterable[TopicMetadata], stored: Sequence[StoredPartition], compacted: Collection[str]
) -> CompletedTopics:
    """Return the topics of a copy that may lack the last changes.

    Folders are created before the metadata is written, and renamed after it. So a topic without a folder was deleted
    since, one with other ids was created again, and an unknown one is new. No folder is left without a topic.
    """
    in_folders = {topic.name: topic for topic in topics_in_folders(stored, compacted)}
    topics: list[TopicMetadata] = []
    removed: list[TopicMetadata] = []
    for topic in copied:
        own = [each.partition for each in stored if each.topic_name == topic.name and belongs_to(each, topic.topic_id)]
        if own:
            del in_folders[topic.name]
            topics.append(replace(topic, partition_count=max(topic.partition_count, max(own) + 1)))
        elif topic.name not in in_folders:
            removed.append(topic)
    added = list(in_folders.values())
    return CompletedTopics(topics + added, added, removed)


def belongs_to(stored: StoredPartition, topic_id: bytes) -> bool:
    """Return whether the partition is one of the topic with that id, or its folder has no topic id.

    partition.metadata has no checksum. Two topic ids that differ in one character are the same one, damaged: random ids
    differ in many.
    """
    return stored.topic_id is None or stored.topic_id == topic_id or is_damaged(stored, topic_id)


def is_damaged(stored: StoredPartition, topic_id: bytes) -> bool:
    """Return whether the folder's topic id is topic_id with one wrong character."""
    if stored.topic_id is None:
        return False
    pairs = zip(uuid_text(stored.topic_id), uuid_text(topic_id), strict=True)
    return sum(own != expected for own, expected in pairs) == 1


def describe_topics(topics: Iterable[TopicMetadata]) -> str:
    """Return the topics as text for the log."""
    return ", ".join(
        f"{topic.name} (id {uuid_text(topic.topic_id)}, {topic.partition_count} partitions, "
        f"{' '.join(f'{name}={text}' for name, text in topic.configs.items())})"
        for topic in topics
    )
