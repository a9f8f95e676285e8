"""WriteTxnMarkers (27), versions 1-2.

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
from ...replica.partition_flusher import PartitionFlusher
from ...requests.request_context import NodeServices, RequestContext, SteppedApiHandler
from ...runtime.deferred import Deferred
from ...runtime.long_work import Steps, steps_for_each

# The result that waits for a flush of its partition up to the offset.
Unflushed = tuple[WritableTxnMarkerPartitionResult, PartitionFlusher, int]


def handle(
    context: RequestContext, request: WriteTxnMarkersRequest
) -> Steps[WriteTxnMarkersResponse | Deferred[WriteTxnMarkersResponse]]:
    """Append each marker to each of its partitions."""
    unflushed: list[Unflushed] = []
    markers = yield from steps_for_each(lambda marker: _write(context.node, marker, unflushed), request.markers)
    response = WriteTxnMarkersResponse(markers=markers)
    return _when_flushed(response, unflushed) if unflushed else response


def _write(
    node: NodeServices, requested: WritableTxnMarker, unflushed: list[Unflushed]
) -> Steps[WritableTxnMarkerResult]:
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
            result.partitions.append(_write_one(node, marker, topic.name, index, unflushed))
            yield None
    return WritableTxnMarkerResult(producer_id=requested.producer_id, topics=topics)


def _write_one(
    node: NodeServices, marker: TransactionMarker, topic_name: str, index: int, unflushed: list[Unflushed]
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
    flusher = partition.flusher
    if flusher is not None and flusher.must_wait():
        unflushed.append((result, flusher, appended.last_offset + 1))
    return result


def _when_flushed(response: WriteTxnMarkersResponse, unflushed: list[Unflushed]) -> Deferred[WriteTxnMarkersResponse]:
    """Complete the response when each marker is flushed or its flush has failed (flush.messages)."""
    deferred: Deferred[WriteTxnMarkersResponse] = Deferred(is_applied=True)
    left = len(unflushed)

    def flushed(result: WritableTxnMarkerPartitionResult, error: OSError | None) -> None:
        nonlocal left
        if error is not None:
            result.error_code = ErrorCode.KAFKA_STORAGE_ERROR
        left -= 1
        if not left:
            deferred.complete(response)

    for result, flusher, end_offset in unflushed:
        flusher.when_flushed(end_offset, partial(flushed, result))
    return deferred


HANDLER = SteppedApiHandler(WriteTxnMarkersRequest.read, handle)
