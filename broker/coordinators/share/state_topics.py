"""Which partitions have a state for a share group: the record STATE_PARTITION_METADATA of the group.

A heartbeat adds the subscribed partitions without a state as initializing, and creates their states when it ends. A
deleted topic is removed from the record.
Source: GroupMetadataManager.maybeCreateInitializeShareGroupStateRequest, initializeShareGroupState and
maybeCleanupShareGroupState, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from ....protocol.error_codes import KafkaError
from ....protocol.stored_records.share_group_records import ShareRecordType, StatePartitionMetadata, StateTopic
from ..consumer.topics import find_topics
from ..group.typed_groups import GroupChange

if TYPE_CHECKING:
    from ..consumer.topics import GroupTopics
    from ..group.typed_groups import TypedGroupStore
    from .share_group import ShareGroup

logger = logging.getLogger(__name__)

# Initializes the states of partitions: group id, group epoch, topics with partitions. Raises KafkaError.
InitializeStates = Callable[[str, int, Iterable[StateTopic]], None]


class StateTopics:
    """Writes which partitions of a group have a state."""

    __slots__ = ("_initialize_states", "_store", "_topics")

    def __init__(
        self, store: TypedGroupStore[ShareGroup], topics: GroupTopics, initialize_states: InitializeStates
    ) -> None:
        """topics: the topics of the cluster."""
        self._store = store
        self._topics = topics
        self._initialize_states = initialize_states

    def add_pending(self, change: GroupChange[ShareGroup], topic_names: Iterable[str]) -> None:
        """Add the partitions of topics that have no state to the initializing ones."""
        before = change.group.state_partitions
        topics = (*before.initializing, *before.initialized)
        present = {(topic.topic_id, index) for topic in topics for index in topic.partitions}
        missing: list[StateTopic] = []
        for topic in sorted(find_topics(topic_names, self._topics), key=lambda topic: topic.name):
            indexes = tuple(each for each in range(topic.partition_count) if (topic.topic_id, each) not in present)
            if indexes:
                missing.append(StateTopic(topic.topic_id, topic.name, indexes))
        if missing:
            value = replace(before, initializing=_joined(before.initializing, missing))
            change.add(ShareRecordType.STATE_PARTITION_METADATA, value)

    def initialize_pending(self, group: ShareGroup) -> None:
        """Create the states of the initializing partitions. The next heartbeat tries again after an error."""
        before = group.state_partitions
        if not before.initializing:
            return
        try:
            self._initialize_states(group.group_id, group.group_epoch, before.initializing)
            initialized = _joined(before.initialized, before.initializing)
            self._write(group, StatePartitionMetadata((), initialized, before.deleting))
        except KafkaError as error:
            logger.warning("share group %s: cannot initialize states of partitions: %s", group.group_id, error.message)

    def remove_topics(self, topic_ids: Collection[bytes]) -> None:
        """Remove deleted topics from every group."""
        for group in self._store.groups():
            before = group.state_partitions
            after = StatePartitionMetadata(
                tuple(each for each in before.initializing if each.topic_id not in topic_ids),
                tuple(each for each in before.initialized if each.topic_id not in topic_ids),
                tuple(each for each in before.deleting if each[0] not in topic_ids),
            )
            if after == before:
                continue
            try:
                self._write(group, after)
            except KafkaError as error:
                logger.warning("share group %s: cannot remove deleted topics: %s", group.group_id, error.message)

    def _write(self, group: ShareGroup, value: StatePartitionMetadata) -> None:
        change = GroupChange(group)
        change.add(ShareRecordType.STATE_PARTITION_METADATA, value)
        self._store.commit(change)


def _joined(first: Iterable[StateTopic], second: Iterable[StateTopic]) -> tuple[StateTopic, ...]:
    """Return the partitions of both, with one entry for each topic."""
    topics: dict[bytes, StateTopic] = {}
    for each in (*first, *second):
        before = topics.get(each.topic_id)
        partitions = {*each.partitions, *(() if before is None else before.partitions)}
        topics[each.topic_id] = replace(each, partitions=tuple(sorted(partitions)))
    return tuple(topics.values())
