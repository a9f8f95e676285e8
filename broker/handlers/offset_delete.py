"""OffsetDelete (47), version 0."""

from __future__ import annotations

from ...protocol.error_codes import ErrorCode, KafkaError
from ...protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from ..coordinators.classic_group import ClassicGroup
from ..coordinators.group_coordinator import GroupCoordinator
from ..request_context import ApiHandler, RequestContext


def handle(context: RequestContext, request: OffsetDeleteRequest) -> OffsetDeleteResponse:
    """Forget offsets of partitions that nobody in the group consumes; those that there are not are answered first."""
    groups = context.cluster.groups
    try:
        group = groups.offsets.begin_delete(request.group_id)
    except KafkaError as error:
        return OffsetDeleteResponse(error_code=error.code)
    answers: dict[str, OffsetDeleteResponseTopic] = {}
    existing: list[tuple[str, int]] = []
    for topic in request.topics:
        found = context.cluster.find_topic(topic.name)
        for partition in topic.partitions:
            index = partition.partition_index
            if found is None or found.find_partition(index) is None:
                _add(answers, topic.name, index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            else:
                existing.append((topic.name, index))
    for name, index in existing:
        _add(answers, name, index, _delete(groups, group, name, index))
    return OffsetDeleteResponse(topics=list(answers.values()))


def _add(answers: dict[str, OffsetDeleteResponseTopic], topic_name: str, index: int, error_code: ErrorCode) -> None:
    topic = answers.setdefault(topic_name, OffsetDeleteResponseTopic(name=topic_name))
    topic.partitions.append(OffsetDeleteResponsePartition(partition_index=index, error_code=error_code))


def _delete(groups: GroupCoordinator, group: ClassicGroup, topic_name: str, index: int) -> ErrorCode:
    try:
        groups.offsets.delete(group, topic_name, index)
    except KafkaError as error:
        return error.code
    return ErrorCode.NONE


HANDLER = ApiHandler(OffsetDeleteRequest.read, handle)
