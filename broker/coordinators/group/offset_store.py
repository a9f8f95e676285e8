"""Committed offsets by group, topic and partition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ....protocol.primitives import ZERO_UUID

NOT_WRITTEN = -1


class GroupTopicPartition(NamedTuple):
    """The key of a committed offset."""

    group_id: str
    topic_name: str
    partition: int


@dataclass(frozen=True, slots=True)
class CommittedOffset:
    """An offset that a group committed for one partition.

    leader_epoch: of the last record consumed; -1 if the client did not send it.
    expire_timestamp_ms: set by OffsetCommit versions 2-4; None if the broker's retention applies.
    topic_id: all zero if unknown.
    record_offset: the offset of its record in __consumer_offsets. The later of two records for a partition wins.
    """

    offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp_ms: int
    expire_timestamp_ms: int | None = None
    topic_id: bytes = ZERO_UUID
    record_offset: int = field(default=NOT_WRITTEN, compare=False)

    def at(self, record_offset: int) -> CommittedOffset:
        """Return a copy with the offset of its record."""
        return replace(self, record_offset=record_offset)

    def is_of_topic(self, topic_id: bytes) -> bool:
        """Return whether the topic ids are equal, or one is unknown. A recreated topic has another id.

        Source: OffsetMetadataManager.isMismatchedTopicId, Kafka 4.3.0.
        """
        return ZERO_UUID in (self.topic_id, topic_id) or self.topic_id == topic_id

    def is_expired(self, now_ms: int, *, base_ms: int, retention_ms: int) -> bool:
        """Return whether the offset has expired. base_ms: the time from which retention_ms counts."""
        if self.expire_timestamp_ms is not None:
            return now_ms >= self.expire_timestamp_ms
        return now_ms - base_ms >= retention_ms


class OffsetStore:
    """Offsets by group, topic and partition, in the order in which they were first committed."""

    __slots__ = ("_groups",)

    def __init__(self) -> None:
        """Start empty."""
        self._groups: dict[str, dict[str, dict[int, CommittedOffset]]] = {}

    def put(self, partition: GroupTopicPartition, committed: CommittedOffset) -> None:
        """Store an offset in place of an earlier one."""
        group_id, topic_name, index = partition
        self._groups.setdefault(group_id, {}).setdefault(topic_name, {})[index] = committed

    def find(self, group_id: str, topic_name: str, partition: int) -> CommittedOffset | None:
        """Return the committed offset, or None."""
        return self._groups.get(group_id, {}).get(topic_name, {}).get(partition)

    def of_group(self, group_id: str) -> Mapping[str, Mapping[int, CommittedOffset]]:
        """Return the group's offsets by topic and partition. It is a view that later changes affect."""
        return self._groups.get(group_id, {})

    def of_topic(self, topic_name: str) -> list[tuple[GroupTopicPartition, CommittedOffset]]:
        """Return the offsets of every group for a topic of that name."""
        return [
            (GroupTopicPartition(group_id, topic_name, partition), committed)
            for group_id, topics in self._groups.items()
            for partition, committed in topics.get(topic_name, {}).items()
        ]

    def remove(self, partition: GroupTopicPartition) -> None:
        """Delete an offset, if there is one."""
        group_id, topic_name, index = partition
        topics = self._groups.get(group_id, {})
        partitions = topics.get(topic_name, {})
        partitions.pop(index, None)
        if not partitions:
            topics.pop(topic_name, None)
        if not topics:
            self._groups.pop(group_id, None)
