"""ElectLeaders (43), versions 0-2.

v1 election type and top-level error code; v2 flexible.
Source: KafkaApis.handleElectLeaders and ReplicationControlManager.electLeaders, Kafka 4.3.0;
tests/golden/replicas-4.3.0.jsonl.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
    TopicPartitions,
)
from ...metadata.replication_control import ElectionType
from ...requests.request_context import NodeServices, RequestContext
from ...runtime.long_work import for_each, in_turn


async def handle(context: RequestContext, request: ElectLeadersRequest) -> ElectLeadersResponse:
    """Elect the leaders of the requested partitions. Null stands for all, of which the unchanged ones are left out."""
    if request.election_type not in list(ElectionType):
        error = KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown election type {request.election_type}")
        return await _failed(request, error)
    if request.timeout_ms <= 0 and request.topic_partitions != []:
        # Kafka's controller checks the timeout before it starts.
        return await _failed(request, KafkaError(ErrorCode.REQUEST_TIMED_OUT))
    if request.topic_partitions is None:
        request.topic_partitions = [
            TopicPartitions(topic=topic.name, partitions=list(range(len(topic.partitions))))
            for topic in context.node.image.topics.values()
        ]
        results = await _results(request, partial(_elect, context.node, request.election_type))
        for result in results:
            result.partition_result = [
                each for each in result.partition_result if each.error_code != ErrorCode.ELECTION_NOT_NEEDED
            ]
        return ElectLeadersResponse(replica_election_results=results)
    results = await _results(request, partial(_elect, context.node, request.election_type))
    return ElectLeadersResponse(replica_election_results=results)


async def _results(
    request: ElectLeadersRequest, result_of: Callable[[str, int], PartitionResult]
) -> list[ReplicaElectionResult]:
    """Return the result of each partition that the request names. result_of: takes topic name and index."""

    async def topic_result(topic: TopicPartitions) -> ReplicaElectionResult:
        results = await for_each(partial(result_of, topic.topic), topic.partitions)
        return ReplicaElectionResult(topic=topic.topic, partition_result=results)

    return await in_turn(topic_result, request.topic_partitions or ())


def _elect(node: NodeServices, election_type: int, topic_name: str, index: int) -> PartitionResult:
    try:
        node.controller.replication.elect(topic_name, index, ElectionType(election_type))
    except KafkaError as error:
        return _result(index, error)
    return PartitionResult(partition_id=index, error_message=None)


async def _failed(request: ElectLeadersRequest, error: KafkaError) -> ElectLeadersResponse:
    """Return the response to a request that fails as a whole, with the error in each partition too."""
    results = await _results(request, lambda _, index: _result(index, error))
    return ElectLeadersResponse(error_code=error.code, replica_election_results=results)


def _result(index: int, error: KafkaError) -> PartitionResult:
    return PartitionResult(partition_id=index, error_code=error.code, error_message=error.message or None)
