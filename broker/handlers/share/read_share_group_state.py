"""ReadShareGroupState (84), version 0 (KIP-932).

Source: ShareCoordinatorService.readState, Kafka 4.3.0; tests/golden/share_state-4.3.0.jsonl.
"""

from __future__ import annotations

from functools import partial

from ....protocol.error_codes import KafkaError
from ....protocol.messages.read_share_group_state import (
    PartitionData,
    PartitionResult,
    ReadShareGroupStateRequest,
    ReadShareGroupStateResponse,
    ReadStateResult,
    StateBatch,
)
from ....protocol.stored_records.share_state_records import ShareKey
from ...requests.request_context import RequestContext
from ...requests.share_state_request import Results, StateRequest, are_whole


async def handle(context: RequestContext, request: ReadShareGroupStateRequest) -> ReadShareGroupStateResponse:
    """Return the state of each partition for its leader."""
    work = StateRequest(context, "read share group state", apply=partial(_apply, context), fail=_fail, respond=_respond)
    topics = request.topics if are_whole(request.topics) else ()
    return await work.handle(request.group_id, topics)


def _apply(context: RequestContext, key: ShareKey, partition: PartitionData) -> PartitionResult:
    state = context.node.coordinators.share_state_requests.read(key, partition.leader_epoch)
    return PartitionResult(
        partition=key.partition,
        state_epoch=state.state_epoch,
        start_offset=state.start_offset,
        state_batches=[
            StateBatch(first_offset=first, last_offset=last, delivery_state=delivery_state, delivery_count=count)
            for first, last, delivery_state, count in state.batches
        ],
    )


def _fail(index: int, error: KafkaError) -> PartitionResult:
    return PartitionResult(partition=index, error_code=error.code, error_message=error.message)


def _respond(results: Results[PartitionResult]) -> ReadShareGroupStateResponse:
    topics = [
        ReadStateResult(topic_id=topic_id, partitions=list(partitions.values()))
        for topic_id, partitions in results.items()
    ]
    return ReadShareGroupStateResponse(results=topics)
