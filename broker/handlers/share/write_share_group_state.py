"""WriteShareGroupState (85), versions 0-1 (KIP-932).

Source: ShareCoordinatorService.writeState, Kafka 4.3.0; tests/golden/share_state-4.3.0.jsonl.
"""

from __future__ import annotations

from functools import partial

from ....protocol.error_codes import KafkaError
from ....protocol.messages.write_share_group_state import (
    PartitionData,
    PartitionResult,
    WriteShareGroupStateRequest,
    WriteShareGroupStateResponse,
    WriteStateResult,
)
from ....protocol.stored_records.share_state_records import ShareKey
from ...coordinators.share.share_state import ShareStateChange
from ...coordinators.share.state_requests import state_batch_of
from ...requests.request_context import RequestContext
from ...requests.share_state_request import Results, StateRequest, are_whole


async def handle(context: RequestContext, request: WriteShareGroupStateRequest) -> WriteShareGroupStateResponse:
    """Write the changed batches of each partition. v1 delivery_complete_count."""
    work = StateRequest(
        context, "write share group state", apply=partial(_apply, context), fail=_fail, respond=_respond
    )
    topics = request.topics if are_whole(request.topics) else ()
    return await work.handle(request.group_id, topics)


def _apply(context: RequestContext, key: ShareKey, partition: PartitionData) -> PartitionResult:
    change = ShareStateChange(
        partition.state_epoch,
        partition.leader_epoch,
        partition.start_offset,
        partition.delivery_complete_count,
        tuple(
            state_batch_of(each.first_offset, each.last_offset, each.delivery_state, each.delivery_count)
            for each in partition.state_batches
        ),
    )
    context.node.coordinators.share_state_requests.write(key, change)
    return PartitionResult(partition=key.partition)


def _fail(index: int, error: KafkaError) -> PartitionResult:
    return PartitionResult(partition=index, error_code=error.code, error_message=error.message)


def _respond(results: Results[PartitionResult]) -> WriteShareGroupStateResponse:
    topics = [
        WriteStateResult(topic_id=topic_id, partitions=list(partitions.values()))
        for topic_id, partitions in results.items()
    ]
    return WriteShareGroupStateResponse(results=topics)
