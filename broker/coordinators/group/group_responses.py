"""The answers to JoinGroup and SyncGroup, in the form of their newest versions; handlers see to older ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....protocol.error_codes import ErrorCode
from ....protocol.messages.join_group import JoinGroupResponse, JoinGroupResponseMember
from ....protocol.messages.sync_group import SyncGroupResponse

if TYPE_CHECKING:
    from .classic_group import ClassicGroup

UNKNOWN_MEMBER = ""
NO_LEADER = ""


def join_refused(error_code: ErrorCode, member_id: str = UNKNOWN_MEMBER) -> JoinGroupResponse:
    """Return the answer to a JoinGroup request that is not accepted."""
    return JoinGroupResponse(error_code=error_code, member_id=member_id, protocol_name=None)


def joined(group: ClassicGroup, member_id: str) -> JoinGroupResponse:
    """Return the answer to a member of the group's current generation; the leader is told all members."""
    return JoinGroupResponse(
        generation_id=group.generation_id,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        leader=group.leader_id or NO_LEADER,
        member_id=member_id,
        members=member_list(group) if group.leader_id == member_id else [],
    )


def member_list(group: ClassicGroup) -> list[JoinGroupResponseMember]:
    """Return all members with their metadata for the protocol that was chosen."""
    protocol_name = group.protocol_name
    assert protocol_name is not None, f"group {group.group_id} has no protocol in state {group.state.value}"
    return [
        JoinGroupResponseMember(
            member_id=member.member_id,
            group_instance_id=member.group_instance_id,
            metadata=member.metadata_of(protocol_name),
        )
        for member in group.members.values()
    ]


def sync_refused(error_code: ErrorCode) -> SyncGroupResponse:
    """Return the answer to a SyncGroup request that is not accepted."""
    return SyncGroupResponse(error_code=error_code, protocol_type=None, protocol_name=None)


def synced(group: ClassicGroup, assignment: bytes) -> SyncGroupResponse:
    """Return a member's assignment."""
    return SyncGroupResponse(
        protocol_type=group.protocol_type, protocol_name=group.protocol_name, assignment=assignment
    )
