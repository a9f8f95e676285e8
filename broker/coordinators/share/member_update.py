"""The records that a member's heartbeat adds to its share group: group epoch, target and current assignment.

A new target assignment is computed once per assignment interval. Meanwhile a member whose subscription changes gets
the partitions of its last target assignment, without the topics to which it does not subscribe.
Source: GroupMetadataManager.shareGroupHeartbeat, initializedAssignmentPending, maybeUpdateTargetAssignment and
maybeReconcile, TargetAssignmentBuilder and ShareGroupAssignmentBuilder, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ....protocol.stored_records.consumer_group_values import (
    NO_PARTITIONS,
    Partitions,
    TargetAssignment,
    TargetAssignmentMetadata,
)
from ....protocol.stored_records.share_group_records import (
    ShareCurrentAssignment,
    ShareGroupMetadata,
    ShareRecordType,
)
from ..assignors.group_spec import MemberSpec
from ..consumer.topics import metadata_hash, topic_ids_in_order, topic_ids_of
from ..java_hash_tables import java_hash_order
from . import simple_assignor
from .share_group import ShareGroup, ShareMember, subscribed_names

if TYPE_CHECKING:
    from ..consumer.topics import GroupTopics
    from ..group.typed_groups import GroupChange
    from .settings import ShareGroupSettings


@dataclass(frozen=True, slots=True)
class _Target:
    """An assignment epoch, and the partitions of one member in it."""

    epoch: int
    partitions: Partitions


class ShareMemberUpdate:
    """Adds the records of a member's heartbeat to a change."""

    __slots__ = ("_settings", "_topics")

    def __init__(self, settings: ShareGroupSettings, topics: GroupTopics) -> None:
        """topics: the topics whose partitions are assigned."""
        self._settings = settings
        self._topics = topics

    def update(self, change: GroupChange[ShareGroup], before: ShareMember, updated: ShareMember) -> ShareMember:
        """Add the records, and return the member with its new assignment.

        before, updated: the member without and with the fields of its heartbeat.
        """
        group = change.group
        if updated != before or updated.member_id not in group.members:
            change.add(ShareRecordType.MEMBER_METADATA, updated.metadata, updated.member_id)
        members = {**group.members, updated.member_id: updated}
        has_new_names = updated.subscribed_names != before.subscribed_names
        epoch = self._update_epoch(change, members, has_new_names=has_new_names)
        target = self._update_target(change, members, updated, epoch)
        return self._reconcile(change, updated, target, is_bumped=epoch > group.group_epoch)

    def _update_epoch(
        self, change: GroupChange[ShareGroup], members: Mapping[str, ShareMember], *, has_new_names: bool
    ) -> int:
        """Return the group's epoch. It is raised if the subscriptions, their topics or their states have changed."""
        group = change.group
        topics_hash = metadata_hash(subscribed_names(members.values()), self._topics)
        is_assigned = group.assignment_epoch >= group.group_epoch
        if not has_new_names and topics_hash == group.metadata_hash and not (is_assigned and _has_unassigned(group)):
            return group.group_epoch
        change.add(ShareRecordType.GROUP_METADATA, ShareGroupMetadata(group.group_epoch + 1, topics_hash))
        return group.group_epoch + 1

    def _update_target(
        self, change: GroupChange[ShareGroup], members: Mapping[str, ShareMember], member: ShareMember, epoch: int
    ) -> _Target:
        """Return the member's target assignment; compute new ones of all members if they are due."""
        group = change.group
        interval_ms = self._settings.assignment_interval_ms(group.group_id)
        if group.assignment_epoch >= epoch or not group.may_assign(interval_ms):
            return _Target(group.assignment_epoch, group.target_assignments.get(member.member_id, NO_PARTITIONS))
        spec = self._spec(group, members)
        targets = simple_assignor.assign(spec)
        for member_id in spec.members:
            partitions = targets.get(member_id, NO_PARTITIONS)
            if group.target_assignments.get(member_id) != partitions:
                change.add(ShareRecordType.TARGET_ASSIGNMENT_MEMBER, TargetAssignment(partitions), member_id)
        metadata = TargetAssignmentMetadata(epoch, group.timers.now_ms())
        change.add(ShareRecordType.TARGET_ASSIGNMENT_METADATA, metadata)
        return _Target(epoch, targets.get(member.member_id, NO_PARTITIONS))

    def _spec(self, group: ShareGroup, members: Mapping[str, ShareMember]) -> simple_assignor.ShareGroupSpec:
        return simple_assignor.ShareGroupSpec(
            members={
                member_id: MemberSpec(
                    topic_ids_in_order(members[member_id].subscribed_names, self._topics),
                    group.target_assignments.get(member_id, NO_PARTITIONS),
                )
                for member_id in java_hash_order(members)
            },
            partitions={each.topic_id: each.partitions for each in group.state_partitions.initialized},
            is_homogeneous=len({each.subscribed_names for each in members.values()}) == 1,
        )

    def _reconcile(
        self, change: GroupChange[ShareGroup], member: ShareMember, target: _Target, *, is_bumped: bool
    ) -> ShareMember:
        """Return the member with the part of its target assignment to which it subscribes."""
        if member.member_epoch == target.epoch and not is_bumped:
            return member
        subscribed = topic_ids_of(member.subscribed_names, self._topics)
        partitions = {each: indexes for each, indexes in target.partitions.items() if each in subscribed}
        moved = replace(member, partitions=partitions)
        if member.member_epoch != target.epoch:
            moved = replace(moved, member_epoch=target.epoch, previous_member_epoch=member.member_epoch)
        if moved != member:
            value = ShareCurrentAssignment(moved.member_epoch, moved.previous_member_epoch, partitions=partitions)
            change.add(ShareRecordType.CURRENT_MEMBER_ASSIGNMENT, value, member.member_id)
        return moved


def _has_unassigned(group: ShareGroup) -> bool:
    """Whether partitions of a subscribed topic have got a state since the last target assignment."""
    assigned: dict[bytes, set[int]] = {}
    for partitions in group.target_assignments.values():
        for topic_id, indexes in partitions.items():
            assigned.setdefault(topic_id, set()).update(indexes)
    names = group.topic_names
    return any(
        assigned.get(topic.topic_id) != set(topic.partitions)
        for topic in group.state_partitions.initialized
        if topic.topic_name in names
    )
