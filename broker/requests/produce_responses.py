"""The responses of Produce to a batch that was appended, refused, or is not safe yet, in the log's words."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from ...protocol import produce_codec
from ...protocol.batches.record_batch import HEADER_SIZE, MAGIC_V2, BatchHeader, parse_header
from ...protocol.error_codes import ErrorCode, KafkaError
from ...protocol.produce_codec import PartitionResponse
from ...protocol.request_refused import RequestRefused
from ...storage.append_refused import AppendRefused
from ...storage.append_result import NO_LOG_START_OFFSET, AppendResult
from ..replica.partition import Partition
from ..replica.unsafe_append import UnsafeAppend
from ..runtime.deferred import Deferred
from .advertised_endpoint import find_leader_after
from .request_context import RequestContext

Result = TypeVar("Result")

# An appended batch whose response waits.
Unsafe = tuple[PartitionResponse, UnsafeAppend]


def fill_in(context: RequestContext, partition: Partition, response: PartitionResponse, result: AppendResult) -> None:
    """Complete the response to an appended batch, or to a duplicate of one, and note the decision."""
    response.base_offset = result.base_offset
    response.log_append_time_ms = result.log_append_time_ms
    response.log_start_offset = result.log_start_offset
    context.decide(partition.topic_name, partition.index, result)
    if result.is_duplicate:
        context.node.replicas.log_decision(partition, result)


def refuse(response: PartitionResponse, error: KafkaError) -> PartitionResponse:
    """Turn a response into a refusal, and return it."""
    response.error_code = error.code
    if isinstance(error, RequestRefused):
        response.error_message = error.message_for_client
    return response


def as_in_release(context: RequestContext, error: KafkaError) -> KafkaError:
    """Return the refusal of an unlawful batch by the release of the cluster."""
    if not context.rules.has_invalid_record and error.code in (ErrorCode.INVALID_RECORD, ErrorCode.INVALID_TIMESTAMP):
        if error.code == ErrorCode.INVALID_RECORD:
            error.code = ErrorCode.CORRUPT_MESSAGE
        if isinstance(error, AppendRefused):
            error.log_start_offset = NO_LOG_START_OFFSET
    return error


def refuse_append(
    context: RequestContext, partition: Partition, response: PartitionResponse, error: AppendRefused
) -> None:
    """Turn a response into the log's refusal of its batch, and note the decision."""
    refuse(response, as_in_release(context, error))
    response.log_start_offset = error.log_start_offset
    response.record_errors = [(each.batch_index, each.message) for each in error.record_errors]
    response.error_message = error.message_for_client
    context.decide(partition.topic_name, partition.index, error)
    if error.code != ErrorCode.KAFKA_STORAGE_ERROR:  # The partition logs it once, not for each request.
        context.node.replicas.log_decision(partition, error)


def take_back(response: PartitionResponse) -> None:
    """Change the response to an append into that to an append whose flush failed."""
    response.error_code = ErrorCode.KAFKA_STORAGE_ERROR
    response.base_offset = response.log_append_time_ms = response.log_start_offset = NO_LOG_START_OFFSET


def taken_back(responses: list[tuple[bytes, list[PartitionResponse]]]) -> list[tuple[bytes, list[PartitionResponse]]]:
    """Return the responses for a transaction whose partitions could not be recorded."""
    for _, partitions in responses:
        for response in partitions:
            if not response.error_code:
                take_back(response)
    return responses


def when_batches_safe(
    context: RequestContext, timeout_ms: int, unsafe: list[Unsafe], make_result: Callable[[], Result]
) -> Deferred[Result]:
    """Return the result, pending until each batch is flushed and replicated as it must be, or its response failed."""
    version, node = context.api_version, context.node
    deferred: Deferred[Result] = Deferred(is_applied=True)
    # The id of a long request, which is in the journal already.
    deferred.request_id = context.request_id
    left = len(unsafe)

    def ended(response: PartitionResponse, partition: Partition, error_code: ErrorCode) -> None:
        nonlocal left
        if error_code is ErrorCode.KAFKA_STORAGE_ERROR:
            take_back(response)
        elif error_code:
            # The response to a batch that only this replica has names its offset.
            response.error_code = error_code
            if version >= produce_codec.CURRENT_LEADER_SINCE:
                response.current_leader = find_leader_after(error_code, context, partition.topic_id, partition.index)
        if error_code:
            node.report_unsafe(deferred.request_id, partition, error_code)
        left -= 1
        if not left:
            deferred.complete(make_result())

    for response, append in unsafe:
        append.when_safe(timeout_ms, partial(ended, response, append.partition))
    return deferred


def find_header(records: memoryview | None) -> BatchHeader | None:
    """Return the header of the batch, or None if it is too short or of another magic."""
    if records is None or len(records) < HEADER_SIZE:
        return None
    header = parse_header(records)
    return header if header.magic == MAGIC_V2 else None
