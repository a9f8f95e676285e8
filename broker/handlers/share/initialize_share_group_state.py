"""InitializeShareGroupState (83), version 0 (KIP-932).

Source: ShareCoordinatorService.initializeState, Kafka 4.3.0; tests/golden/share_state-4.3.0.jsonl.
"""

from __future__ import annotations

from functools import partial

from ....protocol.error_codes import KafkaError
from ....protocol.messages.initialize_share_group_state import (
    InitializeShareGroupStateRequest,
    InitializeShareGroupStateResponse,
    InitializeStateResult,
    PartitionData,
    PartitionResult,
)
from ....protocol.stored_records.share_state_records import ShareKey
from ...requests.request_context import RequestContext
from ...requests.share_state_request import Results, StateRequest


async def handle(
    context: RequestContext, request: InitializeShareGroupStateRequest
) -> InitializeShareGroupStateResponse:
    """Write a new state for each partition. A topic without partitions has no result."""
    work = StateRequest(
        context, "initialize share group state", apply=partial(_apply, context), fail=_fail, respond=_respond
    )
    return await work.handle(request.group_id, request.topics)


def _apply(context: RequestContext, key: ShareKey, partition: PartitionData) -> PartitionResult:
    requests = context.node.coordinators.share_state_requests
    requests.initialize(key, partition.state_epoch, partition.start_offset)
    return PartitionResult(partition=key.partition)


def _fail(index: int, error: KafkaError) -> PartitionResult:
    return PartitionResult(partition=index, error_code=error.code, error_message=error.message)


def _respond(results: Results[PartitionResult]) -> InitializeShareGroupStateResponse:
    topics = [
        InitializeStateResult(topic_id=topic_id, partitions=list(partitions.values()))
        for topic_id, partitions in results.items()
    ]
    return InitializeShareGroupStateResponse(results=topics)
