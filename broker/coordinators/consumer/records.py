"""Encoders of the records of a group of the consumer protocol.

Source: GroupCoordinatorRecordHelpers and ConsumerGroup.createGroupTombstoneRecords, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ....protocol.stored_records.consumer_group_records import (
    ConsumerRecordType,
)
from ....protocol.stored_records.consumer_group_values import (
    CurrentAssignment,
    GroupMetadata,
    MemberMetadata,
    Partitions,
    RegularExpression,
    TargetAssignment,
    TargetAssignmentMetadata,
)
from ....protocol.stored_records.typed_records import TypedRecord
from .member import ConsumerMember


def group_record(group_id: str, epoch: int, metadata_hash: int) -> TypedRecord:
    """Return the record of the group epoch."""
    return _record(ConsumerRecordType.GROUP_METADATA, group_id, GroupMetadata(epoch, metadata_hash))


def member_record(group_id: str, member: ConsumerMember) -> TypedRecord:
    """Return the record of a member's subscription and client."""
    value = MemberMetadata(
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=tuple(sorted(member.subscribed_topic_names)),
        subscribed_topic_regex=member.subscribed_topic_regex,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        server_assignor=member.server_assignor,
        classic=member.classic,
    )
    return _record(ConsumerRecordType.MEMBER_METADATA, group_id, value, member.member_id)


def target_assignment_record(group_id: str, member_id: str, partitions: Partitions) -> TypedRecord:
    """Return the record of a member's target assignment."""
    return _record(ConsumerRecordType.TARGET_ASSIGNMENT_MEMBER, group_id, TargetAssignment(partitions), member_id)


def target_assignment_metadata_record(group_id: str, epoch: int, timestamp_ms: int) -> TypedRecord:
    """Return the record of the epoch of the target assignment."""
    value = TargetAssignmentMetadata(epoch, timestamp_ms)
    return _record(ConsumerRecordType.TARGET_ASSIGNMENT_METADATA, group_id, value)


def current_assignment_record(group_id: str, member: ConsumerMember) -> TypedRecord:
    """Return the record of a member's current assignment, state and epoch."""
    value = CurrentAssignment(
        member_epoch=member.member_epoch,
        previous_member_epoch=member.previous_member_epoch,
        state=member.state,
        assigned=member.assigned,
        pending_revocation=member.pending_revocation,
    )
    return _record(ConsumerRecordType.CURRENT_MEMBER_ASSIGNMENT, group_id, value, member.member_id)


def regex_record(group_id: str, regex: str, resolved: RegularExpression) -> TypedRecord:
    """Return the record of the topics that a regular expression matches."""
    return _record(ConsumerRecordType.REGULAR_EXPRESSION, group_id, resolved, regex)


def tombstone(record_type: ConsumerRecordType, group_id: str, name: str = "") -> TypedRecord:
    """Return the tombstone for a record key. name: the member id or the regular expression, if the key has one."""
    return TypedRecord(record_type, group_id, name)


def member_tombstones(group_id: str, member_id: str) -> list[TypedRecord]:
    """Return the tombstones of a member."""
    return [
        tombstone(ConsumerRecordType.CURRENT_MEMBER_ASSIGNMENT, group_id, member_id),
        tombstone(ConsumerRecordType.TARGET_ASSIGNMENT_MEMBER, group_id, member_id),
        tombstone(ConsumerRecordType.MEMBER_METADATA, group_id, member_id),
    ]


def group_tombstones(group_id: str, member_ids: Collection[str], regexes: Iterable[str]) -> list[TypedRecord]:
    """Return the tombstones of a group, of its members and of its regular expressions."""
    return [
        *(tombstone(ConsumerRecordType.CURRENT_MEMBER_ASSIGNMENT, group_id, member_id) for member_id in member_ids),
        *(tombstone(ConsumerRecordType.TARGET_ASSIGNMENT_MEMBER, group_id, member_id) for member_id in member_ids),
        tombstone(ConsumerRecordType.TARGET_ASSIGNMENT_METADATA, group_id),
        *(tombstone(ConsumerRecordType.MEMBER_METADATA, group_id, member_id) for member_id in member_ids),
        *(tombstone(ConsumerRecordType.REGULAR_EXPRESSION, group_id, regex) for regex in regexes),
        tombstone(ConsumerRecordType.PARTITION_METADATA, group_id),
        tombstone(ConsumerRecordType.GROUP_METADATA, group_id),
    ]


def _record(
    record_type: ConsumerRecordType,
    group_id: str,
    value: GroupMetadata
    | MemberMetadata
    | TargetAssignmentMetadata
    | TargetAssignment
    | CurrentAssignment
    | RegularExpression,
    name: str = "",
) -> TypedRecord:
    return TypedRecord(record_type, group_id, name, value)
