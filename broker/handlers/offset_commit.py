"""OffsetCommit (8), versions 2-10.

v2-4 retention_time_ms; v6 committed_leader_epoch; v7 static members; v8 flexible; v9 GROUP_ID_NOT_FOUND, and members of
the new consumer protocol; v10 topic ids.
"""

from __future__ import annotations

from ...protocol.error_codes import ErrorCode, KafkaError
from ...protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from ..cluster import Topic
from ..coordinators.classic_group import ClassicGroup
from ..request_context import ApiHandler, RequestContext

TOPIC_IDS_SINCE = 10


class _Answers:
    """The answer as it grows: one entry a topic, in the order of the first partition that was answered."""

    def __init__(self) -> None:
        self._topics: dict[tuple[str, bytes], OffsetCommitResponseTopic] = {}

    def add(self, topic: OffsetCommitRequestTopic, partition_index: int, error_code: int) -> None:
        answer = self._topics.setdefault(
            (topic.name, topic.topic_id), OffsetCommitResponseTopic(name=topic.name, topic_id=topic.topic_id)
        )
        answer.partitions.append(OffsetCommitResponsePartition(partition_index=partition_index, error_code=error_code))

    def response(self) -> OffsetCommitResponse:
        return OffsetCommitResponse(topics=list(self._topics.values()))


def handle(context: RequestContext, request: OffsetCommitRequest) -> OffsetCommitResponse:
    """Keep the offsets of the partitions that there are; if none of them is, the group is not looked at."""
    answers = _Answers()
    commits = [
        (found, topic, partition)
        for topic in request.topics
        for found, partition in _existing_partitions(context, topic, answers)
    ]
    if commits:
        _commit(context, request, commits, answers)
    return answers.response()


def _existing_partitions(
    context: RequestContext, topic: OffsetCommitRequestTopic, answers: _Answers
) -> list[tuple[Topic, OffsetCommitRequestPartition]]:
    """Return the partitions of the topic that exist; the others are answered."""
    by_id = context.api_version >= TOPIC_IDS_SINCE
    cluster = context.cluster
    found = cluster.find_topic_by_id(topic.topic_id) if by_id else cluster.find_topic(topic.name)
    if found is None:
        error_code = ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        for partition in topic.partitions:
            answers.add(topic, partition.partition_index, error_code)
        return []
    existing: list[tuple[Topic, OffsetCommitRequestPartition]] = []
    for partition in topic.partitions:
        if found.find_partition(partition.partition_index) is None:
            answers.add(topic, partition.partition_index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        else:
            existing.append((found, partition))
    return existing


def _commit(
    context: RequestContext,
    request: OffsetCommitRequest,
    commits: list[tuple[Topic, OffsetCommitRequestTopic, OffsetCommitRequestPartition]],
    answers: _Answers,
) -> None:
    groups = context.cluster.groups
    try:
        group = groups.begin_commit(request, context.api_version)
    except KafkaError as error:
        for _, topic, partition in commits:
            answers.add(topic, partition.partition_index, error.code)
        return
    for found, topic, partition in commits:
        error_code = _commit_one(context, group, found, partition, request.retention_time_ms)
        answers.add(topic, partition.partition_index, error_code)


def _commit_one(
    context: RequestContext,
    group: ClassicGroup,
    topic: Topic,
    partition: OffsetCommitRequestPartition,
    retention_time_ms: int,
) -> ErrorCode:
    try:
        context.cluster.groups.offsets.commit(group, topic.name, partition, retention_time_ms)
    except KafkaError as error:
        return error.code
    return ErrorCode.NONE


HANDLER = ApiHandler(OffsetCommitRequest.read, handle)
