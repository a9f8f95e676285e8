"""ListTransactions (66), versions 0-2.

v1 duration filter; v2 pattern of transactional ids (RE2), which must match the whole id.
Source: KafkaApis.handleListTransactionsRequest, TransactionStateManager.listTransactionStates, Kafka 4.3.0.
"""

from __future__ import annotations

from ....protocol.error_codes import ErrorCode
from ....protocol.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse, TransactionState
from ...coordinators.consumer.topic_regex import InvalidRegexError, TopicRegex
from ...coordinators.transaction.transaction_metadata import STATE_NAMES, TransactionMetadata
from ...requests.request_context import ApiHandler, RequestContext


def handle(context: RequestContext, request: ListTransactionsRequest) -> ListTransactionsResponse:
    """List the transactional ids that pass every filter."""
    try:
        pattern = TopicRegex(request.transactional_id_pattern) if request.transactional_id_pattern else None
    except InvalidRegexError:
        return ListTransactionsResponse(error_code=ErrorCode.INVALID_REGULAR_EXPRESSION)
    now_ms = context.now_ms
    listed = [
        each for each in context.node.coordinators.transactions.list_all() if _passes(each, request, pattern, now_ms)
    ]
    return ListTransactionsResponse(
        unknown_state_filters=[name for name in request.state_filters if name not in STATE_NAMES.values()],
        transaction_states=[
            TransactionState(
                transactional_id=each.transactional_id,
                producer_id=each.producer_id,
                transaction_state=each.state_name,
            )
            for each in listed
        ],
    )


def _passes(
    metadata: TransactionMetadata, request: ListTransactionsRequest, pattern: TopicRegex | None, now_ms: int
) -> bool:
    if request.producer_id_filters and metadata.producer_id not in request.producer_id_filters:
        return False
    if request.state_filters and metadata.state_name not in request.state_filters:
        return False
    # Without a transaction start_ms is -1, so that the id passes every duration filter.
    if request.duration_filter >= 0 and now_ms - metadata.start_ms <= request.duration_filter:
        return False
    return pattern is None or pattern.matches(metadata.transactional_id)


HANDLER = ApiHandler(ListTransactionsRequest.read, handle)
