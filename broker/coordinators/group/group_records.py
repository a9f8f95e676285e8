"""The records of classic groups and committed offsets in __consumer_offsets: encode and restore.

Source: GroupCoordinatorRecordHelpers, OffsetAndMetadata.fromRecord and GroupMetadataManager.replay, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Iterable

from ....protocol.frames import FrameError
from ....protocol.stored_records.group_log_records import (
    NO_TIMEOUT,
    NO_TIMESTAMP,
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
)
from ..coordinator_log import CoordinatorRecord
from .classic_group import ClassicGroup
from .group_member import GroupMember, MemberProtocol
from .group_timers import GroupTimers
from .offset_store import CommittedOffset, GroupTopicPartition

NO_PROTOCOL_TYPE = ""


def new_group_record(group: ClassicGroup) -> CoordinatorRecord:
    """Return the record of a group that no member has joined yet."""
    value = GroupMetadataValue(
        protocol_type=NO_PROTOCOL_TYPE,
        generation=0,
        protocol=None,
        leader=None,
        current_state_timestamp=group.state_changed_ms,
    )
    return CoordinatorRecord(GroupMetadataKey(group.group_id).encode(), value.encode())


def group_record(group: ClassicGroup, members: Iterable[GroupMember], leader_id: str | None) -> CoordinatorRecord:
    """Return the record of the group's generation, with members and leader_id in place of the present ones."""
    protocol_name = group.protocol_name
    value = GroupMetadataValue(
        protocol_type=group.protocol_type or NO_PROTOCOL_TYPE,
        generation=group.generation_id,
        protocol=protocol_name,
        leader=leader_id,
        current_state_timestamp=group.state_changed_ms,
        members=tuple(
            MemberMetadata(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                rebalance_timeout=member.rebalance_timeout_ms,
                session_timeout=member.session_timeout_ms,
                subscription=b"" if protocol_name is None else member.metadata_of(protocol_name),
                assignment=member.assignment,
            )
            for member in members
        ),
    )
    return CoordinatorRecord(GroupMetadataKey(group.group_id).encode(), value.encode())


def restored_group(group_id: str, value: GroupMetadataValue, timers: GroupTimers) -> ClassicGroup:
    """Return the group of a record: stable, or empty. The sessions of its members have not begun.

    Raises FrameError for members without a protocol, and for a repeated member.
    """
    if value.members and not (value.protocol_type and value.protocol):
        raise FrameError(f"{len(value.members)} members without a protocol")
    instances = [member.group_instance_id for member in value.members if member.group_instance_id is not None]
    if len(set(instances)) < len(instances) or len({m.member_id for m in value.members}) < len(value.members):
        raise FrameError("a member comes twice")
    group = ClassicGroup(group_id, timers)
    group.restore(
        protocol_type=value.protocol_type or None,
        protocol_name=value.protocol,
        generation_id=value.generation,
        leader_id=value.leader,
        members=[_restored_member(value, member) for member in value.members],
    )
    if value.current_state_timestamp != NO_TIMESTAMP:
        group.state_changed_ms = value.current_state_timestamp
    return group


def _restored_member(value: GroupMetadataValue, member: MemberMetadata) -> GroupMember:
    has_timeout = member.rebalance_timeout != NO_TIMEOUT
    return GroupMember(
        member_id=member.member_id,
        group_instance_id=member.group_instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout_ms=member.rebalance_timeout if has_timeout else member.session_timeout,
        session_timeout_ms=member.session_timeout,
        protocol_type=value.protocol_type,
        protocols=[MemberProtocol(value.protocol or "", member.subscription)],
        assignment=member.assignment,
    )


def offset_record(partition: GroupTopicPartition, committed: CommittedOffset) -> CoordinatorRecord:
    """Return the record of a committed offset."""
    expire_ms = committed.expire_timestamp_ms
    value = OffsetCommitValue(
        offset=committed.offset,
        leader_epoch=committed.leader_epoch,
        metadata=committed.metadata,
        commit_timestamp=committed.commit_timestamp_ms,
        expire_timestamp=NO_TIMESTAMP if expire_ms is None else expire_ms,
        topic_id=committed.topic_id,
    )
    return CoordinatorRecord(OffsetCommitKey(*partition).encode(), value.encode())


def offset_tombstone(partition: GroupTopicPartition) -> CoordinatorRecord:
    """Return the tombstone of a committed offset."""
    return CoordinatorRecord(OffsetCommitKey(*partition).encode(), None)


def restored_offset(value: OffsetCommitValue, record_offset: int) -> CommittedOffset:
    """Return the committed offset of the record at record_offset."""
    return CommittedOffset(
        offset=value.offset,
        leader_epoch=value.leader_epoch,
        metadata=value.metadata,
        commit_timestamp_ms=value.commit_timestamp,
        expire_timestamp_ms=None if value.expire_timestamp == NO_TIMESTAMP else value.expire_timestamp,
        topic_id=value.topic_id,
        record_offset=record_offset,
    )
