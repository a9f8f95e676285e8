"""SyncGroup (14), versions 0-5.

v3 static members; v4 flexible; v5 protocol_type and protocol_name, which must be given.
"""

from __future__ import annotations

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from ...coordinators.group.group_member import sync_error
from ...requests.request_context import ApiHandler, RequestContext
from ...runtime.deferred import Deferred

PROTOCOL_REQUIRED_SINCE = 5


def handle(context: RequestContext, request: SyncGroupRequest) -> SyncGroupResponse | Deferred[SyncGroupResponse]:
    """Answer with the member's assignment, when the leader has sent it."""
    answer: Deferred[SyncGroupResponse] = Deferred()
    try:
        _check_protocol_is_given(context.api_version, request)
        context.node.coordinators.groups.sync(request, answer)
    except KafkaError as error:
        return sync_error(error.code)
    return answer


def _check_protocol_is_given(version: int, request: SyncGroupRequest) -> None:
    if version >= PROTOCOL_REQUIRED_SINCE and (request.protocol_type is None or request.protocol_name is None):
        raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "protocol type or protocol name is null")


HANDLER = ApiHandler(SyncGroupRequest.read, handle)
