"""DescribeTransactions (65), version 0.

Source: KafkaApis.handleDescribeTransactionsRequest, TransactionCoordinator.handleDescribeTransactions, Kafka 4.3.0.
"""

from __future__ import annotations

from functools import partial

from ....protocol.error_codes import KafkaError
from ....protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TopicData,
    TransactionState,
)
from ...requests.permissions import may_describe_topic
from ...requests.request_context import RequestContext
from ...runtime.long_work import for_each


async def handle(context: RequestContext, request: DescribeTransactionsRequest) -> DescribeTransactionsResponse:
    """Return the state of each transactional id."""
    states = await for_each(partial(_describe, context), request.transactional_ids)
    return DescribeTransactionsResponse(transaction_states=states)


def _describe(context: RequestContext, transactional_id: str) -> TransactionState:
    try:
        metadata = context.node.coordinators.transactions.describe(transactional_id)
    except KafkaError as error:
        return TransactionState(transactional_id=transactional_id, error_code=error.code)
    topics: dict[str, TopicData] = {}
    for topic, index in metadata.partitions:
        if may_describe_topic(context, topic):
            topics.setdefault(topic, TopicData(topic=topic)).partitions.append(index)
    return TransactionState(
        transactional_id=transactional_id,
        transaction_state=metadata.state_name,
        transaction_timeout_ms=metadata.timeout_ms,
        transaction_start_time_ms=_shown(metadata.start_ms, context.node.clock.skew_ms),
        producer_id=metadata.producer_id,
        producer_epoch=metadata.producer_epoch,
        topics=list(topics.values()),
    )


def _shown(start_ms: int, skew_ms: int) -> int:
    """Return the start of a transaction by the clock that clients see; -1 (no transaction) stays."""
    return start_ms + skew_ms if start_ms >= 0 else start_ms
