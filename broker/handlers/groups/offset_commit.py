"""OffsetCommit (8), versions 0-10.

v1 generation and member; v2-4 retention_time_ms; v6 committed_leader_epoch; v7 static members; v8 flexible; v9
GROUP_ID_NOT_FOUND, and members of the consumer protocol; v10 topic ids.
"""

from __future__ import annotations

from functools import partial

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from ...coordinators.group.group import OffsetCommitter
from ...coordinators.group.offset_requests import existing_partitions, offset_to_commit
from ...metadata.metadata_image import TopicImage
from ...requests.observed_commit import observed_commit
from ...requests.request_context import RequestContext
from ...runtime.long_work import for_each, step

# Version 0 is for offsets in ZooKeeper. With ZooKeeper, they are here those of the coordinator.
COORDINATOR_SINCE = 1
TOPIC_IDS_SINCE = 10


class _Results:
    """Builds the response: one entry per topic, in the order of the first partition with a result."""

    def __init__(self) -> None:
        self._topics: dict[tuple[str, bytes], OffsetCommitResponseTopic] = {}

    def add(self, topic: OffsetCommitRequestTopic, partition_index: int, error_code: int) -> None:
        result = self._topics.setdefault(
            (topic.name, topic.topic_id), OffsetCommitResponseTopic(name=topic.name, topic_id=topic.topic_id)
        )
        result.partitions.append(OffsetCommitResponsePartition(partition_index=partition_index, error_code=error_code))

    def response(self) -> OffsetCommitResponse:
        return OffsetCommitResponse(topics=list(self._topics.values()))


async def handle(context: RequestContext, request: OffsetCommitRequest) -> OffsetCommitResponse:
    """Commit the offsets of existing partitions. Without any, the group is not checked."""
    results = _Results()
    by_id = context.api_version >= TOPIC_IDS_SINCE
    unknown_topic = ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    commits: list[tuple[TopicImage, OffsetCommitRequestTopic, OffsetCommitRequestPartition]] = []
    for topic in request.topics:
        existing = await existing_partitions(
            _find_topic(context, topic), topic.partitions, partial(results.add, topic), unknown_topic
        )
        commits += [(found, topic, partition) for found, partition in existing]
    if not commits:
        return results.response()
    groups = context.node.coordinators.groups
    offsets = await for_each(lambda commit: offset_to_commit(commit[0], commit[2]), commits)
    committer = OffsetCommitter(
        group_id=request.group_id,
        member_id=request.member_id,
        group_instance_id=request.group_instance_id,
        generation_id=request.generation_id_or_member_epoch,
        api_version=context.api_version,
    )
    try:
        if context.api_version < COORDINATOR_SINCE and not context.node.image.features.uses_zookeeper:
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, "version 0 is for offsets in ZooKeeper")
        with observed_commit(context, committer, offsets):
            error_codes = groups.offsets.commit(committer, offsets, retention_time_ms=request.retention_time_ms)
    except KafkaError as error:
        error_codes = [error.code] * len(commits)
    flush_error = await groups.flushed()
    for (_, topic, partition), error_code in zip(commits, error_codes, strict=True):
        results.add(topic, partition.partition_index, error_code or flush_error)
        await step()
    return results.response()


def _find_topic(context: RequestContext, topic: OffsetCommitRequestTopic) -> TopicImage | None:
    if context.api_version >= TOPIC_IDS_SINCE:
        return context.node.image.find_topic_by_id(topic.topic_id)
    return context.node.image.find_topic(topic.name)
