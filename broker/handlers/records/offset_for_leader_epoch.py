"""OffsetForLeaderEpoch (23), versions 2-4.

v2 current leader epoch; v3 replica id, which has no effect without an authorizer; v4 flexible.
Source: ReplicaManager.lastOffsetForLeaderEpoch and LeaderEpochFileCache.endOffsetFor, Kafka 4.3.0;
tests/golden/list_offsets-4.3.0.jsonl.
"""

from __future__ import annotations

from ....protocol.error_codes import KafkaError
from ....protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)
from ...requests.request_context import ApiHandler, NodeServices, RequestContext


def handle(context: RequestContext, request: OffsetForLeaderEpochRequest) -> OffsetForLeaderEpochResponse:
    """Return the end offset of an epoch in each partition."""
    return OffsetForLeaderEpochResponse(
        topics=[
            OffsetForLeaderTopicResult(
                topic=topic.topic,
                partitions=[_end_offset(context.node, topic.topic, requested) for requested in topic.partitions],
            )
            for topic in request.topics
        ]
    )


def _end_offset(node: NodeServices, name: str, requested: OffsetForLeaderPartition) -> EpochEndOffset:
    try:
        partition = node.replicas.partition_of(name, requested.partition)
        partition.check_leader_epoch(requested.current_leader_epoch)
    except KafkaError as error:
        return EpochEndOffset(partition=requested.partition, error_code=error.code)
    end = partition.log.end_offset_for_epoch(requested.leader_epoch)
    return EpochEndOffset(partition=requested.partition, leader_epoch=end.leader_epoch, end_offset=end.end_offset)


HANDLER = ApiHandler(OffsetForLeaderEpochRequest.read, handle)
