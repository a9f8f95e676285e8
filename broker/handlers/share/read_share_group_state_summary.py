"""ReadShareGroupStateSummary (87), versions 0-1 (KIP-932).

Source: ShareCoordinatorService.readStateSummary, Kafka 4.3.0; tests/golden/share_state-4.3.0.jsonl.
"""

from __future__ import annotations

from functools import partial

from ....protocol.error_codes import KafkaError
from ....protocol.messages.read_share_group_state_summary import (
    PartitionData,
    PartitionResult,
    ReadShareGroupStateSummaryRequest,
    ReadShareGroupStateSummaryResponse,
    ReadStateSummaryResult,
)
from ....protocol.stored_records.share_state_records import UNKNOWN_COUNT, ShareKey
from ...coordinators.share.state_batches import NO_OFFSET
from ...requests.request_context import RequestContext
from ...requests.share_state_request import Results, StateRequest, are_whole


async def handle(
    context: RequestContext, request: ReadShareGroupStateSummaryRequest
) -> ReadShareGroupStateSummaryResponse:
    """Return the epochs and the start offset of each partition. v1 delivery_complete_count."""
    work = StateRequest(
        context, "read share group state summary", apply=partial(_apply, context), fail=_fail, respond=_respond
    )
    topics = request.topics if are_whole(request.topics) else ()
    return await work.handle(request.group_id, topics)


def _apply(context: RequestContext, key: ShareKey, _: PartitionData) -> PartitionResult:
    state = context.node.coordinators.share_state_requests.find(key)
    if state is None:
        return PartitionResult(partition=key.partition, start_offset=NO_OFFSET, delivery_complete_count=UNKNOWN_COUNT)
    return PartitionResult(
        partition=key.partition,
        state_epoch=state.state_epoch,
        leader_epoch=state.leader_epoch,
        start_offset=state.start_offset,
        delivery_complete_count=state.delivery_complete_count,
    )


def _fail(index: int, error: KafkaError) -> PartitionResult:
    return PartitionResult(partition=index, error_code=error.code, error_message=error.message)


def _respond(results: Results[PartitionResult]) -> ReadShareGroupStateSummaryResponse:
    topics = [
        ReadStateSummaryResult(topic_id=topic_id, partitions=list(partitions.values()))
        for topic_id, partitions in results.items()
    ]
    return ReadShareGroupStateSummaryResponse(results=topics)
