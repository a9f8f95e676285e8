"""The target assignment of a group, computed by the assignor that most members request.

Source: TargetAssignmentBuilder and GroupMetadataManager.maybeUpdateTargetAssignment, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ....protocol.stored_records.consumer_group_values import NO_PARTITIONS, Partitions
from ....protocol.stored_records.typed_records import TypedRecord
from ..assignors.group_spec import GroupSpec, MemberSpec
from ..java_hash_tables import java_hash_order
from .records import target_assignment_metadata_record, target_assignment_record
from .settings import assignor_of
from .subscriptions import Subscriptions, topics_of
from .topics import topic_ids_in_order

if TYPE_CHECKING:
    from .group import ConsumerGroup
    from .member import ConsumerMember
    from .topics import GroupTopics

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TargetAssignments:
    """A target assignment: its epoch, the partitions of each member, and the records of what changed."""

    epoch: int
    partitions: Mapping[str, Partitions]
    records: list[TypedRecord]


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdatedMembers:
    """The members of a group after the update of one of them, which is not committed yet."""

    members: Mapping[str, ConsumerMember]
    subscriptions: Subscriptions

    @classmethod
    def of(cls, group: ConsumerGroup, updated: ConsumerMember) -> UpdatedMembers:
        """Return the group's members with the updated one, which replaces the static member of the same instance id."""
        if group.members.get(updated.member_id) == updated:
            return cls(members=group.members, subscriptions=group.subscriptions)
        members = dict(group.members)
        replaced = group.static_member(updated.instance_id)
        if replaced is not None and replaced.member_id != updated.member_id:
            del members[replaced.member_id]
        members[updated.member_id] = updated
        return cls(members=members, subscriptions=Subscriptions.of(members.values(), group.resolved_regexes))


def compute_target_assignment(
    group: ConsumerGroup, updated_members: UpdatedMembers, group_epoch: int, topics: GroupTopics, default_assignor: str
) -> TargetAssignments:
    """Assign all partitions of the subscribed topics to the members."""
    assignor = updated_members.subscriptions.preferred_assignor or default_assignor
    spec = _spec(group, updated_members, topics)
    assigned = assignor_of(assignor)(spec)
    logger.info(
        "group %s: assigned partitions for epoch %d to %d members (%s)",
        group.group_id,
        group_epoch,
        len(spec.members),
        assignor,
    )
    records = [
        target_assignment_record(group.group_id, member_id, assigned.get(member_id, NO_PARTITIONS))
        for member_id in spec.members
        if group.target_assignments.get(member_id) != assigned.get(member_id, NO_PARTITIONS)
    ]
    now_ms = group.timers.now_ms()
    records.append(target_assignment_metadata_record(group.group_id, group_epoch, now_ms))
    return TargetAssignments(group_epoch, assigned, records)


def _spec(group: ConsumerGroup, updated_members: UpdatedMembers, topics: GroupTopics) -> GroupSpec:
    members = {
        member_id: MemberSpec(
            topic_ids_in_order(topics_of(updated_members.members[member_id], group.resolved_regexes), topics),
            _previous_target(group, updated_members.members[member_id]),
            updated_members.members[member_id].instance_id,
        )
        for member_id in java_hash_order(updated_members.members)
    }
    topic_ids = {topic_id for member in members.values() for topic_id in member.subscribed_topic_ids}
    found = {topic_id: topics.find_by_id(topic_id) for topic_id in topic_ids}
    return GroupSpec(
        members=members,
        partition_counts={topic_id: topic.partition_count for topic_id, topic in found.items() if topic is not None},
        is_homogeneous=updated_members.subscriptions.are_homogeneous,
    )


def _previous_target(group: ConsumerGroup, member: ConsumerMember) -> Partitions:
    """Return the previous target assignment of a member, or of the static member that it replaces."""
    if member.instance_id is not None and member.instance_id in group.static_members:
        return group.target_assignment_of(group.static_members[member.instance_id])
    return group.target_assignment_of(member.member_id)
