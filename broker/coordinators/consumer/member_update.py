"""What follows for a group when a member joins it or tells something new: its epoch, its assignment, the next step.

Shared by heartbeats and by the JoinGroup of classic members.
Source: GroupMetadataManager.hasMemberSubscriptionChanged, updateSubscriptionMetadata, maybeUpdateTargetAssignment and
maybeReconcile, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ....protocol.stored_records.consumer_group_records import ConsumerRecordType
from ....protocol.stored_records.consumer_group_values import NO_PARTITIONS, Partitions
from .reconciliation import Reconciliation
from .records import current_assignment_record, group_record, member_record, tombstone
from .subscriptions import topics_of
from .target_assignment import compute_target_assignment
from .topics import look_at, metadata_hash, topic_ids_of

if TYPE_CHECKING:
    from .coordinator_result import GroupChange
    from .group import ConsumerGroup
    from .member import ConsumerMember
    from .settings import ConsumerGroupSettings
    from .target_assignment import MembersToBe
    from .topics import GroupTopics

logger = logging.getLogger(__name__)


class MemberUpdate:
    """Adds to a change what follows from a member's request."""

    __slots__ = ("_settings", "_topics")

    def __init__(self, settings: ConsumerGroupSettings, topics: GroupTopics) -> None:
        """Follow settings; assign partitions of topics."""
        self._settings = settings
        self._topics = topics

    def write_member(self, change: GroupChange, member: ConsumerMember, updated: ConsumerMember) -> bool:
        """Add the member's record if it has changed; return whether it names other topics than before."""
        if updated == member:
            return False
        change.add(member_record(change.group.group_id, updated))
        return updated.subscribed_topic_names != member.subscribed_topic_names

    def group_epoch(self, change: GroupChange, to_be: MembersToBe, *, is_bumped: bool) -> int:
        """Return the group's epoch; it goes up where it is to, and where its topics are not as they were."""
        group, names = change.group, sorted(to_be.subscriptions.topic_names)
        seen = look_at(names, self._topics)
        if not is_bumped and group.topics_seen == seen:
            return group.group_epoch
        new_hash = metadata_hash(names, self._topics)
        epoch = group.group_epoch
        if is_bumped or new_hash != group.metadata_hash:
            epoch += 1
            change.add(group_record(group.group_id, epoch, new_hash))
            logger.info("group %s: epoch %d", group.group_id, epoch)
        change.then(lambda: group.note_topics(seen))
        if group.has_partition_metadata:
            change.add(tombstone(ConsumerRecordType.PARTITION_METADATA, group.group_id))
        return epoch

    def target(
        self, change: GroupChange, to_be: MembersToBe, updated: ConsumerMember, group_epoch: int
    ) -> tuple[int, Partitions]:
        """Return what the member is to have, and in which epoch; assigned anew where the group has moved on."""
        group = change.group
        if group.assignment_epoch >= group_epoch or not self._may_assign(group):
            return group.assignment_epoch, group.target_assignment_for(updated)
        assigner = self._settings.limits.assignors[0]
        assignments = compute_target_assignment(group, to_be, group_epoch, self._topics, assigner)
        change.extend(assignments.records)
        return assignments.epoch, assignments.partitions.get(updated.member_id, NO_PARTITIONS)

    def _may_assign(self, group: ConsumerGroup) -> bool:
        """Whether enough time has passed since the last assignment (group.consumer.assignment.interval.ms)."""
        interval_ms = self._settings.assignment_interval_ms(group.group_id)
        last_ms = group.assignment_timestamp_ms
        return last_ms == 0 or interval_ms == 0 or group.timers.now_ms() >= last_ms + interval_ms

    def reconcile(
        self,
        change: GroupChange,
        member: ConsumerMember,
        target: tuple[int, Partitions],
        owned: Partitions | None,
        *,
        has_subscription_changed: bool,
    ) -> ConsumerMember:
        """Return the member after its next step towards its target. Raises KafkaError FENCED_MEMBER_EPOCH.

        owned: the partitions that it says it has, None where it says nothing.
        """
        group = change.group
        target_epoch, partitions = target
        if not has_subscription_changed and member.is_reconciled_to(target_epoch):
            return member
        subscribed = topic_ids_of(topics_of(member, group.resolved_regexes), self._topics)
        updated = Reconciliation(
            target_epoch=target_epoch,
            target=partitions,
            subscribed_topic_ids=subscribed,
            has_subscription_changed=has_subscription_changed,
            is_owned=group.is_owned,
            owned=owned,
        ).step(member)
        if updated != member:
            change.add(current_assignment_record(group.group_id, updated))
        return updated
