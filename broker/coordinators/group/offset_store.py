"""Committed offsets: which offset of which partition a group has reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ....protocol.primitives import ZERO_UUID

NOT_WRITTEN = -1


class OffsetPlace(NamedTuple):
    """What an offset is committed for."""

    group_id: str
    topic_name: str
    partition: int


@dataclass(frozen=True, slots=True)
class CommittedOffset:
    """What was committed for one partition.

    leader_epoch: of the last record consumed, -1 if the client did not tell.
    expire_timestamp_ms: when it expires, from versions 2-4 of OffsetCommit; None leaves that to the broker.
    topic_id: of the topic that it was committed for, all zero where that is not known.
    record_offset: where the coordinator's topic has it: of two offsets for a partition the one written last counts.
    """

    offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp_ms: int
    expire_timestamp_ms: int | None = None
    topic_id: bytes = ZERO_UUID
    record_offset: int = field(default=NOT_WRITTEN, compare=False)

    def at(self, record_offset: int) -> CommittedOffset:
        """Return the same, written there."""
        return replace(self, record_offset=record_offset)

    def is_of_topic(self, topic_id: bytes) -> bool:
        """Return whether it can be one of that topic: a topic that was deleted had another id.

        Source: OffsetMetadataManager.isMismatchedTopicId, Kafka 4.3.0.
        """
        return ZERO_UUID in (self.topic_id, topic_id) or self.topic_id == topic_id

    def is_expired(self, now_ms: int, *, base_ms: int, retention_ms: int) -> bool:
        """Return whether it is to be dropped; base_ms is when retention_ms began."""
        if self.expire_timestamp_ms is not None:
            return now_ms >= self.expire_timestamp_ms
        return now_ms - base_ms >= retention_ms


class OffsetStore:
    """Offsets by group, topic and partition, in the order in which they were first committed."""

    __slots__ = ("_groups",)

    def __init__(self) -> None:
        """Start empty."""
        self._groups: dict[str, dict[str, dict[int, CommittedOffset]]] = {}

    def put(self, place: OffsetPlace, committed: CommittedOffset) -> None:
        """Keep an offset, in place of an earlier one."""
        group_id, topic_name, partition = place
        self._groups.setdefault(group_id, {}).setdefault(topic_name, {})[partition] = committed

    def find(self, group_id: str, topic_name: str, partition: int) -> CommittedOffset | None:
        """Return what the group committed for the partition, or None."""
        return self._groups.get(group_id, {}).get(topic_name, {}).get(partition)

    def of_group(self, group_id: str) -> Mapping[str, Mapping[int, CommittedOffset]]:
        """Return all that the group committed, by topic and partition; a view, not to be kept."""
        return self._groups.get(group_id, {})

    def of_topic(self, topic_name: str) -> list[tuple[OffsetPlace, CommittedOffset]]:
        """Return what every group committed for a topic of that name."""
        return [
            (OffsetPlace(group_id, topic_name, partition), committed)
            for group_id, topics in self._groups.items()
            for partition, committed in topics.get(topic_name, {}).items()
        ]

    def remove(self, place: OffsetPlace) -> None:
        """Forget an offset; without effect if there is none."""
        topics = self._groups.get(place.group_id, {})
        partitions = topics.get(place.topic_name, {})
        partitions.pop(place.partition, None)
        if not partitions:
            topics.pop(place.topic_name, None)
        if not topics:
            self._groups.pop(place.group_id, None)
