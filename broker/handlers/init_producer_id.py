"""InitProducerId (22), versions 0-5.

Left out: transactional ids, which are answered with UNSUPPORTED_VERSION after the checks that need no coordinator.
With a data folder each block of ids is written down before the first of it is given; where that fails, the answer is
COORDINATOR_LOAD_IN_PROGRESS, as it is in Kafka while a broker has no block, and clients ask again.
v2 flexible; v3 producer id and epoch (KIP-360); v4 PRODUCER_FENCED; v5 TRANSACTION_ABORTABLE.
Source: KafkaApis.handleInitProducerIdRequest and TransactionCoordinator.handleInitProducerId, Kafka 4.3.0.
"""

from __future__ import annotations

from ...protocol.error_codes import ErrorCode
from ...protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ..cluster import Cluster
from ..request_context import ApiHandler, Deferred, RequestContext

NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1


def handle(
    context: RequestContext, request: InitProducerIdRequest
) -> InitProducerIdResponse | Deferred[InitProducerIdResponse]:
    """Give a producer id that was never given before, with epoch 0."""
    error = _refusal(context, request)
    if error is not ErrorCode.NONE:
        return _refused(error)
    cluster = context.cluster
    producer_id = cluster.producer_ids.generate()
    if producer_id is not None:
        return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)
    cluster.claim_producer_ids()
    return cluster.when_saved(lambda _: _given_if_any(cluster))


def _given_if_any(cluster: Cluster) -> InitProducerIdResponse:
    """Answer with an id of the block that was to be saved, which may have failed."""
    producer_id = cluster.producer_ids.generate()
    if producer_id is None:
        return _refused(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)


def _refused(error: ErrorCode) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=error, producer_id=NO_PRODUCER_ID, producer_epoch=NO_PRODUCER_EPOCH)


def _refusal(context: RequestContext, request: InitProducerIdRequest) -> ErrorCode:
    """Return why the request is refused, NONE where it is not; in Kafka's order of checks."""
    if (request.producer_id == NO_PRODUCER_ID) != (request.producer_epoch == NO_PRODUCER_EPOCH):
        return ErrorCode.INVALID_REQUEST
    if request.transactional_id is None:
        return ErrorCode.NONE
    if not request.transactional_id:
        return ErrorCode.INVALID_REQUEST
    if not 0 < request.transaction_timeout_ms <= context.cluster.config.transaction_max_timeout_ms:
        return ErrorCode.INVALID_TRANSACTION_TIMEOUT
    return ErrorCode.UNSUPPORTED_VERSION


HANDLER = ApiHandler(InitProducerIdRequest.read, handle)
