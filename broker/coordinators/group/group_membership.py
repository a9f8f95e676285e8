"""SyncGroup, Heartbeat and LeaveGroup of a classic group.

Source: GroupMetadataManager.classicGroupSyncToClassicGroup, classicGroupHeartbeatToClassicGroup and
classicGroupLeaveToClassicGroup, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.heartbeat import HeartbeatRequest
from ....protocol.messages.leave_group import MemberIdentity
from ....protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from ...runtime.deferred import Deferred
from .classic_group import ClassicGroup, GroupState
from .rebalance import Rebalance


class GroupMembership:
    """Handles the requests of members of classic groups."""

    __slots__ = ("_rebalance",)

    def __init__(self, rebalance: Rebalance) -> None:
        """rebalance: changes the state of the groups."""
        self._rebalance = rebalance

    def sync(self, group: ClassicGroup, request: SyncGroupRequest, deferred: Deferred[SyncGroupResponse]) -> None:
        """Respond with the member's assignment, now or when the leader has sent it.

        Raises KafkaError: UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, ILLEGAL_GENERATION, INCONSISTENT_GROUP_PROTOCOL,
        REBALANCE_IN_PROGRESS.
        """
        _check_sync(group, request)
        member = group.members[request.member_id]
        self._rebalance.remove_pending_sync_member(group, request.member_id)
        if group.state is GroupState.COMPLETING_REBALANCE:
            member.await_sync(deferred)
            if group.is_leader(request.member_id):
                assignments = {entry.member_id: entry.assignment for entry in request.assignments}
                self._rebalance.assign(group, assignments)
        else:
            deferred.complete(group.sync_response(member))

    def heartbeat(self, group: ClassicGroup, request: HeartbeatRequest, *, allows_early: bool) -> None:
        """Extend the member's session.

        allows_early: whether a member may be early, before the leader's SyncGroup.
        Raises KafkaError: UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, ILLEGAL_GENERATION, and REBALANCE_IN_PROGRESS if the
        member must rejoin, or is early. If it must rejoin, the session is extended too.
        """
        group.check_member(request.member_id, request.group_instance_id)
        group.check_generation(request.generation_id)
        if group.state is GroupState.COMPLETING_REBALANCE and not allows_early:
            raise KafkaError(ErrorCode.REBALANCE_IN_PROGRESS, f"group {group.group_id} awaits its assignment")
        self._rebalance.extend_session(group, group.members[request.member_id])
        if group.state is GroupState.PREPARING_REBALANCE:
            raise KafkaError(ErrorCode.REBALANCE_IN_PROGRESS, f"group {group.group_id} rebalances")

    def leave(self, group: ClassicGroup, members: Sequence[MemberIdentity]) -> list[int]:
        """Remove members, and rebalance if any was removed. Return the error code of each."""
        error_codes = [self._remove(group, member) for member in members]
        if ErrorCode.NONE in error_codes and not group.is_empty:
            self._rebalance.prepare_or_complete(group, "members have left")
        return error_codes

    def _remove(self, group: ClassicGroup, member: MemberIdentity) -> int:
        if not _is_known(group, member):
            return ErrorCode.UNKNOWN_MEMBER_ID
        try:
            self._rebalance.remove_leaving_member(group, _leaving_member_id(group, member))
        except KafkaError as error:
            return error.code
        return ErrorCode.NONE


def _is_known(group: ClassicGroup, member: MemberIdentity) -> bool:
    """Return whether a member has the id or the instance. An exception for each of very many would take too long."""
    member_id, instance_id = member.member_id, member.group_instance_id
    return member_id in group.members or member_id in group.pending_join_members or instance_id in group.static_members


def _leaving_member_id(group: ClassicGroup, member: MemberIdentity) -> str:
    """Return the id of the member that leaves. An administrator names a static member by its instance id only."""
    if member.member_id in group.pending_join_members:
        return member.member_id
    member_id = member.member_id
    if not member_id and member.group_instance_id is not None:
        member_id = group.static_members.get(member.group_instance_id, "")
    group.check_member(member_id, member.group_instance_id)
    return member_id


def _check_sync(group: ClassicGroup, request: SyncGroupRequest) -> None:
    group.check_member(request.member_id, request.group_instance_id)
    group.check_generation(request.generation_id)
    for requested, current in (
        (request.protocol_type, group.protocol_type),
        (request.protocol_name, group.protocol_name),
    ):
        if requested is not None and current is not None and requested != current:
            raise KafkaError(
                ErrorCode.INCONSISTENT_GROUP_PROTOCOL, f"group {group.group_id} has protocol {current}, not {requested}"
            )
    if group.state is GroupState.PREPARING_REBALANCE:
        raise KafkaError(ErrorCode.REBALANCE_IN_PROGRESS, f"group {group.group_id} rebalances")
