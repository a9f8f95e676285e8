"""LeaveGroup (13), versions 0-5.

v3 several members in a request, with a result each; v4 flexible; v5 reason.
"""

from __future__ import annotations

from ....faults.consumption.events import LeavingMember, MembersLeaving
from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity, MemberResponse
from ...requests.request_context import RequestContext
from ...runtime.long_work import for_each

SEVERAL_MEMBERS_SINCE = 3
# A client leaves with one member, an administrator with those of a group.
REPORTED_MEMBERS_MAX = 1000


async def handle(context: RequestContext, request: LeaveGroupRequest) -> LeaveGroupResponse:
    """Remove the members from the group."""
    is_single = context.api_version < SEVERAL_MEMBERS_SINCE
    members = [MemberIdentity(member_id=request.member_id)] if is_single else request.members
    if context.node.consumption is not None:
        leaving = [
            LeavingMember(each.member_id, each.group_instance_id, each.reason or "")
            for each in members[:REPORTED_MEMBERS_MAX]
        ]
        context.node.consumption.add(MembersLeaving(request.group_id, leaving))
    try:
        error_codes = context.node.coordinators.groups.leave(request.group_id, members)
    except KafkaError as error:
        if error.code != ErrorCode.UNKNOWN_MEMBER_ID:
            return LeaveGroupResponse(error_code=error.code)
        # The group does not exist, so that none of them is a member.
        error_codes = [error.code] * len(members)
    if is_single:
        return LeaveGroupResponse(error_code=error_codes[0])
    return LeaveGroupResponse(members=await for_each(_member_response, zip(members, error_codes, strict=True)))


def _member_response(left: tuple[MemberIdentity, int]) -> MemberResponse:
    member, error_code = left
    return MemberResponse(member_id=member.member_id, group_instance_id=member.group_instance_id, error_code=error_code)
