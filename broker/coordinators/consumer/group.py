"""The state of one group of the consumer protocol: members, epochs and assignments.

Only `apply` changes the replicated state: with each record after it is written, and with each record of the log at
start-up. heartbeats, classic_members, members and regex_refresh write the records.
Source: ConsumerGroup, ModernGroup and GroupMetadataManager.replay, Kafka 4.3.0.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.stored_records.consumer_group_records import ConsumerRecordType
from ....protocol.stored_records.consumer_group_values import (
    NO_PARTITIONS,
    CurrentAssignment,
    GroupMetadata,
    MemberMetadata,
    PartitionMetadata,
    Partitions,
    RegularExpression,
    TargetAssignment,
    TargetAssignmentMetadata,
)
from ....protocol.stored_records.typed_records import TypedRecord
from ..group.group import CheckOffset, GroupType, OffsetCommitter, accept_any_offset
from ..group.member_group import MemberGroup
from ..group.typed_groups import encoded
from .member import ConsumerMember, MemberState, check_offset_commit, check_offset_fetch, is_anonymous_transaction
from .records import group_tombstones
from .subscriptions import Subscriptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..coordinator_log import CoordinatorRecord
    from ..group.group_timers import GroupTimers
    from .topics import TopicsSnapshot

PROTOCOL_TYPE = "consumer"

# The epoch of a group before its first record, which has epoch 2.
FIRST_EPOCH = 1
# The assignment epoch after a tombstone of the target assignment.
NEVER_ASSIGNED = -1


class ConsumerGroupState(Enum):
    """The states of a group, by the names that ListGroups and ConsumerGroupDescribe return."""

    EMPTY = "Empty"
    # The assignment epoch is lower than the group epoch.
    ASSIGNING = "Assigning"
    # A member does not have its target assignment yet.
    RECONCILING = "Reconciling"
    STABLE = "Stable"
    DEAD = "Dead"


class ConsumerGroup(MemberGroup[ConsumerMember]):
    """One group of the consumer protocol."""

    __slots__ = (
        "_owned",
        "_subscriptions",
        "assignment_epoch",
        "group_epoch",
        "has_partition_metadata",
        "is_regex_refresh_running",
        "metadata_hash",
        "resolved_regexes",
        "target_assignments",
        "topics_snapshot",
    )

    def __init__(self, group_id: str, timers: GroupTimers) -> None:
        """Create a group without members."""
        super().__init__(group_id, timers)
        self.group_epoch = FIRST_EPOCH
        self.metadata_hash = 0
        self.assignment_epoch = FIRST_EPOCH
        self.target_assignments: dict[str, Partitions] = {}
        self.resolved_regexes: dict[str, RegularExpression] = {}
        # Whether there is a partition metadata record, which Kafka wrote before 4.1, and which needs a tombstone.
        self.has_partition_metadata = False
        # Whether a lookup of the topics of its regular expressions is in flight.
        self.is_regex_refresh_running = False
        # The topics when metadata_hash was last compared with them; None before the first comparison.
        self.topics_snapshot: TopicsSnapshot | None = None
        self._subscriptions: Subscriptions | None = None
        self._owned: set[tuple[bytes, int]] | None = None

    @property
    def group_type(self) -> GroupType:
        """The type of the group."""
        return GroupType.CONSUMER

    @property
    def state(self) -> ConsumerGroupState:
        """The state, from the epochs of the group and of its members."""
        if not self.members:
            return ConsumerGroupState.EMPTY
        if self.group_epoch > self.assignment_epoch:
            return ConsumerGroupState.ASSIGNING
        if all(member.is_reconciled_to(self.assignment_epoch) for member in self.members.values()):
            return ConsumerGroupState.STABLE
        return ConsumerGroupState.RECONCILING

    @property
    def state_name(self) -> str:
        """The state by the name that ListGroups returns."""
        return self.state.value

    @property
    def listed_protocol_type(self) -> str:
        """The protocol type that ListGroups returns."""
        return PROTOCOL_TYPE

    @property
    def subscriptions(self) -> Subscriptions:
        """The subscriptions of all members."""
        if self._subscriptions is None:
            self._subscriptions = Subscriptions.of(self.members.values(), self.resolved_regexes)
        return self._subscriptions

    def is_subscribed_to(self, topic_name: str) -> bool:
        """Whether a member consumes the topic."""
        return topic_name in self.subscriptions.topic_names

    def is_owned(self, topic_id: bytes, partition: int) -> bool:
        """Whether a member has the partition, or has not revoked it yet."""
        if self._owned is None:
            self._owned = {
                (owned_topic_id, index)
                for member in self.members.values()
                for partitions in (member.assigned, member.pending_revocation)
                for owned_topic_id, epochs in partitions.items()
                for index in epochs
            }
        return (topic_id, partition) in self._owned

    def is_waiting_for_others(self, member: ConsumerMember) -> bool:
        """Whether another member still has a partition of the member's target assignment."""
        return member.state is MemberState.UNRELEASED_PARTITIONS and any(
            partition not in member.assigned.get(topic_id, ()) and self.is_owned(topic_id, partition)
            for topic_id, partitions in self.target_assignment_of(member.member_id).items()
            for partition in partitions
        )

    def target_assignment_of(self, member_id: str) -> Partitions:
        """Return the target assignment of a member."""
        return self.target_assignments.get(member_id, NO_PARTITIONS)

    def inherited_target_assignment(self, member: ConsumerMember) -> Partitions:
        """Return the target assignment of a member, or of the static member that it replaces."""
        if member.instance_id is None:
            return self.target_assignment_of(member.member_id)
        return self.target_assignment_of(self.static_members.get(member.instance_id, ""))

    def set_topics_snapshot(self, snapshot: TopicsSnapshot) -> None:
        """Set the topics with which metadata_hash was compared."""
        self.topics_snapshot = snapshot

    # -- committed offsets, and administration

    def check_offset_commit(self, committer: OffsetCommitter) -> CheckOffset:
        """Check the client of a commit, and return the check of each offset.

        Raises KafkaError: UNKNOWN_MEMBER_ID, and what member.check_offset_commit raises.
        """
        if (committer.generation_id < 0 and not self.members) or is_anonymous_transaction(committer):
            return accept_any_offset
        return check_offset_commit(self.member_of(committer.member_id), committer)

    def check_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """Check the client of an OffsetFetch. One that names no member is accepted.

        Raises KafkaError: UNKNOWN_MEMBER_ID, what member.check_offset_fetch raises, and UNKNOWN_SERVER_ERROR for
        an epoch without a member, as Kafka does.
        """
        if member_id is not None:
            check_offset_fetch(self.member_of(member_id), member_epoch)
        elif member_epoch >= 0:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"an epoch of no member of group {self.group_id}")

    def tombstones(self) -> Sequence[CoordinatorRecord]:
        """Return the tombstones that delete the group."""
        return encoded(group_tombstones(self.group_id, self.members, self.resolved_regexes))

    # -- records

    def apply(self, record: TypedRecord) -> None:
        """Apply a record. The caller handles the tombstone of the group itself."""
        if record.value is None:
            self._apply_tombstone(record)
        else:
            self._apply_value(record)

    def _apply_value(self, record: TypedRecord) -> None:
        name = record.name
        match record.value:
            case GroupMetadata() as value:
                self.group_epoch = value.epoch
                self.metadata_hash = value.metadata_hash
            case MemberMetadata() as value:
                self._put(self._member_or_new(name).with_metadata(value))
            case CurrentAssignment() as value:
                self._put(self._member_or_new(name).with_assignment(value))
            case TargetAssignment() as value:
                self.target_assignments[name] = value.partitions
            case TargetAssignmentMetadata() as value:
                self.assignment_epoch = value.assignment_epoch
                self.assignment_timestamp_ms = value.assignment_timestamp
            case RegularExpression() as value:
                self.resolved_regexes[name] = value
                self._subscriptions = None
            case PartitionMetadata():
                self.has_partition_metadata = True
            case _:
                raise AssertionError(f"not a record of a consumer group: {record}")

    def _apply_tombstone(self, record: TypedRecord) -> None:
        name = record.name
        match record.record_type:
            case ConsumerRecordType.MEMBER_METADATA:
                self._remove(name)
            case ConsumerRecordType.CURRENT_MEMBER_ASSIGNMENT:
                if name in self.members:
                    self._put(self.members[name].without_assignment())
            case ConsumerRecordType.TARGET_ASSIGNMENT_MEMBER:
                self.target_assignments.pop(name, None)
            case ConsumerRecordType.TARGET_ASSIGNMENT_METADATA:
                self.assignment_epoch, self.assignment_timestamp_ms = NEVER_ASSIGNED, 0
            case ConsumerRecordType.REGULAR_EXPRESSION:
                self.resolved_regexes.pop(name, None)
                self._subscriptions = None
            case ConsumerRecordType.PARTITION_METADATA:
                self.has_partition_metadata = False
            case _:
                raise AssertionError(f"the tombstone of group {self.group_id} is not for the group")

    def _member_or_new(self, member_id: str) -> ConsumerMember:
        return self.members.get(member_id) or ConsumerMember(member_id=member_id)

    def _put(self, member: ConsumerMember) -> None:
        self.members[member.member_id] = member
        if member.instance_id is not None:
            self.static_members[member.instance_id] = member.member_id
        self._subscriptions = self._owned = None

    def _remove(self, member_id: str) -> None:
        member = self.members.pop(member_id, None)
        if member is not None and member.instance_id is not None:
            self.static_members.pop(member.instance_id, None)
        self._subscriptions = self._owned = None
