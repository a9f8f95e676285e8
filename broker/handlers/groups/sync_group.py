"""SyncGroup (14), versions 0-5.

v3 static members; v4 flexible; v5 protocol_type and protocol_name, both required.
"""

from __future__ import annotations

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from ...coordinators.group.group_member import sync_error
from ...requests.request_context import RequestContext
from ...runtime.deferred import Deferred

PROTOCOL_REQUIRED_SINCE = 5


async def handle(context: RequestContext, request: SyncGroupRequest) -> SyncGroupResponse:
    """Return the member's assignment when the leader has sent it."""
    groups, response = context.node.coordinators.groups, Deferred[SyncGroupResponse]()
    groups.clients.heard(request.group_id, request.member_id, context.connection)
    try:
        if context.api_version >= PROTOCOL_REQUIRED_SINCE and None in (request.protocol_type, request.protocol_name):
            raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "protocol type or protocol name is null")
        groups.sync(request, response)
    except KafkaError as error:
        return sync_error(error.code)
    return await response
