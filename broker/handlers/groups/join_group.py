"""JoinGroup (11), versions 0-9.

v1 rebalance_timeout_ms; v4 MEMBER_ID_REQUIRED (KIP-394); v5 static members (KIP-345); v6 flexible; v7 protocol_type,
and protocol_name null in errors; v8 reason; v9 skip_assignment (KIP-814).
"""

from __future__ import annotations

from ....protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from ...coordinators.group.group_join import JoinAttempt
from ...requests.request_context import RequestContext
from ...runtime.deferred import Deferred

REBALANCE_TIMEOUT_SINCE = 1
MEMBER_ID_REQUIRED_SINCE = 4
NULL_PROTOCOL_NAME_SINCE = 7
SKIP_ASSIGNMENT_SINCE = 9


async def handle(context: RequestContext, request: JoinGroupRequest) -> JoinGroupResponse:
    """Respond when the group's join phase is over, or at once if no rebalance is needed."""
    version = context.api_version
    if version < REBALANCE_TIMEOUT_SINCE:
        request.rebalance_timeout_ms = request.session_timeout_ms
    attempt = JoinAttempt(
        request=request,
        client_id=context.client_id or "",
        connection=context.connection,
        requires_known_member_id=version >= MEMBER_ID_REQUIRED_SINCE,
        can_skip_assignment=version >= SKIP_ASSIGNMENT_SINCE,
        deferred=Deferred(),
    )
    context.node.coordinators.groups.join(attempt)
    response = await attempt.deferred
    if response.error_code and not context.rules.refuses_joins_without_generation:
        response.generation_id = 0
    if version < NULL_PROTOCOL_NAME_SINCE and response.protocol_name is None:
        response.protocol_name = ""
    return response
