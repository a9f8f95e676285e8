"""AlterShareGroupOffsets (91), version 0 (KIP-932).

Source: KafkaApis.handleAlterShareGroupOffsetsRequest and GroupCoordinatorService.alterShareGroupOffsets, Kafka 4.3.0.
"""

from __future__ import annotations

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.error_messages import ERROR_MESSAGES
from ....protocol.messages.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsResponse,
)
from ....protocol.messages.alter_share_group_offsets import AlterShareGroupOffsetsResponsePartition as PartitionResult
from ....protocol.messages.alter_share_group_offsets import AlterShareGroupOffsetsResponseTopic as TopicResult
from ...coordinators.share.share_groups import UNKNOWN_MESSAGE
from ...metadata.metadata_image import TopicImage
from ...requests.group_protocols import SHARE_PROTOCOL, served_by
from ...requests.request_context import RequestContext
from ...runtime.deferred import Deferred
from ...runtime.long_work import all_complete, step


async def _handle(context: RequestContext, request: AlterShareGroupOffsetsRequest) -> AlterShareGroupOffsetsResponse:
    """Set the start offsets of a group without members."""
    groups = context.node.coordinators.groups
    try:
        groups.share_groups.check_empty(request.group_id)
    except KafkaError as error:
        return _error_response(error.code, error.message or ERROR_MESSAGES[error.code])
    response = AlterShareGroupOffsetsResponse()
    flushes: list[Deferred[ErrorCode]] = []
    for requested in request.topics:
        topic = context.node.image.find_topic(requested.topic_name)
        entry = TopicResult(topic_name=requested.topic_name)
        for partition in requested.partitions:
            entry.partitions.append(_alter(context, request.group_id, topic, partition))
            flushes.append(groups.share_groups.flushed())
            await step()
        if topic is not None:
            entry.topic_id = topic.topic_id
        response.responses.append(entry)
    flush_error = max(await all_complete(flushes), default=ErrorCode.NONE)
    return _error_response(flush_error) if flush_error else response


def _alter(
    context: RequestContext, group_id: str, topic: TopicImage | None, requested: AlterShareGroupOffsetsRequestPartition
) -> PartitionResult:
    result = PartitionResult(partition_index=requested.partition_index)
    if topic is None or not topic.has_partition(requested.partition_index):
        result.error_code, result.error_message = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_MESSAGE
        return result
    try:
        context.node.coordinators.groups.share_groups.alter_start_offset(
            group_id, topic.topic_id, requested.partition_index, requested.start_offset
        )
    except KafkaError as error:
        result.error_code, result.error_message = error.code, error.message
    return result


def _error_response(error_code: ErrorCode, message: str | None = None) -> AlterShareGroupOffsetsResponse:
    return AlterShareGroupOffsetsResponse(error_code=error_code, error_message=message)


handle = served_by(SHARE_PROTOCOL, _handle)
