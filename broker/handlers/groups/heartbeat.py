"""Heartbeat (12), versions 0-4.

v3 static members; v4 flexible.
"""

from __future__ import annotations

from ....protocol.error_codes import KafkaError
from ....protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from ...requests.request_context import RequestContext


def handle(context: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
    """Extend the member's session."""
    groups = context.node.coordinators.groups
    groups.clients.heard(request.group_id, request.member_id, context.connection)
    try:
        groups.heartbeat(request, allows_early=context.rules.allows_early_heartbeats)
    except KafkaError as error:
        return HeartbeatResponse(error_code=error.code)
    return HeartbeatResponse()
