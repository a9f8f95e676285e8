"""Produce requests with a route: one plain batch for a partition whose request head was decoded before.

They pass by the pipeline's stages (`benchmarks` shows what that gains), so they exist only for requests that no check
before the log's could refuse; broker/requests/produce_route.py has the route.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from ...protocol import produce_codec, produced_records
from ...protocol.batches.record_batch import parse_header
from ...protocol.error_codes import ErrorCode
from ...protocol.produce_codec import (
    ACKS_ALLOWED,
    ACKS_NONE,
    PartitionResponse,
    ProduceRequest,
    ProduceResults,
)
from ...protocol.produced_records import NO_TAGGED_FIELDS
from ...protocol.single_partition_response import SinglePartitionResponse
from ...storage.append_refused import AppendRefused
from ...storage.append_result import AppendResult
from ...storage.log_validator import LongValidation
from ..metadata.metadata_image import TopicImage
from ..replica.partition import Partition
from ..replica.unsafe_append import UnsafeAppend
from ..runtime.buffers import Buffers
from ..runtime.deferred import Deferred
from .produce_responses import refuse_append, when_batches_safe
from .produce_route import ProduceRoute
from .request_context import NodeServices, RequestContext

# A request up to this size is copied once as a whole, because compiled code reads the bytes of a copy by itself. A
# larger batch stays in the receive buffer: a copy would cost more than that gains.
COPIED_BYTES_MAX: Final = 4096
_TAGGED_FIELDS_BYTES: Final = 3


def handle_routed(
    context: RequestContext, frame: memoryview, position: int, end: int
) -> Buffers | Deferred[Buffers] | None:
    """Append the batch of a request whose head has a route, and return the response. None: it has no route."""
    if context.produce_route is None:
        return None
    # The bytes that this request is recognised by, and all of a small request.
    start = frame[position : min(end, position + COPIED_BYTES_MAX)].tobytes()
    route = _find_route(context, context.produce_route, start)
    if route is None:
        return None
    batch_start = produced_records.find_plain_batch(start, len(route.head), end - position)
    if not batch_start:
        return None
    batch_end = end - position - _TAGGED_FIELDS_BYTES
    batch: bytes | memoryview
    if len(start) == end - position:
        batch = start[batch_start:batch_end]
    elif bytes(frame[position + batch_end : end]) == NO_TAGGED_FIELDS:
        batch = frame[position + batch_start : position + batch_end]
    else:
        return None
    try:
        return _append_routed(context, route, batch)
    except LongValidation:
        return None


def _find_route(context: RequestContext, last: ProduceRoute, start: bytes) -> ProduceRoute | None:
    """Return the route of the request whose body begins with start. last: that of the connection's last request."""
    routes, api_version = context.produce_routes, context.api_version
    if last.generation == routes.generation and last.api_version == api_version and start.startswith(last.head):
        return last
    # Heads that name topics of the same length have the same length.
    route = routes.find(api_version, start[: len(last.head)])
    if route is not None:
        context.produce_route = route
    return route


def keep_route(context: RequestContext, request: ProduceRequest) -> None:
    """Keep the route of a head that names a partition that may be written to and is answered."""
    routes, head = context.produce_routes, request.head
    known = routes.find(context.api_version, head)
    if known is not None:
        # The heads of a connection differ in length.
        context.produce_route = known
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
    response = SinglePartitionResponse(context.api_version, key, index)
    route = ProduceRoute(partition, key, response, request.acks, request.timeout_ms)
    routes.keep(context.api_version, head, route)
    context.produce_route = route


def _append_routed(
    context: RequestContext, route: ProduceRoute, records: bytes | memoryview
) -> Buffers | Deferred[Buffers]:
    """Append the one batch of a request that has a route, and respond, now or when the batch is flushed."""
    partition, correlation_id = route.partition, context.correlation_id
    replication = partition.replication if route.is_acks_all else None
    try:
        if replication is not None:
            replication.check_min_isr()
        result = partition.append(records, context.now_ms, None, context.clock.ahead_ms)
    except AppendRefused as error:
        error.header = parse_header(records)
        response = PartitionResponse(partition.index)
        refuse_append(context, partition, response, error)
        return [produce_codec.encode_response(correlation_id, context.api_version, [(route.topic_key, [response])])]
    context.appended_to, context.appended = partition, result
    base_offset, last_offset = result.base_offset, result.last_offset
    if result.is_duplicate:
        context.node.replicas.log_decision(partition, result)
    flusher = partition.flusher
    must_flush = flusher is not None and flusher.must_wait()
    if replication is not None and replication.must_wait(last_offset + 1):
        unsafe = UnsafeAppend(partition, last_offset + 1, must_flush, must_replicate=True)
        return _respond_when_replicated(context, route, result, unsafe)
    encoded = route.response.encode(correlation_id, base_offset, result.log_append_time_ms, result.log_start_offset)
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
