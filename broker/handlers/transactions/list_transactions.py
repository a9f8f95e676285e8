"""ListTransactions (66), versions 0-2.

v1 duration filter; v2 pattern of transactional ids (RE2), which must match the whole id.
Source: KafkaApis.handleListTransactionsRequest, TransactionStateManager.listTransactionStates, Kafka 4.3.0.
"""

from __future__ import annotations

from ....protocol.acl_types import AclOperation, ResourceType
from ....protocol.error_codes import ErrorCode
from ....protocol.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse, TransactionState
from ...coordinators.consumer.topic_regex import InvalidRegexError, RegexSearch, TopicRegex
from ...coordinators.transaction.transaction_metadata import STATE_NAMES, TransactionMetadata
from ...requests.permissions import permits
from ...requests.request_context import RequestContext
from ...runtime.deferred import Deferred


def handle(
    context: RequestContext, request: ListTransactionsRequest
) -> ListTransactionsResponse | Deferred[ListTransactionsResponse]:
    """List the transactional ids that pass every filter, and that the client may describe."""
    pattern, now_ms = request.transactional_id_pattern, context.node.clock.steady_ms()
    response = ListTransactionsResponse(
        unknown_state_filters=[name for name in request.state_filters if name not in STATE_NAMES.values()],
        transaction_states=[
            TransactionState(
                transactional_id=each.transactional_id,
                producer_id=each.producer_id,
                transaction_state=each.state_name,
            )
            for each in context.node.coordinators.transactions.list_all()
            if _passes(each, request, now_ms)
            and permits(context, AclOperation.DESCRIBE, ResourceType.TRANSACTIONAL_ID, each.transactional_id)
        ],
    )
    if not pattern:
        return response
    try:
        TopicRegex(pattern)
    except InvalidRegexError:
        return ListTransactionsResponse(error_code=ErrorCode.INVALID_REGULAR_EXPRESSION)
    return _matching(response, pattern)


def _passes(metadata: TransactionMetadata, request: ListTransactionsRequest, now_ms: int) -> bool:
    """Whether the transaction passes all filters but the pattern."""
    if request.producer_id_filters and metadata.producer_id not in request.producer_id_filters:
        return False
    if request.state_filters and metadata.state_name not in request.state_filters:
        return False
    # Without a transaction start_ms is -1, so that the id passes every duration filter.
    return request.duration_filter < 0 or now_ms - metadata.start_ms > request.duration_filter


def _matching(
    response: ListTransactionsResponse, pattern: str
) -> ListTransactionsResponse | Deferred[ListTransactionsResponse]:
    """Return the response with only those transactions whose id matches the pattern."""
    search = RegexSearch([pattern], [each.transactional_id for each in response.transaction_states])
    deferred = Deferred[ListTransactionsResponse]()

    def complete() -> None:
        matched = set(search.matched[pattern])
        response.transaction_states = [each for each in response.transaction_states if each.transactional_id in matched]
        deferred.complete(response)

    search.run(complete, lambda: not deferred.is_done)
    return deferred.response() or deferred
