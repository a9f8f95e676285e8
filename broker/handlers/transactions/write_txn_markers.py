"""WriteTxnMarkers (27), versions 0-2.

Brokers send this request, and administrators, to end a hanging transaction. Without an authorizer any client may send
it.
v1 flexible; v2 transaction_version, by which the epoch is checked (KIP-1228).
Source: KafkaApis.handleWriteTxnMarkersRequest, Kafka 4.3.0; tests/golden/golden-4.3.0.jsonl (W01 to W13).
"""

from __future__ import annotations

from functools import partial

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from ....storage.coordinator_batch import TransactionMarker
from ...replica.unsafe_append import UnsafeAppend, find_unsafe
from ...requests.request_context import NodeServices, RequestContext
from ...runtime.deferred import Deferred
from ...runtime.long_work import in_turn, step

# A result that waits until its marker is safe.
Unsafe = tuple[WritableTxnMarkerPartitionResult, UnsafeAppend]


async def handle(
    context: RequestContext, request: WriteTxnMarkersRequest
) -> WriteTxnMarkersResponse | Deferred[WriteTxnMarkersResponse]:
    """Append each marker to each of its partitions."""
    unsafe: list[Unsafe] = []
    markers = await in_turn(lambda marker: _write(context.node, marker, unsafe), request.markers)
    response = WriteTxnMarkersResponse(markers=markers)
    timeout_ms = context.node.config.request_timeout_ms
    return _when_safe(response, unsafe, timeout_ms) if unsafe else response


async def _write(node: NodeServices, requested: WritableTxnMarker, unsafe: list[Unsafe]) -> WritableTxnMarkerResult:
    marker = TransactionMarker(
        producer_id=requested.producer_id,
        producer_epoch=requested.producer_epoch,
        is_commit=requested.transaction_result,
        coordinator_epoch=requested.coordinator_epoch,
        transaction_version=requested.transaction_version,
    )
    topics: list[WritableTxnMarkerTopicResult] = []
    for topic in requested.topics:
        result = WritableTxnMarkerTopicResult(name=topic.name)
        topics.append(result)
        for index in topic.partition_indexes:
            result.partitions.append(_write_one(node, marker, topic.name, index, unsafe))
            await step()
    return WritableTxnMarkerResult(producer_id=requested.producer_id, topics=topics)


def _write_one(
    node: NodeServices, marker: TransactionMarker, topic_name: str, index: int, unsafe: list[Unsafe]
) -> WritableTxnMarkerPartitionResult:
    result = WritableTxnMarkerPartitionResult(partition_index=index)
    partition = node.replicas.find_partition_by_name(topic_name, index)
    if partition is None or not partition.has_replica:
        result.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return result
    try:
        appended = node.coordinators.write_marker(partition, marker)
    except KafkaError as error:
        result.error_code = error.code
        return result
    waiting = find_unsafe(partition, appended.last_offset + 1)
    if waiting is not None:
        unsafe.append((result, waiting))
    return result


def _when_safe(
    response: WriteTxnMarkersResponse, unsafe: list[Unsafe], timeout_ms: int
) -> Deferred[WriteTxnMarkersResponse]:
    """Complete the response when each marker is flushed and replicated, or cannot be."""
    deferred: Deferred[WriteTxnMarkersResponse] = Deferred(is_applied=True)
    left = len(unsafe)

    def ended(result: WritableTxnMarkerPartitionResult, error_code: ErrorCode) -> None:
        nonlocal left
        result.error_code = error_code
        left -= 1
        if not left:
            deferred.complete(response)

    for result, append in unsafe:
        append.when_safe(timeout_ms, partial(ended, result))
    return deferred
