"""OffsetForLeaderEpoch (23), versions 0-4.

v2 current leader epoch; v3 replica id, which has no effect without an authorizer; v4 flexible.
Source: ReplicaManager.lastOffsetForLeaderEpoch and LeaderEpochFileCache.endOffsetFor, Kafka 4.3.0;
tests/golden/list_offsets-4.3.0.jsonl.
"""

from __future__ import annotations

from functools import partial

from ....protocol.error_codes import KafkaError
from ....protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
    OffsetForLeaderTopicResult,
)
from ...requests.request_context import NodeServices, RequestContext
from ...runtime.long_work import for_each, in_turn


async def handle(context: RequestContext, request: OffsetForLeaderEpochRequest) -> OffsetForLeaderEpochResponse:
    """Return the end offset of an epoch in each partition."""
    topics = await in_turn(partial(_topic_result, context.node), request.topics)
    return OffsetForLeaderEpochResponse(topics=topics)


async def _topic_result(node: NodeServices, topic: OffsetForLeaderTopic) -> OffsetForLeaderTopicResult:
    partitions = await for_each(partial(_end_offset, node, topic.topic), topic.partitions)
    return OffsetForLeaderTopicResult(topic=topic.topic, partitions=partitions)


def _end_offset(node: NodeServices, name: str, requested: OffsetForLeaderPartition) -> EpochEndOffset:
    try:
        partition = node.replicas.partition_of(name, requested.partition)
        partition.check_leader_epoch(requested.current_leader_epoch)
        partition.check_leader()
    except KafkaError as error:
        return EpochEndOffset(partition=requested.partition, error_code=error.code)
    end = partition.log.end_offset_for_epoch(requested.leader_epoch)
    return EpochEndOffset(partition=requested.partition, leader_epoch=end.leader_epoch, end_offset=end.end_offset)
