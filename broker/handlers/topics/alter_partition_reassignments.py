"""AlterPartitionReassignments (45), versions 0-1.

v1 allow_replication_factor_change, which the response repeats.
Source: KafkaApis.handleAlterPartitionReassignments and ReplicationControlManager.alterPartitionReassignments,
Kafka 4.3.0; tests/golden/replicas-4.3.0.jsonl.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignablePartitionResponse,
    ReassignableTopic,
    ReassignableTopicResponse,
)
from ...requests.request_context import RequestContext
from ...runtime.long_work import for_each, in_turn

# Reassigns the replicas of a partition, by topic name and index. Raises KafkaError.
Reassign = Callable[[str, int, Sequence[int] | None], None]


async def handle(
    context: RequestContext, request: AlterPartitionReassignmentsRequest
) -> AlterPartitionReassignmentsResponse:
    """Reassign the replicas of each partition; an error of one does not affect the others."""
    response = AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=request.allow_replication_factor_change
    )
    if not request.topics:
        return response

    def time_out(topic_name: str, index: int, replicas: Sequence[int] | None) -> None:
        raise KafkaError(ErrorCode.REQUEST_TIMED_OUT)

    response.error_message = None
    if request.timeout_ms <= 0:
        # Kafka's controller checks the timeout before it starts.
        response.error_code = ErrorCode.REQUEST_TIMED_OUT
        response.responses = await _reassign_each(request, time_out)
    else:
        reassign = partial(
            context.node.controller.replication.reassign, may_change_factor=request.allow_replication_factor_change
        )
        response.responses = await _reassign_each(request, reassign)
    return response


async def _reassign_each(
    request: AlterPartitionReassignmentsRequest, reassign: Reassign
) -> list[ReassignableTopicResponse]:
    async def reassign_topic(topic: ReassignableTopic) -> ReassignableTopicResponse:
        def result_of(partition: ReassignablePartition) -> ReassignablePartitionResponse:
            return _result(topic.name, partition.partition_index, partition.replicas, reassign)

        return ReassignableTopicResponse(name=topic.name, partitions=await for_each(result_of, topic.partitions))

    return await in_turn(reassign_topic, request.topics)


def _result(
    topic_name: str, index: int, replicas: Sequence[int] | None, reassign: Reassign
) -> ReassignablePartitionResponse:
    result = ReassignablePartitionResponse(partition_index=index, error_message=None)
    try:
        reassign(topic_name, index, replicas)
    except KafkaError as error:
        result.error_code, result.error_message = error.code, error.message or None
    return result
