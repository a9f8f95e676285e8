"""DeleteShareGroupOffsets (92), version 0 (KIP-932).

Source: KafkaApis.handleDeleteShareGroupOffsetsRequest and GroupCoordinatorService.deleteShareGroupOffsets, Kafka 4.3.0.
"""

from __future__ import annotations

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.error_messages import ERROR_MESSAGES
from ....protocol.messages.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsResponse,
)
from ....protocol.messages.delete_share_group_offsets import DeleteShareGroupOffsetsResponseTopic as TopicResult
from ...coordinators.share.share_groups import UNKNOWN_MESSAGE
from ...requests.group_protocols import SHARE_PROTOCOL, served_by
from ...requests.request_context import RequestContext
from ...runtime.deferred import Deferred
from ...runtime.long_work import all_complete, step


async def _handle(context: RequestContext, request: DeleteShareGroupOffsetsRequest) -> DeleteShareGroupOffsetsResponse:
    """Delete the offsets of a group without members, by topic."""
    groups = context.node.coordinators.groups
    try:
        groups.share_groups.check_empty(request.group_id)
    except KafkaError as error:
        return _error_response(error.code, error.message or ERROR_MESSAGES[error.code])
    response = DeleteShareGroupOffsetsResponse()
    flushes: list[Deferred[ErrorCode]] = []
    for topic in request.topics:
        response.responses.append(_delete(context, request.group_id, topic.topic_name))
        flushes.append(groups.share_groups.flushed())
        await step()
    flush_error = max(await all_complete(flushes), default=ErrorCode.NONE)
    return _error_response(flush_error) if flush_error else response


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


handle = served_by(SHARE_PROTOCOL, _handle)
