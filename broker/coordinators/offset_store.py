"""Committed offsets: which offset of which partition a group has reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CommittedOffset:
    """What was committed for one partition.

    leader_epoch: of the last record consumed, -1 if the client did not tell.
    expire_timestamp_ms: when it expires, from versions 2-4 of OffsetCommit; None leaves that to the broker.
    """

    offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp_ms: int
    expire_timestamp_ms: int | None = None

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

    def put(self, group_id: str, topic_name: str, partition: int, committed: CommittedOffset) -> None:
        """Keep an offset, in place of an earlier one."""
        self._groups.setdefault(group_id, {}).setdefault(topic_name, {})[partition] = committed

    def find(self, group_id: str, topic_name: str, partition: int) -> CommittedOffset | None:
        """Return what the group committed for the partition, or None."""
        return self._groups.get(group_id, {}).get(topic_name, {}).get(partition)

    def of_group(self, group_id: str) -> Mapping[str, Mapping[int, CommittedOffset]]:
        """Return all that the group committed, by topic and partition; a view, not to be kept."""
        return self._groups.get(group_id, {})

    def remove(self, group_id: str, topic_name: str, partition: int) -> None:
        """Forget an offset; without effect if there is none."""
        topics = self._groups.get(group_id, {})
        partitions = topics.get(topic_name, {})
        partitions.pop(partition, None)
        if not partitions:
            topics.pop(topic_name, None)
        if not topics:
            self._groups.pop(group_id, None)

    def remove_group(self, group_id: str) -> None:
        """Forget all offsets of a group."""
        self._groups.pop(group_id, None)

    def remove_topic(self, topic_name: str) -> None:
        """Forget what every group committed for a topic."""
        for group_id, topics in list(self._groups.items()):
            topics.pop(topic_name, None)
            if not topics:
                del self._groups[group_id]
