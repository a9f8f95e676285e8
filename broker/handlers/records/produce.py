"""Produce (0), versions 0-13.

v0-v2 message sets; v3 record batches v2; v5 log_start_offset; v8 record_errors and error_message; v9 flexible; v12
partitions join a transaction by themselves (KIP-890); v13 topic ids.
"""

from __future__ import annotations

import logging
from functools import partial

from ....protocol import produce_codec, produced_records
from ....protocol.acl_types import AclOperation, ResourceType
from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.frames import FrameError, TooManyElements
from ....protocol.kafka_uuid import uuid_text
from ....protocol.produce_codec import (
    ACKS_ALL,
    ACKS_ALLOWED,
    ACKS_NONE,
    TRANSACTIONAL_ID_SINCE,
    PartitionResponse,
    ProduceRequest,
    ProduceResults,
)
from ....protocol.request_refused import RequestRefused
from ....storage.append_refused import AppendRefused
from ....storage.append_result import AppendResult
from ....storage.log_validator import LongValidation
from ... import requests
from ...coordinators.transaction.transaction_check import partitions_flushed
from ...metadata.metadata_image import TopicImage, is_internal_topic
from ...replica.partition import Partition
from ...replica.unsafe_append import find_unsafe
from ...requests import routed_produce
from ...requests.advertised_endpoint import find_leader_after
from ...requests.permissions import permits
from ...requests.produce_responses import (
    Unsafe,
    as_in_release,
    fill_in,
    find_header,
    refuse,
    refuse_append,
    taken_back,
    when_batches_safe,
)
from ...requests.produced_transactions import join_transaction
from ...requests.request_context import RequestContext
from ...requests.routed_produce import find_topic, keep_route
from ...runtime.long_work import in_thread, let_others_run, step

logger = logging.getLogger(__name__)

# Topics and partitions of a request that is decoded at once, however large its records are.
PRODUCE_ELEMENTS_AT_ONCE = 200
# Clients of this id may write internal topics (Kafka: AdminUtils.ADMIN_CLIENT_ID).
ADMIN_CLIENT_ID = "__admin_client"

# A batch that passed the checks of the request: the response to fill in, the partition, the batch.
Accepted = tuple[PartitionResponse, Partition, memoryview]

# The pipeline tries this before it decodes.
handle_routed = routed_produce.handle_routed


def decode_at_once(frame: memoryview, position: int, end: int, version: int) -> ProduceRequest | None:
    """Decode a request; None if it has very many partitions, or message sets. Raises FrameError."""
    if version < TRANSACTIONAL_ID_SINCE:
        # A thread converts them, so the frame must outlive the request.
        return None
    try:
        return produce_codec.decode_request(frame, position, end, version, PRODUCE_ELEMENTS_AT_ONCE)
    except TooManyElements:
        return None


def decode(frame: memoryview, position: int, end: int, version: int) -> ProduceRequest:
    """Decode a request whose frame outlives it. Raises FrameError."""
    request = produce_codec.decode_request(frame, position, end, version)
    request.is_owned = True
    return request


async def handle(context: RequestContext, request: ProduceRequest) -> ProduceResults | None:
    """Check and append the batches, and return the response when they are safe; None for acks=0.

    A request whose records are still in the receive buffer waits for nothing before it has copied them.
    Raises FrameError for a refused batch with acks=0, to close the connection.
    """
    if request.head and request.transactional_id is None and context.node.authorizer is None:
        keep_route(context, request)
    responses: list[tuple[bytes, list[PartitionResponse]]] = []
    unsafe: list[Unsafe] = []
    size = context.size
    try:
        unsafe = await _check_and_append(context, request, responses)
    except RequestRefused as error:
        responses = _refuse_all(request, error)
    await _record_refused(context, request, responses)
    if request.is_owned:
        # The request is in the journal already, without its decisions.
        context.node.report_applied_later(context, size)
    if request.acks == ACKS_NONE:
        for _, append in unsafe:
            if append.partition.flusher is not None:
                append.partition.flusher.flush_soon()
        _check_unacknowledged(responses)
        return None
    if await _are_safe(context, request, unsafe):
        return ProduceResults(responses)
    return ProduceResults(taken_back(responses))


async def _check_and_append(
    context: RequestContext, request: ProduceRequest, responses: list[tuple[bytes, list[PartitionResponse]]]
) -> list[Unsafe]:
    """Append what passes the checks, and return what the response waits for. Raises RequestRefused."""
    are_plain = context.api_version >= produced_records.ZSTD_VERSION_MIN and _are_plain(request)
    if not are_plain:
        _check_first_batches(context, request)
    accepted = await _accept_all(context, request, responses)
    if not are_plain and context.rules.verifies_transactions:
        accepted = join_transaction(context, request.transactional_id, accepted)
    return await _append_all(context, request, accepted) if accepted else []


async def _are_safe(context: RequestContext, request: ProduceRequest, unsafe: list[Unsafe]) -> bool:
    """Wait until each batch is safe or its response failed. Return whether the coordinator's records are safe too."""
    # Both waits begin now, because later requests of the connection are handled meanwhile.
    safe = when_batches_safe(context, request.timeout_ms, unsafe, lambda: True) if unsafe else None
    joined = None
    if request.transactional_id is not None:
        joined = partitions_flushed(context.node.coordinators, request.transactional_id)
    if safe is not None:
        await safe
    return joined is None or not await joined


async def _accept_all(
    context: RequestContext, request: ProduceRequest, responses: list[tuple[bytes, list[PartitionResponse]]]
) -> list[Accepted]:
    """Add a response for each partition to responses, and return the batches that pass the checks of the request."""
    accepted: list[Accepted] = []
    for key, partitions in request.topics:
        if not partitions:
            continue  # Kafka builds the response by partition, so a topic without any is not in it.
        topic = find_topic(context, key)
        is_denied = not _may_write(context, key, topic)
        answers: list[PartitionResponse] = []
        responses.append((key, answers))
        for asked in partitions:
            if is_denied:
                denied = KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
                answers.append(refuse(PartitionResponse(asked[0]), denied))
            elif context.api_version < TRANSACTIONAL_ID_SINCE:
                answers.append(await _accept_message_set(context, topic, *asked, accepted))
            else:
                answers.append(_accept(context, topic, *asked, accepted))
            if request.is_owned:
                await step()
    return accepted


def _refuse_all(request: ProduceRequest, error: RequestRefused) -> list[tuple[bytes, list[PartitionResponse]]]:
    return [
        (key, [refuse(PartitionResponse(index), error) for index, _ in partitions])
        for key, partitions in request.topics
        if partitions
    ]


def _are_plain(request: ProduceRequest) -> bool:
    """Whether the records of every partition are one plain batch, which needs no check before the log's."""
    for _, partitions in request.topics:
        for _, records in partitions:
            if records is None or not produced_records.is_plain_batch(records):
                return False
    return True


def _check_first_batches(context: RequestContext, request: ProduceRequest) -> None:
    """Check the first batch of every partition. Raises RequestRefused, and FrameError to close the connection."""
    transactional_id, answers_malformed = request.transactional_id, context.rules.answers_malformed_records
    for key, partitions in request.topics:
        for index, records in partitions:
            if not answers_malformed and not produced_records.has_whole_batch(records):
                raise FrameError(f"the records of {key!r} partition {index} have no whole batch")
            if not produced_records.has_transactional_batch(records):
                continue
            if transactional_id is None or not permits(
                context, AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID, transactional_id
            ):
                raise RequestRefused(
                    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
                    f"a transactional batch with the transactional id {transactional_id}",
                )


def _may_write(context: RequestContext, key: bytes, topic: TopicImage | None) -> bool:
    """Return whether the client may write to a topic. One without a name is not denied, but unknown."""
    if context.node.authorizer is None:
        return True
    if topic is None and context.api_version >= produce_codec.TOPIC_IDS_SINCE:
        return True
    name = key.decode(errors="replace") if topic is None else topic.name
    return permits(context, AclOperation.WRITE, ResourceType.TOPIC, name)


async def _accept_message_set(
    context: RequestContext,
    topic: TopicImage | None,
    index: int,
    records: memoryview | None,
    accepted: list[Accepted],
) -> PartitionResponse:
    """Do as _accept with the batch that the message set of a partition becomes."""
    found: list[Accepted] = []
    response = _accept(context, topic, index, records, found)
    for _, partition, message_set in found:
        try:
            batch = await requests.message_sets.produced_batch(message_set)
        except KafkaError as error:
            return refuse(response, as_in_release(context, error))
        if batch is not None:
            accepted.append((response, partition, batch))
    return response


def _accept(
    context: RequestContext,
    topic: TopicImage | None,
    index: int,
    records: memoryview | None,
    accepted: list[Accepted],
) -> PartitionResponse:
    """Return the partition's response. A batch that passes the checks of the request is added to accepted."""
    response = PartitionResponse(index)
    try:
        if topic is None and context.api_version >= produce_codec.TOPIC_IDS_SINCE:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_ID)
        partition = None if topic is None else context.node.replicas.find_partition(topic.topic_id, index)
        if partition is None:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        partition.check_leader()
        if records is None and not context.rules.ignores_null_records:
            response.log_start_offset = partition.log.log_start_offset
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "the records are null")
        if records is None or context.api_version >= TRANSACTIONAL_ID_SINCE:
            batch = produced_records.check_produced_records(records, context.api_version)
        else:
            batch = records
    except RequestRefused:
        raise
    except KafkaError as error:
        if topic is not None and context.api_version >= produce_codec.CURRENT_LEADER_SINCE:
            response.current_leader = find_leader_after(error.code, context, topic.topic_id, index)
        return refuse(response, as_in_release(context, error))
    accepted.append((response, partition, batch))
    return response


async def _append_all(context: RequestContext, request: ProduceRequest, accepted: list[Accepted]) -> list[Unsafe]:
    """Append the accepted batches, and return those that the response waits for."""
    unsafe: list[Unsafe] = []
    if request.acks not in ACKS_ALLOWED:
        refusal = KafkaError(ErrorCode.INVALID_REQUIRED_ACKS, f"acks {request.acks}; allowed: {ACKS_ALLOWED}")
        for response, _, _ in accepted:
            refuse(response, refusal)
        return unsafe
    for response, partition, records in accepted:
        if is_internal_topic(partition.topic_name) and context.client_id != ADMIN_CLIENT_ID:
            refuse(response, KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION))
            continue
        try:
            result = await _append_one(context, request, accepted, partition, records)
            fill_in(context, partition, response, result)
            waiting = find_unsafe(partition, result.last_offset + 1, acks_all=request.acks == ACKS_ALL)
            if waiting is not None:
                unsafe.append((response, waiting))
        except AppendRefused as error:
            error.header = find_header(records)
            refuse_append(context, partition, response, error)
        except Exception:
            # As in Kafka, an internal error on one partition does not affect the other partitions.
            logger.exception("an append to %s-%d failed", partition.topic_name, partition.index)
            response.error_code = ErrorCode.UNKNOWN_SERVER_ERROR
    return unsafe


async def _append_one(
    context: RequestContext,
    request: ProduceRequest,
    accepted: list[Accepted],
    partition: Partition,
    records: memoryview,
) -> AppendResult:
    """Append a batch, which is validated in a thread if that takes long. Raises AppendRefused."""
    if request.is_owned:
        await step()
    if request.acks == ACKS_ALL:
        partition.check_in_sync()
        if not context.rules.limits_min_isr and partition.has_too_few_replicas:
            raise _refusal_of_replicas(partition)
    try:
        return partition.append(records, context.now_ms, None, context.node.clock.ahead_ms)
    except LongValidation:
        if not request.is_owned:
            records = memoryview(bytes(records))
            _own(request, accepted)
    ahead_ms = context.node.clock.ahead_ms
    validate = partial(partition.log.validate_in_thread, records, context.now_ms, let_others_run, ahead_ms=ahead_ms)
    validated = await in_thread(validate)
    if partition.is_deleted:
        raise AppendRefused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "its topic was deleted meanwhile")
    if not partition.is_leader:
        raise AppendRefused(ErrorCode.NOT_LEADER_OR_FOLLOWER, "another node leads the partition now")
    return partition.append(records, context.now_ms, validated, ahead_ms)


def _refusal_of_replicas(partition: Partition) -> AppendRefused:
    """Return the refusal of a batch with acks=all that can never be in enough replicas."""
    log = partition.log
    message = f"{log.topic_partition} has fewer replicas than min.insync.replicas, {log.config.min_insync_replicas}"
    return AppendRefused(ErrorCode.NOT_ENOUGH_REPLICAS, message, log_start_offset=log.log_start_offset)


def _own(request: ProduceRequest, accepted: list[Accepted]) -> None:
    """Copy the records, before the receive buffer is used for others. The lists stay the same, with other elements."""
    accepted[:] = [(response, partition, memoryview(bytes(batch))) for response, partition, batch in accepted]
    for _, partitions in request.topics:
        partitions[:] = [
            (index, None if records is None else memoryview(bytes(records))) for index, records in partitions
        ]
    request.is_owned = True


async def _record_refused(
    context: RequestContext, request: ProduceRequest, responses: list[tuple[bytes, list[PartitionResponse]]]
) -> None:
    """Record the decisions on the batches that were refused before they reached a log."""
    refused = [(key, response) for key, partitions in responses for response in partitions if response.error_code]
    if not refused:
        return
    records_of = {(key, index): records for key, partitions in request.topics for index, records in partitions}
    decided = {(topic, index) for topic, index, _ in context.batches or ()}
    for key, response in refused:
        if request.is_owned:
            await step()
        topic = find_topic(context, key)
        name = _name_of(context, key) if topic is None else topic.name
        if (name, response.index) not in decided:
            error = AppendRefused(ErrorCode(response.error_code), response.error_message or "")
            records = records_of[key, response.index]
            if records is not None and produced_records.is_plain_batch(records):
                error.header = find_header(records)
            context.decide(name, response.index, error)


def _name_of(context: RequestContext, key: bytes) -> str:
    """Return the name or id that the request uses for an unknown topic."""
    return uuid_text(key) if context.api_version >= produce_codec.TOPIC_IDS_SINCE else key.decode(errors="replace")


def _check_unacknowledged(responses: list[tuple[bytes, list[PartitionResponse]]]) -> None:
    """Raise FrameError for a refused batch with acks=0, to close the connection (Kafka: sendResponseCallback)."""
    for key, partitions in responses:
        for partition in partitions:
            if partition.error_code != ErrorCode.NONE:
                code = ErrorCode(partition.error_code)
                raise FrameError(f"acks=0, and {code.name} for {key!r} partition {partition.index}")
