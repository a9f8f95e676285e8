"""InitProducerId (22), versions 0-5.

Left out: version 6 (two-phase commit), which Kafka serves with unstable.api.versions.enable only.
With a data folder each block of ids is saved before its first id is allocated. If that fails, the error is
COORDINATOR_LOAD_IN_PROGRESS, as in a Kafka broker without a block, and clients retry.
v2 flexible; v3 producer id and epoch (KIP-360); v4 PRODUCER_FENCED; v5 TRANSACTION_ABORTABLE.
Source: KafkaApis.handleInitProducerIdRequest and TransactionCoordinator.handleInitProducerId, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ....protocol.produced_records import TransactionalProducer
from ...coordinators.transaction.transaction_check import error_code_for_version
from ...requests.flushed_response import after_flush
from ...requests.request_context import NodeServices, RequestContext
from ...runtime.deferred import Deferred
from ...runtime.long_work import Step

if TYPE_CHECKING:
    from ...coordinators.transaction.transaction_coordinator import TransactionCoordinator

NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1
FENCED_SINCE = 4

Response = InitProducerIdResponse | Coroutine[Step, object, InitProducerIdResponse]


def handle(context: RequestContext, request: InitProducerIdRequest) -> Response:
    """Allocate a new producer id, or increment the epoch of a transactional id."""
    if (request.producer_id == NO_PRODUCER_ID) != (request.producer_epoch == NO_PRODUCER_EPOCH):
        return _error_response(ErrorCode.INVALID_REQUEST)
    if request.transactional_id == "":
        return _error_response(ErrorCode.INVALID_REQUEST)
    node, api_version = context.node, context.api_version
    if request.transactional_id is None:
        return _respond_with_ids(node, lambda: _allocate(node))
    # A request that waits for a block of ids must not reach the coordinator of a later start or reset.
    transactions = node.coordinators.transactions
    return _respond_with_ids(node, lambda: _init_transactional(transactions, request, api_version))


def _respond_with_ids(node: NodeServices, respond: Callable[[], Response]) -> Response:
    """Call respond. If it needs a new block of ids, call it again when the block is saved or could not be saved."""
    if not node.reaches_controller and node.controller.producer_ids.is_used_up(node.node_id):
        # Older clients do not retry after REQUEST_TIMED_OUT.
        return _error_response(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    first = respond()
    if isinstance(first, Coroutine) or first.error_code != ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
        return first
    node.controller.claim_producer_ids(node.replicas.node_id)
    return _respond_when_saved(node.controller.saved(), respond)


async def _respond_when_saved(
    saved: Deferred[KafkaError | None], respond: Callable[[], Response]
) -> InitProducerIdResponse:
    await saved
    response = respond()
    return await response if isinstance(response, Coroutine) else response


def _allocate(node: NodeServices) -> InitProducerIdResponse:
    """Respond to a producer without a transactional id."""
    producer_id = node.controller.producer_ids.generate(node.replicas.node_id)
    if producer_id is None:
        return _error_response(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)


def _init_transactional(
    transactions: TransactionCoordinator, request: InitProducerIdRequest, api_version: int
) -> Response:
    """Respond to a producer with a transactional id."""
    expected = None
    if request.producer_id != NO_PRODUCER_ID:
        expected = TransactionalProducer(request.producer_id, request.producer_epoch)
    try:
        producer = transactions.init_producer(request.transactional_id or "", request.transaction_timeout_ms, expected)
    except KafkaError as error:
        response = _error_response(error_code_for_version(error.code, api_version, fenced_since=FENCED_SINCE))
    else:
        response = InitProducerIdResponse(producer_id=producer.producer_id, producer_epoch=producer.producer_epoch)
    return after_flush(transactions.flushed(), response, _error_response)


def _error_response(error: ErrorCode) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=error, producer_id=NO_PRODUCER_ID, producer_epoch=NO_PRODUCER_EPOCH)
