"""The records that a member's request adds to its group: subscription, group epoch, target and current assignment.

ConsumerGroupHeartbeat and the JoinGroup of classic members share these steps. The last one is the reconciliation of the
member: the steps from its current to its target assignment. A member first revokes the partitions that are not in its
target. It gets a partition once no other member has it.
Source: GroupMetadataManager.hasMemberSubscriptionChanged, updateSubscriptionMetadata, maybeUpdateTargetAssignment and
maybeReconcile, and CurrentAssignmentBuilder, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.stored_records.consumer_group_records import ConsumerRecordType
from ....protocol.stored_records.consumer_group_values import NO_PARTITIONS, PartitionEpochs, Partitions
from .member import ConsumerMember, MemberState, merged
from .records import current_assignment_record, group_record, member_record, tombstone
from .subscriptions import topics_of
from .target_assignment import compute_target_assignment
from .topics import metadata_hash, take_snapshot, topic_ids_of

if TYPE_CHECKING:
    from .group_change import ConsumerGroupChange
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

    def write_member(self, change: ConsumerGroupChange, member: ConsumerMember, updated: ConsumerMember) -> bool:
        """Add the member's record if the member has changed. Returns whether its topic names have changed."""
        if updated == member:
            return False
        change.add_records(member_record(change.group.group_id, updated))
        return updated.subscribed_topic_names != member.subscribed_topic_names

    def update_epoch(self, change: ConsumerGroupChange, updated_members: UpdatedMembers, *, is_bumped: bool) -> int:
        """Return the group epoch after the change; it increases if is_bumped, or if the subscribed topics changed."""
        group, names = change.group, sorted(updated_members.subscriptions.topic_names)
        snapshot = take_snapshot(names, self._topics)
        if not is_bumped and group.topics_snapshot == snapshot:
            return group.group_epoch
        new_hash = metadata_hash(names, self._topics)
        epoch = group.group_epoch
        if is_bumped or new_hash != group.metadata_hash:
            epoch += 1
            change.add_records(group_record(group.group_id, epoch, new_hash))
            logger.info("group %s: epoch %d", group.group_id, epoch)
        change.after_commit(lambda: group.set_topics_snapshot(snapshot))
        if group.has_partition_metadata:
            change.add_records(tombstone(ConsumerRecordType.PARTITION_METADATA, group.group_id))
        return epoch

    def update_target(
        self, change: ConsumerGroupChange, updated_members: UpdatedMembers, updated: ConsumerMember, group_epoch: int
    ) -> tuple[int, Partitions]:
        """Return the assignment epoch and the target assignment of the member; compute new ones if they are due."""
        group = change.group
        interval_ms = self._settings.assignment_interval_ms(group.group_id)
        if group.assignment_epoch >= group_epoch or not group.may_assign(interval_ms):
            return group.assignment_epoch, group.inherited_target_assignment(updated)
        assigner = self._settings.limits.assignors[0]
        assignments = compute_target_assignment(group, updated_members, group_epoch, self._topics, assigner)
        change.add_records(*assignments.records)
        return assignments.epoch, assignments.partitions.get(updated.member_id, NO_PARTITIONS)

    def reconcile(
        self,
        change: ConsumerGroupChange,
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
            change.add_records(current_assignment_record(group.group_id, updated))
        return updated


# Returns whether a member has the partition, from a topic id and a partition index.
IsOwned = Callable[[bytes, int], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciliation:
    """The input of one member's next step.

    subscribed_topic_ids: the existing topics that the member subscribes to.
    owned: the partitions that the member reports, None if it reports none.
    """

    target_epoch: int
    target: Partitions
    subscribed_topic_ids: frozenset[bytes]
    has_subscription_changed: bool
    is_owned: IsOwned
    owned: Partitions | None

    def step(self, member: ConsumerMember) -> ConsumerMember:
        """Return the member after its next step; the same member if it must wait.

        Raises KafkaError FENCED_MEMBER_EPOCH for a member in state UNKNOWN that still reports partitions.
        """
        match member.state:
            case MemberState.STABLE if member.member_epoch == self.target_epoch:
                return self._without_unsubscribed(member)
            case MemberState.UNREVOKED_PARTITIONS if self._still_has(member.pending_revocation):
                return self._without_unsubscribed(member)
            case MemberState.UNKNOWN:
                if self.owned is None or self.owned:
                    raise KafkaError(
                        ErrorCode.FENCED_MEMBER_EPOCH,
                        "The consumer group member is in a unknown state. The member must abandon all its partitions "
                        "and rejoin.",
                    )
                return self._towards_target(member, self.target_epoch)
            case _:
                return self._towards_target(member, member.member_epoch)

    def _still_has(self, pending_revocation: PartitionEpochs) -> bool:
        """Whether the member has not confirmed the revocation of all these partitions."""
        if self.owned is None:
            return True
        return any(
            partition in pending_revocation.get(topic_id, ())
            for topic_id, partitions in self.owned.items()
            for partition in partitions
        )

    def _without_unsubscribed(self, member: ConsumerMember) -> ConsumerMember:
        """Return the member without the topics that it no longer subscribes to."""
        if not self.has_subscription_changed:
            return member
        dropped = {
            topic_id: epochs
            for topic_id, epochs in member.assigned.items()
            if topic_id not in self.subscribed_topic_ids
        }
        # Kafka creates a new member here even if the last topic had no partitions, and thereby writes a record.
        is_without_topics = not self.subscribed_topic_ids and not member.pending_revocation
        if not dropped and not is_without_topics:
            return member
        kept = {topic_id: epochs for topic_id, epochs in member.assigned.items() if topic_id not in dropped}
        pending_revocation = merged(member.pending_revocation, dropped)
        if pending_revocation and self._still_has(pending_revocation):
            state = MemberState.UNREVOKED_PARTITIONS
            return member.with_state(state, member.member_epoch, kept, pending_revocation)
        return member.with_state(member.state, member.member_epoch, kept, member.pending_revocation)

    def _towards_target(self, member: ConsumerMember, member_epoch: int) -> ConsumerMember:
        """Return the member one step nearer to its target. member_epoch: its epoch until the revocation is done."""
        difference = self._difference(member)
        if difference.pending_revocation and self._still_has(difference.pending_revocation):
            return member.with_state(
                MemberState.UNREVOKED_PARTITIONS, member_epoch, difference.kept, difference.pending_revocation
            )
        state = MemberState.UNRELEASED_PARTITIONS if difference.is_waiting else MemberState.STABLE
        return member.with_state(state, self.target_epoch, merged(difference.kept, difference.new))

    def _difference(self, member: ConsumerMember) -> _AssignmentDifference:
        difference = _AssignmentDifference()
        for topic_id in [*self.target, *(topic_id for topic_id in member.assigned if topic_id not in self.target)]:
            is_subscribed = topic_id in self.subscribed_topic_ids
            target = self.target.get(topic_id, frozenset()) if is_subscribed else frozenset[int]()
            assigned = member.assigned.get(topic_id, {})
            wanted = sorted(target - assigned.keys())
            free = [partition for partition in wanted if self._is_free(member, topic_id, partition)]
            difference.is_waiting |= len(free) < len(wanted)
            difference.put(
                topic_id,
                kept={partition: epoch for partition, epoch in assigned.items() if partition in target},
                revoked={partition: epoch for partition, epoch in assigned.items() if partition not in target},
                new=dict.fromkeys(free, self.target_epoch),
            )
        return difference

    def _is_free(self, member: ConsumerMember, topic_id: bytes, partition: int) -> bool:
        """Whether no other member has the partition. The member may get back what it has not revoked yet."""
        return not self.is_owned(topic_id, partition) or partition in member.pending_revocation.get(topic_id, ())


@dataclass(slots=True)
class _AssignmentDifference:
    """The partitions that a member keeps, revokes and gets. is_waiting: whether other members still have some."""

    kept: dict[bytes, Mapping[int, int]] = field(default_factory=dict[bytes, Mapping[int, int]])
    pending_revocation: dict[bytes, Mapping[int, int]] = field(default_factory=dict[bytes, Mapping[int, int]])
    new: dict[bytes, Mapping[int, int]] = field(default_factory=dict[bytes, Mapping[int, int]])
    is_waiting: bool = False

    def put(
        self, topic_id: bytes, *, kept: Mapping[int, int], revoked: Mapping[int, int], new: Mapping[int, int]
    ) -> None:
        for topics, partitions in ((self.kept, kept), (self.pending_revocation, revoked), (self.new, new)):
            if partitions:
                topics[topic_id] = partitions
