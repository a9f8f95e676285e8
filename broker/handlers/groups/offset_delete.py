"""OffsetDelete (47), version 0."""

from __future__ import annotations

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from ...requests.request_context import RequestContext
from ...runtime.long_work import step


async def handle(context: RequestContext, request: OffsetDeleteRequest) -> OffsetDeleteResponse:
    """Delete offsets of partitions that no member consumes. Unknown partitions come first in the response."""
    groups = context.node.coordinators.groups
    results: dict[str, OffsetDeleteResponseTopic] = {}
    existing: list[tuple[str, int]] = []
    try:
        group = groups.offsets.deletable_group_of(request.group_id)
        for topic in request.topics:
            found = context.node.image.find_topic(topic.name)
            for partition in topic.partitions:
                index = partition.partition_index
                if found is None or not found.has_partition(index):
                    _add(results, topic.name, index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
                else:
                    existing.append((topic.name, index))
                await step()
        error_codes = groups.offsets.delete(group, existing)
    except KafkaError as error:
        return OffsetDeleteResponse(error_code=error.code)
    flush_error = await groups.flushed()
    if flush_error:
        return OffsetDeleteResponse(error_code=flush_error)
    for (name, index), error_code in zip(existing, error_codes, strict=True):
        _add(results, name, index, error_code)
        await step()
    return OffsetDeleteResponse(topics=list(results.values()))


def _add(results: dict[str, OffsetDeleteResponseTopic], topic_name: str, index: int, error_code: ErrorCode) -> None:
    topic = results.setdefault(topic_name, OffsetDeleteResponseTopic(name=topic_name))
    topic.partitions.append(OffsetDeleteResponsePartition(partition_index=index, error_code=error_code))
