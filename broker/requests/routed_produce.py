"""Produce requests with a route: one plain batch for a partition whose request head was decoded before.

They pass by the pipeline's stages (`benchmarks` shows what that gains), so they exist only for requests that no check
before the log's could refuse; broker/requests/produce_route.py has the route.
"""

from __future__ import annotations

from functools import partial

from ...protocol import produce_codec, produced_records
from ...protocol.batches.record_batch import parse_header
from ...protocol.error_codes import ErrorCode
from ...protocol.produce_codec import (
    ACKS_ALL,
    ACKS_ALLOWED,
    ACKS_NONE,
    PartitionResponse,
    ProduceRequest,
    ProduceResults,
)
from ...storage.append_refused import AppendRefused
from ...storage.append_result import AppendResult
from ...storage.log_validator import LongValidation
from ..metadata.metadata_image import TopicImage
from ..replica.partition import Partition, UnsafeAppend
from ..runtime.deferred import Buffers, Deferred
from .produce_responses import refuse_append, when_batches_safe
from .produce_route import PRODUCE_ROUTES_MAX, ProduceRoute
from .request_context import NodeServices, RequestContext


def handle_routed(
    context: RequestContext, frame: memoryview, position: int, end: int
) -> Buffers | Deferred[Buffers] | None:
    """Append the batch of a request whose head has a route, and return the response. None: it has no route."""
    records_start = position + context.produce_head_bytes
    if not position < records_start < end:
        return None
    (head,) = context.unpack_produce_head(frame, position)
    route = context.node.produce_routes.get((context.api_version, head))
    if route is None:
        return None
    batch = produced_records.find_plain_batch(frame, records_start, end)
    if batch is None:
        return None
    try:
        return _append_routed(context, route, batch)
    except LongValidation:
        return None


def keep_route(context: RequestContext, request: ProduceRequest) -> None:
    """Keep the route of a head that names a partition that may be written to and is answered."""
    routes, head = context.node.produce_routes, request.head
    if (context.api_version, head) in routes:
        # The heads of a connection differ in length.
        context.keep_produce_head(len(head))
        return
    key, ((index, _),) = request.topics[0]
    topic = find_topic(context, key)
    if topic is None or topic.is_internal or request.acks == ACKS_NONE or request.acks not in ACKS_ALLOWED:
        return
    partition = context.node.replicas.find_partition(topic.topic_id, index)
    if partition is None or not partition.is_leader:
        return
    if not context.rules.limits_min_isr and (partition.find_log() is None or partition.has_too_few_replicas):
        return
    if len(routes) >= PRODUCE_ROUTES_MAX:
        routes.clear()
    response = produce_codec.SinglePartitionResponse(context.api_version, key, index)
    routes[context.api_version, head] = ProduceRoute(partition, key, response, request.acks, request.timeout_ms)
    context.keep_produce_head(len(head))


def _append_routed(context: RequestContext, route: ProduceRoute, records: memoryview) -> Buffers | Deferred[Buffers]:
    """Append the one batch of a request that has a route, and respond, now or when the batch is flushed."""
    partition, correlation_id = route.partition, context.correlation_id
    replication = partition.replication if route.acks == ACKS_ALL else None
    try:
        if replication is not None:
            replication.check_min_isr()
        result = partition.append(records, context.now_ms, None, context.node.clock.ahead_ms)
    except AppendRefused as error:
        error.header = parse_header(records)
        response = PartitionResponse(partition.index)
        refuse_append(context, partition, response, error)
        return [produce_codec.encode_response(correlation_id, context.api_version, [(route.topic_key, [response])])]
    context.batches = [(partition.topic_name, partition.index, result)]
    base_offset, last_offset, log_append_time_ms, log_start_offset, is_duplicate, _, _ = result
    if is_duplicate:
        context.node.replicas.log_decision(partition, result)
    flusher = partition.flusher
    must_flush = flusher is not None and flusher.must_wait()
    if replication is not None and replication.must_wait(last_offset + 1):
        unsafe = UnsafeAppend(partition, last_offset + 1, must_flush, must_replicate=True)
        return _respond_when_replicated(context, route, result, unsafe)
    encoded = route.response.encode(correlation_id, base_offset, log_append_time_ms, log_start_offset)
    if flusher is None or not must_flush:
        return [encoded]
    deferred: Deferred[Buffers] = Deferred(is_applied=True)
    refused = encoded, route.response.encode_refused(correlation_id, ErrorCode.KAFKA_STORAGE_ERROR)
    flusher.when_flushed(last_offset + 1, partial(_complete_routed, context.node, partition, deferred, refused))
    return deferred


def _respond_when_replicated(
    context: RequestContext, route: ProduceRoute, result: AppendResult, unsafe: UnsafeAppend
) -> Deferred[Buffers]:
    """Return the response to a routed request with acks=all, pending until the other replicas have the batch."""
    response = PartitionResponse(
        route.partition.index, 0, result.base_offset, result.log_append_time_ms, result.log_start_offset
    )
    results = ProduceResults([(route.topic_key, [response])])
    encode = partial(results.encode, context.correlation_id, context.api_version)
    return when_batches_safe(context, route.timeout_ms, [(response, unsafe)], encode)


def _complete_routed(
    node: NodeServices,
    partition: Partition,
    deferred: Deferred[Buffers],
    responses: tuple[bytes, bytes],
    error: OSError | None,
) -> None:
    """Complete the response to a routed request after its flush. responses: for a flush that succeeded, or failed."""
    if error is not None:
        node.report_unsafe(deferred.request_id, partition, ErrorCode.KAFKA_STORAGE_ERROR)
    deferred.complete([responses[0] if error is None else responses[1]])


def find_topic(context: RequestContext, key: bytes) -> TopicImage | None:
    """Return the topic that a request names, by its name or, from version 13 on, its id; None for an unknown one."""
    if context.api_version >= produce_codec.TOPIC_IDS_SINCE:
        return context.node.image.find_topic_by_id(key)
    return context.node.image.find_topic(key.decode(errors="replace"))
