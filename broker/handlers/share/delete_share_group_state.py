"""DeleteShareGroupState (86), version 0 (KIP-932).

Source: ShareCoordinatorService.deleteState, Kafka 4.3.0; tests/golden/share_state-4.3.0.jsonl.
"""

from __future__ import annotations

from functools import partial

from ....protocol.error_codes import KafkaError
from ....protocol.messages.delete_share_group_state import (
    DeleteShareGroupStateRequest,
    DeleteShareGroupStateResponse,
    DeleteStateResult,
    PartitionData,
    PartitionResult,
)
from ....protocol.stored_records.share_state_records import ShareKey
from ...requests.request_context import RequestContext
from ...requests.share_state_request import Results, StateRequest, are_whole


async def handle(context: RequestContext, request: DeleteShareGroupStateRequest) -> DeleteShareGroupStateResponse:
    """Delete the state of each partition."""
    work = StateRequest(
        context, "delete share group state", apply=partial(_apply, context), fail=_fail, respond=_respond
    )
    topics = request.topics if are_whole(request.topics) else ()
    return await work.handle(request.group_id, topics)


def _apply(context: RequestContext, key: ShareKey, _: PartitionData) -> PartitionResult:
    context.node.coordinators.share_state_requests.delete(key)
    return PartitionResult(partition=key.partition)


def _fail(index: int, error: KafkaError) -> PartitionResult:
    return PartitionResult(partition=index, error_code=error.code, error_message=error.message)


def _respond(results: Results[PartitionResult]) -> DeleteShareGroupStateResponse:
    topics = [
        DeleteStateResult(topic_id=topic_id, partitions=list(partitions.values()))
        for topic_id, partitions in results.items()
    ]
    return DeleteShareGroupStateResponse(results=topics)
