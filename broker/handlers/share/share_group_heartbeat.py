"""ShareGroupHeartbeat (76), version 1 (KIP-932)."""

from __future__ import annotations

from collections.abc import Coroutine

from ....protocol.error_codes import KafkaError
from ....protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse
from ...coordinators.consumer.heartbeats import Client
from ...requests.flushed_response import after_flush
from ...requests.group_protocols import SHARE_PROTOCOL, served_by
from ...requests.request_context import RequestContext
from ...runtime.long_work import Step


def _handle(
    context: RequestContext, request: ShareGroupHeartbeatRequest
) -> ShareGroupHeartbeatResponse | Coroutine[Step, object, ShareGroupHeartbeatResponse]:
    """Return the member's epoch, and its assignment if that has changed."""
    groups = context.node.coordinators.groups
    client = Client(context.client_id or "", f"/{context.connection.client_host}")
    try:
        response = groups.share_groups.heartbeat(request, client)
    except KafkaError as error:
        return ShareGroupHeartbeatResponse(error_code=error.code, error_message=error.message or None)
    groups.clients.heard(request.group_id, request.member_id, context.connection)
    flushed = groups.share_groups.flushed()
    return after_flush(flushed, response, lambda code: ShareGroupHeartbeatResponse(error_code=code))


handle = served_by(SHARE_PROTOCOL, _handle)
