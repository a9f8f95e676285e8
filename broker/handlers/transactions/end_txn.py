"""EndTxn (26), versions 0-5.

v2 PRODUCER_FENCED; v3 flexible; v4 TRANSACTION_ABORTABLE; v5 each transaction increments the epoch (KIP-890), and the
response has the producer id and epoch for the next one.
Source: KafkaApis.handleEndTxnRequest and TransactionCoordinator.handleEndTransaction, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Coroutine

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from ....protocol.produced_records import TransactionalProducer
from ...coordinators.transaction.transaction_check import error_code_for_version
from ...requests.flushed_response import after_flush
from ...requests.request_context import RequestContext
from ...runtime.long_work import Step

FENCED_SINCE = 2
NEW_EPOCH_SINCE = 5
# The transaction versions of clients. The broker's own level has no effect here.
NEW_CLIENT = 2
OLD_CLIENT = 0


def handle(context: RequestContext, request: EndTxnRequest) -> EndTxnResponse | Coroutine[Step, object, EndTxnResponse]:
    """Commit or abort the producer's transaction."""
    transactions = context.node.coordinators.transactions
    producer = TransactionalProducer(request.producer_id, request.producer_epoch)
    client_version = NEW_CLIENT if context.api_version >= NEW_EPOCH_SINCE else OLD_CLIENT
    try:
        after = transactions.end(request.transactional_id, producer, client_version, is_commit=request.committed)
    except KafkaError as error:
        return _error_response(error_code_for_version(error.code, context.api_version, fenced_since=FENCED_SINCE))
    response = EndTxnResponse(producer_id=after.producer_id, producer_epoch=after.producer_epoch)
    return after_flush(transactions.flushed(), response, _error_response)


def _error_response(code: ErrorCode) -> EndTxnResponse:
    return EndTxnResponse(error_code=code)
