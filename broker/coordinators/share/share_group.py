"""The state of one share group: members, epochs, assignments, and the partitions with a share state.

The state changes only by records (`apply`): after they were appended, and when the log is replayed.
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
    ShareMemberMetadata,
    ShareRecordType,
    StatePartitionMetadata,
)
from ....protocol.stored_records.typed_records import TypedRecord
from ..coordinator_log import CoordinatorRecord
from ..group.group import CheckOffset, GroupType, OffsetCommitter
from ..group.member_group import MemberGroup
from ..group.typed_groups import encoded

if TYPE_CHECKING:
    from ..group.group_timers import GroupTimers
    from ..group.offset_store import CommittedOffset

# The epoch of a new group. The first change raises it to 2.
FIRST_EPOCH = 1
NEVER_ASSIGNED = 0
EMPTY, STABLE = "Empty", "Stable"


@dataclass(frozen=True, slots=True)
class ShareMember:
    """A member. Both epochs of a new member are 0."""

    member_id: str
    metadata: ShareMemberMetadata
    member_epoch: int = 0
    previous_member_epoch: int = 0
    partitions: Partitions = field(default_factory=lambda: NO_PARTITIONS)

    @property
    def subscribed_names(self) -> frozenset[str]:
        """The names of the topics to which the member is subscribed, whether they exist or not."""
        return frozenset(self.metadata.subscribed_topic_names)


class ShareGroup(MemberGroup[ShareMember]):
    """A group whose members share partitions."""

    group_type = GroupType.SHARE
    listed_protocol_type = "share"
    __slots__ = (
        "assignment_epoch",
        "group_epoch",
        "metadata_hash",
        "state_partitions",
        "target_assignments",
    )

    def __init__(self, group_id: str, timers: GroupTimers) -> None:
        """Create the group without members."""
        super().__init__(group_id, timers)
        self.group_epoch = FIRST_EPOCH
        self.metadata_hash = 0
        self.assignment_epoch = NEVER_ASSIGNED
        self.target_assignments: dict[str, Partitions] = {}
        self.state_partitions = StatePartitionMetadata()

    @property
    def state_name(self) -> str:
        """The state by the name that ListGroups returns."""
        return STABLE if self.members else EMPTY

    @property
    def topic_names(self) -> frozenset[str]:
        """The topics to which members are subscribed, whether they exist or not."""
        return subscribed_names(self.members.values())

    def is_subscribed_to(self, topic_name: str) -> bool:
        """Whether a member consumes the topic."""
        return topic_name in self.topic_names

    # -- committed offsets, which share groups do not have, and administration

    def check_offset_commit(self, committer: OffsetCommitter) -> CheckOffset:
        """Raise KafkaError GROUP_ID_NOT_FOUND."""
        raise self._no_offsets()

    def check_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """Raise KafkaError GROUP_ID_NOT_FOUND."""
        raise self._no_offsets()

    def check_offset_delete(self) -> None:
        """Raise KafkaError GROUP_ID_NOT_FOUND."""
        raise self._no_offsets()

    def _no_offsets(self) -> KafkaError:
        return KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {self.group_id} is a share group.")

    def retention_base_ms(self, committed: CommittedOffset) -> int | None:
        """Return None, because the group has no committed offsets."""
        return None

    def tombstones(self) -> Sequence[CoordinatorRecord]:
        """Return the tombstones that delete the group."""
        types = (
            ShareRecordType.TARGET_ASSIGNMENT_METADATA,
            ShareRecordType.STATE_PARTITION_METADATA,
            ShareRecordType.GROUP_METADATA,
        )
        return encoded([TypedRecord(each, self.group_id) for each in types])

    # -- records

    def apply(self, record: TypedRecord) -> None:
        """Apply a record of the group. The caller applies the tombstone of the group itself."""
        member_id = record.name
        match record.value:
            case ShareGroupMetadata() as value:
                self.group_epoch, self.metadata_hash = value.epoch, value.metadata_hash
            case ShareMemberMetadata() as value:
                before = self.members.get(member_id) or ShareMember(member_id, value)
                self.members[member_id] = replace(before, metadata=value)
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
            case _:
                raise AssertionError(f"not a record of a share group: {record}")

    def _apply_tombstone(self, record: TypedRecord) -> None:
        match record.record_type:
            case ShareRecordType.MEMBER_METADATA:
                self.members.pop(record.name, None)
            case ShareRecordType.TARGET_ASSIGNMENT_MEMBER:
                self.target_assignments.pop(record.name, None)
            case ShareRecordType.TARGET_ASSIGNMENT_METADATA:
                self.assignment_epoch, self.assignment_timestamp_ms = NEVER_ASSIGNED, 0
            case ShareRecordType.STATE_PARTITION_METADATA:
                self.state_partitions = StatePartitionMetadata()
            case _:
                # The tombstone of MEMBER_METADATA removes the member, the registry removes the group.
                return


def subscribed_names(members: Iterable[ShareMember]) -> frozenset[str]:
    """Return the names of the topics to which members are subscribed, whether they exist or not."""
    return frozenset(name for each in members for name in each.metadata.subscribed_topic_names)
