"""Which topics the folders of partitions make, where no metadata file tells it.

A folder's name has the topic and the partition, and its partition.metadata the topic's id. What else a topic was told
is not in the folders, so its records are kept for as long as nobody says otherwise.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from ...protocol.kafka_uuid import new_uuid, uuid_text
from ..metadata.cluster_metadata import TopicMetadata
from ..metadata.metadata_image import is_internal_topic

if TYPE_CHECKING:
    from ...storage.log_manager import StoredPartition


# Whatever retention there was: what is not known must not cost records.
KEEP_ALL = {"retention.ms": "-1", "retention.bytes": "-1"}
COMPACT = {"cleanup.policy": "compact"}


def topics_in_folders(stored: Iterable[StoredPartition], compacted: Collection[str]) -> list[TopicMetadata]:
    """Return the topics that the partitions belong to, in the order of their names.

    compacted: the topics that are known to be compacted. Where partitions of one name have several ids, the one of the
    lowest partition holds; belongs_to tells which then are another topic's. A topic without any id gets a new one.
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
    """Whether the partition's folder is one of the topic of that id, as far as the folder tells."""
    return stored.topic_id is None or stored.topic_id == topic_id


def describe(topics: Iterable[TopicMetadata]) -> str:
    """Return the topics for the log."""
    return ", ".join(
        f"{topic.name} (id {uuid_text(topic.topic_id)}, {topic.partition_count} partitions, "
        f"{' '.join(f'{name}={text}' for name, text in topic.configs.items())})"
        for topic in topics
    )
