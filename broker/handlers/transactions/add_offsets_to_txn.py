"""AddOffsetsToTxn (25), versions 0-4: adds a group's partition of __consumer_offsets to a transaction.

v2 PRODUCER_FENCED; v3 flexible; v4 TRANSACTION_ABORTABLE.
Source: KafkaApis.handleAddOffsetsToTxnRequest, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Coroutine

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from ...coordinators.internal_topics import INTERNAL_TOPICS, CoordinatorType, expected_index_of_key
from ...coordinators.transaction.transaction_check import error_code_for_version
from ...requests.flushed_response import after_flush
from ...requests.request_context import RequestContext
from ...runtime.long_work import Step

FENCED_SINCE = 2
# Clients of this API have transaction version 0.
OLD_CLIENT = 0


def handle(
    context: RequestContext, request: AddOffsetsToTxnRequest
) -> AddOffsetsToTxnResponse | Coroutine[Step, object, AddOffsetsToTxnResponse]:
    """Add the group's partition to the transaction."""
    node = context.node
    index = expected_index_of_key(node.image, CoordinatorType.GROUP, request.group_id)
    partition = (INTERNAL_TOPICS[CoordinatorType.GROUP].name, index)
    transactions = node.coordinators.transactions
    try:
        transactions.add(
            request.transactional_id,
            request.producer_id,
            request.producer_epoch,
            [partition],
            client_version=OLD_CLIENT,
        )
    except KafkaError as error:
        return _error_response(error_code_for_version(error.code, context.api_version, fenced_since=FENCED_SINCE))
    return after_flush(transactions.flushed(), AddOffsetsToTxnResponse(), _error_response)


def _error_response(code: ErrorCode) -> AddOffsetsToTxnResponse:
    return AddOffsetsToTxnResponse(error_code=code)
