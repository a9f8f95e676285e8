"""DeleteShareGroupOffsets (92), version 0 (KIP-932).

Source: KafkaApis.handleDeleteShareGroupOffsetsRequest and GroupCoordinatorService.deleteShareGroupOffsets, Kafka 4.3.0.
"""

from __future__ import annotations

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsResponse,
)
from ....protocol.messages.delete_share_group_offsets import DeleteShareGroupOffsetsResponseTopic as TopicAnswer
from ...coordinators.share.share_groups import UNKNOWN_MESSAGE
from ...requests.request_context import ApiHandler, RequestContext
from ...runtime.deferred import Deferred


def handle(
    context: RequestContext, request: DeleteShareGroupOffsetsRequest
) -> DeleteShareGroupOffsetsResponse | Deferred[DeleteShareGroupOffsetsResponse]:
    """Forget how far a group without members is in topics."""
    groups = context.node.coordinators.groups
    try:
        groups.share_groups.check_empty(request.group_id)
    except KafkaError as error:
        return _refused(error.code, error.message)
    answers = [_delete(context, request.group_id, topic.topic_name) for topic in request.topics]
    return groups.share_groups.when_durable(DeleteShareGroupOffsetsResponse(responses=answers), _refused)


def _delete(context: RequestContext, group_id: str, topic_name: str) -> TopicAnswer:
    answer = TopicAnswer(topic_name=topic_name)
    topic = context.node.image.find_topic(topic_name)
    if topic is None:
        answer.error_code, answer.error_message = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_MESSAGE
        return answer
    answer.topic_id = topic.topic_id
    try:
        context.node.coordinators.groups.share_groups.delete_states(group_id, topic.topic_id)
    except KafkaError as error:
        answer.error_code, answer.error_message = error.code, error.message
    return answer


def _refused(error_code: ErrorCode, message: str | None = None) -> DeleteShareGroupOffsetsResponse:
    return DeleteShareGroupOffsetsResponse(error_code=error_code, error_message=message)


HANDLER = ApiHandler(DeleteShareGroupOffsetsRequest.read, handle)
