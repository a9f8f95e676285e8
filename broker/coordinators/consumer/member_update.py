"""The records that a member's request adds to its group: subscription, group epoch, target and current assignment.

ConsumerGroupHeartbeat and the JoinGroup of classic members share these steps.
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
from .topics import metadata_hash, take_snapshot, topic_ids_of

if TYPE_CHECKING:
    from .coordinator_result import GroupChange
    from .group import ConsumerGroup
    from .member import ConsumerMember
    from .settings import ConsumerGroupSettings
    from .target_assignment import UpdatedMembers
    from .topics import GroupTopics

logger = logging.getLogger(__name__)


class MemberUpdate:
    """Adds the records of a member's request to a change."""

    __slots__ = ("_settings", "_topics")

    def __init__(self, settings: ConsumerGroupSettings, topics: GroupTopics) -> None:
        """topics: the topics whose partitions are assigned."""
        self._settings = settings
        self._topics = topics

    def write_member(self, change: GroupChange, member: ConsumerMember, updated: ConsumerMember) -> bool:
        """Add the member's record if the member has changed. Returns whether its topic names have changed."""
        if updated == member:
            return False
        change.add(member_record(change.group.group_id, updated))
        return updated.subscribed_topic_names != member.subscribed_topic_names

    def update_epoch(self, change: GroupChange, updated_members: UpdatedMembers, *, is_bumped: bool) -> int:
        """Return the group epoch after the change; it increases if is_bumped, or if the subscribed topics changed."""
        group, names = change.group, sorted(updated_members.subscriptions.topic_names)
        snapshot = take_snapshot(names, self._topics)
        if not is_bumped and group.topics_snapshot == snapshot:
            return group.group_epoch
        new_hash = metadata_hash(names, self._topics)
        epoch = group.group_epoch
        if is_bumped or new_hash != group.metadata_hash:
            epoch += 1
            change.add(group_record(group.group_id, epoch, new_hash))
            logger.info("group %s: epoch %d", group.group_id, epoch)
        change.after_commit(lambda: group.set_topics_snapshot(snapshot))
        if group.has_partition_metadata:
            change.add(tombstone(ConsumerRecordType.PARTITION_METADATA, group.group_id))
        return epoch

    def update_target(
        self, change: GroupChange, updated_members: UpdatedMembers, updated: ConsumerMember, group_epoch: int
    ) -> tuple[int, Partitions]:
        """Return the assignment epoch and the target assignment of the member; compute new ones if they are due."""
        group = change.group
        if group.assignment_epoch >= group_epoch or not self._may_assign(group):
            return group.assignment_epoch, group.inherited_target_assignment(updated)
        assigner = self._settings.limits.assignors[0]
        assignments = compute_target_assignment(group, updated_members, group_epoch, self._topics, assigner)
        change.add(*assignments.records)
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

        target: the assignment epoch and the partitions. owned: the partitions that the member reports, None if it
        reports none.
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
