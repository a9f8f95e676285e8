"""DeleteShareGroupOffsets (92), version 0 (KIP-932).

Source: KafkaApis.handleDeleteShareGroupOffsetsRequest and GroupCoordinatorService.deleteShareGroupOffsets, Kafka 4.3.0.
"""

from __future__ import annotations

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsResponse,
)
from ....protocol.messages.delete_share_group_offsets import DeleteShareGroupOffsetsResponseTopic as TopicResult
from ...coordinators.share.share_groups import UNKNOWN_MESSAGE
from ...requests.request_context import ApiHandler, RequestContext
from ...runtime.deferred import Deferred


def handle(
    context: RequestContext, request: DeleteShareGroupOffsetsRequest
) -> DeleteShareGroupOffsetsResponse | Deferred[DeleteShareGroupOffsetsResponse]:
    """Delete the offsets of a group without members, by topic."""
    groups = context.node.coordinators.groups
    try:
        groups.share_groups.check_empty(request.group_id)
    except KafkaError as error:
        return _error_response(error.code, error.message)
    results = [_delete(context, request.group_id, topic.topic_name) for topic in request.topics]
    return groups.share_groups.when_durable(DeleteShareGroupOffsetsResponse(responses=results), _error_response)


def _delete(context: RequestContext, group_id: str, topic_name: str) -> TopicResult:
    result = TopicResult(topic_name=topic_name)
    topic = context.node.image.find_topic(topic_name)
    if topic is None:
        result.error_code, result.error_message = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_MESSAGE
        return result
    result.topic_id = topic.topic_id
    try:
        context.node.coordinators.groups.share_groups.delete_states(group_id, topic.topic_id)
    except KafkaError as error:
        result.error_code, result.error_message = error.code, error.message
    return result


def _error_response(error_code: ErrorCode, message: str | None = None) -> DeleteShareGroupOffsetsResponse:
    return DeleteShareGroupOffsetsResponse(error_code=error_code, error_message=message)


HANDLER = ApiHandler(DeleteShareGroupOffsetsRequest.read, handle)
