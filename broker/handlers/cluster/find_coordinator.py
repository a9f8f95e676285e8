"""FindCoordinator (10), versions 0-6.

v1 key_type and error_message; v3 flexible; v4 several keys; v6 share groups (KIP-932).
The first request creates the internal topic of the coordinator and succeeds. Kafka returns COORDINATOR_NOT_AVAILABLE
to the first requests; see docs/differences.md.
Source: KafkaApis.handleFindCoordinatorRequest, Kafka 4.3.0.
"""

from __future__ import annotations

from functools import partial

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse
from ...coordinators.internal_topics import (
    INTERNAL_TOPICS,
    CoordinatorType,
    ensure_internal_topic,
    is_share_key,
    partition_index_of_key,
)
from ...requests.advertised_endpoint import find_endpoint
from ...requests.request_context import RequestContext
from ...runtime.long_work import for_each

SEVERAL_KEYS_SINCE = 4
SHARE_SINCE = 6
NO_NODE_ID = -1
NO_PORT = -1

# Kafka's messages. Before version 4 every response has one.
NO_ERROR = "NONE"
INVALID_REQUEST = (
    "This most likely occurs because of a request being malformed by the client library or the message was sent to an "
    "incompatible broker. See the broker logs for more details."
)


async def handle(context: RequestContext, request: FindCoordinatorRequest) -> FindCoordinatorResponse:
    """Return the node that coordinates each key."""
    if context.api_version >= SEVERAL_KEYS_SINCE:
        coordinators = await for_each(partial(_coordinator, context, request.key_type), request.coordinator_keys)
        return FindCoordinatorResponse(coordinators=coordinators)
    found = _coordinator(context, request.key_type, request.key)
    return FindCoordinatorResponse(
        error_code=found.error_code,
        error_message=_message_of(found),
        node_id=found.node_id,
        host=found.host,
        port=found.port,
    )


def _message_of(found: Coordinator) -> str | None:
    match found.error_code:
        case ErrorCode.NONE:
            return NO_ERROR
        case ErrorCode.INVALID_REQUEST:
            return INVALID_REQUEST
        case _:
            return found.error_message


def _coordinator(context: RequestContext, key_type: int, key: str) -> Coordinator:
    if key_type not in list(CoordinatorType):
        return _invalid(key, INVALID_REQUEST)
    coordinator_type = CoordinatorType(key_type)
    if coordinator_type is CoordinatorType.SHARE and (context.api_version < SHARE_SINCE or not is_share_key(key)):
        return _invalid(key, "")
    topic = context.node.image.find_topic(INTERNAL_TOPICS[coordinator_type].name)
    if topic is None:
        if not context.node.reaches_controller:
            return _not_available(key, "")
        try:
            topic = ensure_internal_topic(context.node.controller, coordinator_type)
        except KafkaError as error:
            # The files of the internal topic cannot be created; clients retry.
            return _not_available(key, error.message)
    leader_id = topic.partitions[partition_index_of_key(key, len(topic.partitions))].leader_id
    broker = context.node.image.find_broker(leader_id)
    endpoint = None if broker is None else find_endpoint(context, broker)
    if endpoint is None:
        return _not_available(key, "")
    return Coordinator(key=key, node_id=leader_id, host=endpoint.host, port=endpoint.port)


def _not_available(key: str, message: str) -> Coordinator:
    return Coordinator(
        key=key,
        node_id=NO_NODE_ID,
        port=NO_PORT,
        error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE,
        error_message=message,
    )


def _invalid(key: str, message: str) -> Coordinator:
    return Coordinator(
        key=key, node_id=NO_NODE_ID, port=NO_PORT, error_code=ErrorCode.INVALID_REQUEST, error_message=message
    )
