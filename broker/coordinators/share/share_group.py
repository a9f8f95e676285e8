"""The state of one share group: members, epochs, what each has, and which partitions have a state.

It changes by records alone (apply), those that were just written and those that are read at a start alike.
Source: ShareGroup, ModernGroup and GroupMetadataManager.replay, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.stored_records.consumer_group_values import (
    NO_PARTITIONS,
    Partitions,
    TargetAssignment,
    TargetAssignmentMetadata,
)
from ....protocol.stored_records.share_group_records import (
    ShareCurrentAssignment,
    ShareGroupMetadata,
    ShareGroupRecord,
    ShareMemberMetadata,
    ShareRecordType,
    StatePartitionMetadata,
)
from ..coordinator_log import CoordinatorRecord
from ..group.group import CheckOffset, GroupType, OffsetCommitter

if TYPE_CHECKING:
    from ..group.group_timers import GroupTimers
    from ..group.offset_store import CommittedOffset

PROTOCOL_TYPE = "share"
# A group that was not written yet is in this epoch; its first change makes it 2.
FIRST_EPOCH = 1
NEVER_ASSIGNED = 0
EMPTY, STABLE = "Empty", "Stable"


@dataclass(frozen=True, slots=True)
class ShareMember:
    """A member as the group knows it; epochs are 0 for one that has just come."""

    member_id: str
    metadata: ShareMemberMetadata
    member_epoch: int = 0
    previous_member_epoch: int = 0
    partitions: Partitions = field(default_factory=lambda: NO_PARTITIONS)


class ShareGroup:
    """One group whose members share partitions."""

    __slots__ = (
        "assignment_epoch",
        "assignment_timestamp_ms",
        "group_epoch",
        "group_id",
        "members",
        "metadata_hash",
        "state_partitions",
        "target_assignments",
        "timers",
    )

    def __init__(self, group_id: str, timers: GroupTimers) -> None:
        """Start without members."""
        self.group_id = group_id
        self.timers = timers
        self.group_epoch = FIRST_EPOCH
        self.metadata_hash = 0
        self.assignment_epoch = NEVER_ASSIGNED
        self.assignment_timestamp_ms = 0
        self.members: dict[str, ShareMember] = {}
        self.target_assignments: dict[str, Partitions] = {}
        self.state_partitions = StatePartitionMetadata()

    @property
    def group_type(self) -> GroupType:
        """Which kind of group it is."""
        return GroupType.SHARE

    @property
    def state_name(self) -> str:
        """Its state, by the name that ListGroups shows."""
        return STABLE if self.members else EMPTY

    @property
    def listed_protocol_type(self) -> str:
        """What its members do."""
        return PROTOCOL_TYPE

    @property
    def is_empty(self) -> bool:
        """Whether it has no members."""
        return not self.members

    @property
    def topic_names(self) -> frozenset[str]:
        """The topics that members consume, whether there are such topics or not."""
        return subscribed_names(self.members.values())

    def is_subscribed_to(self, topic_name: str) -> bool:
        """Whether a member consumes the topic."""
        return topic_name in self.topic_names

    def member_of(self, member_id: str) -> ShareMember:
        """Return the member; raises KafkaError UNKNOWN_MEMBER_ID."""
        member = self.members.get(member_id)
        if member is None:
            raise KafkaError(
                ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} is not a member of group {self.group_id}."
            )
        return member

    # -- committed offsets, of which it has none, and administration

    def check_offset_commit(self, committer: OffsetCommitter) -> CheckOffset:
        """Refuse it: raises KafkaError GROUP_ID_NOT_FOUND."""
        raise self._no_offsets()

    def check_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """Refuse it: raises KafkaError GROUP_ID_NOT_FOUND."""
        raise self._no_offsets()

    def check_offset_delete(self) -> None:
        """Refuse it: raises KafkaError GROUP_ID_NOT_FOUND."""
        raise self._no_offsets()

    def _no_offsets(self) -> KafkaError:
        return KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {self.group_id} is a share group.")

    def check_delete(self) -> None:
        """Check that it has no members; raises KafkaError NON_EMPTY_GROUP."""
        if self.members:
            raise KafkaError(ErrorCode.NON_EMPTY_GROUP, "The group is not empty.")

    def retention_base_ms(self, committed: CommittedOffset) -> int | None:
        """Return None: it has no committed offsets."""
        return None

    def tombstones(self) -> Sequence[CoordinatorRecord]:
        """Return the records that say that there is no such group any more."""
        types = (
            ShareRecordType.TARGET_ASSIGNMENT_METADATA,
            ShareRecordType.STATE_PARTITION_METADATA,
            ShareRecordType.GROUP_METADATA,
        )
        return state_records([ShareGroupRecord(each, self.group_id) for each in types])

    def close(self) -> None:
        """Be nothing any more: no timer runs."""
        self.timers.cancel_all()

    def fail_pending_requests(self) -> None:
        """Answer nobody: no member waits."""

    def finish_step(self) -> None:
        """Send the answers that were put off until a step was done."""
        self.timers.finish_step()

    # -- records

    def apply(self, record: ShareGroupRecord) -> None:
        """Be as the record says; one that takes the whole group back is not for the group."""
        member_id = record.member_id
        match record.value:
            case ShareGroupMetadata() as value:
                self.group_epoch, self.metadata_hash = value.epoch, value.metadata_hash
            case ShareMemberMetadata() as value:
                known = self.members.get(member_id)
                self.members[member_id] = (
                    ShareMember(member_id, value) if known is None else replace(known, metadata=value)
                )
            case ShareCurrentAssignment() as value:
                self.members[member_id] = replace(
                    self.members[member_id],
                    member_epoch=value.member_epoch,
                    previous_member_epoch=value.previous_member_epoch,
                    partitions=value.partitions,
                )
            case TargetAssignment() as value:
                self.target_assignments[member_id] = value.partitions
            case TargetAssignmentMetadata() as value:
                self.assignment_epoch = value.assignment_epoch
                self.assignment_timestamp_ms = value.assignment_timestamp
            case StatePartitionMetadata() as value:
                self.state_partitions = value
            case None:
                self._apply_tombstone(record)

    def _apply_tombstone(self, record: ShareGroupRecord) -> None:
        match record.record_type:
            case ShareRecordType.MEMBER_METADATA:
                self.members.pop(record.member_id, None)
            case ShareRecordType.TARGET_ASSIGNMENT_MEMBER:
                self.target_assignments.pop(record.member_id, None)
            case ShareRecordType.TARGET_ASSIGNMENT_METADATA:
                self.assignment_epoch, self.assignment_timestamp_ms = NEVER_ASSIGNED, 0
            case ShareRecordType.STATE_PARTITION_METADATA:
                self.state_partitions = StatePartitionMetadata()
            case ShareRecordType.CURRENT_MEMBER_ASSIGNMENT | ShareRecordType.GROUP_METADATA:
                # The member goes with its own record, the group with its registry.
                return


def subscribed_names(members: Iterable[ShareMember]) -> frozenset[str]:
    """Return the names of the topics that members consume, whether there are such topics or not."""
    return frozenset(name for each in members for name in each.metadata.subscribed_topic_names)


def state_records(records: Sequence[ShareGroupRecord]) -> list[CoordinatorRecord]:
    """Return the records as they are written."""
    return [CoordinatorRecord(each.encode_key(), each.encode_value()) for each in records]
