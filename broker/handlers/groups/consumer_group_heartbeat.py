"""ConsumerGroupHeartbeat (68), versions 0-1 (KIP-848).

v1 subscribed_topic_regex; members create their ids.
"""

from __future__ import annotations

from collections.abc import Coroutine
from functools import partial

from ....faults.consumption.events import LeavingMember, MembersLeaving
from ....protocol.error_codes import KafkaError
from ....protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse
from ...coordinators.consumer.heartbeats import Client
from ...coordinators.group.member_group import LEAVE_EPOCH, STATIC_LEAVE_EPOCH
from ...requests.flushed_response import after_flush
from ...requests.group_protocols import CONSUMER_PROTOCOL, served_by
from ...requests.permissions import may_describe_topic
from ...requests.request_context import RequestContext
from ...runtime.long_work import Step


def _handle(
    context: RequestContext, request: ConsumerGroupHeartbeatRequest
) -> ConsumerGroupHeartbeatResponse | Coroutine[Step, object, ConsumerGroupHeartbeatResponse]:
    """Return the member's epoch, and its assignment if that has changed."""
    groups = context.node.coordinators.groups
    may_describe = None if context.node.authorizer is None else partial(may_describe_topic, context)
    client = Client(context.client_id or "", f"/{context.connection.client_host}", may_describe)
    if request.member_epoch == LEAVE_EPOCH and context.node.consumption is not None:
        leaving = [LeavingMember(request.member_id, request.instance_id, "")]
        context.node.consumption.add(MembersLeaving(request.group_id, leaving))
    try:
        response = groups.consumer_groups.heartbeat(request, client, context.api_version)
    except KafkaError as error:
        return ConsumerGroupHeartbeatResponse(error_code=error.code, error_message=error.message or None)
    if request.member_epoch == STATIC_LEAVE_EPOCH:
        groups.clients.gone(request.group_id, request.member_id)
    else:
        groups.clients.heard(request.group_id, response.member_id or "", context.connection)
    return after_flush(groups.flushed(), response, lambda code: ConsumerGroupHeartbeatResponse(error_code=code))


handle = served_by(CONSUMER_PROTOCOL, _handle)
