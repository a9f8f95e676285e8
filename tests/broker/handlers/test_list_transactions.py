"""ListTransactions with a pattern: the response of a cheap one is complete at once, that of a costly one later."""

from __future__ import annotations

import asyncio

import pytest

from fauxka.broker.cluster import Cluster
from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.handlers.transactions import list_transactions
from fauxka.broker.network.listeners import Listener
from fauxka.broker.requests.connection_info import ConnectionInfo
from fauxka.broker.requests.request_context import RequestContext
from fauxka.broker.runtime.deferred import Deferred
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse

from ...manual_clock import manual_clock

SECONDS_MAX = 60.0
TIMEOUT_MS = 60_000
COSTLY = "(a?){1000}(a?){1000}a{200}"


def context_of(*transactional_ids: str) -> RequestContext:
    """Return the context of a request to a cluster that has these transactional ids."""
    cluster = Cluster(BrokerConfig.from_entries({}), clock=manual_clock())
    cluster.controller.create_topic("__transaction_state", 1)
    for transactional_id in transactional_ids:
        cluster.node.coordinators.transactions.init_producer(transactional_id, TIMEOUT_MS, None)
    return RequestContext(cluster.node, ConnectionInfo(1, Listener("PLAINTEXT", "127.0.0.1", 9092, "127.0.0.1", 9092)))


def ids_of(response: ListTransactionsResponse) -> list[str]:
    """Return the transactional ids of a response."""
    return [each.transactional_id for each in response.transaction_states]


def test_the_pattern_must_match_the_whole_id() -> None:
    context = context_of("a", "ab", "b")

    response = list_transactions.handle(context, ListTransactionsRequest(transactional_id_pattern="a|b"))

    assert isinstance(response, ListTransactionsResponse)
    assert ids_of(response) == ["a", "b"]


def test_an_invalid_pattern_is_refused() -> None:
    response = list_transactions.handle(context_of("a"), ListTransactionsRequest(transactional_id_pattern="a**"))

    assert isinstance(response, ListTransactionsResponse)
    assert response.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION


@pytest.mark.asyncio
async def test_the_response_of_a_costly_pattern_is_complete_later() -> None:
    """An id may have 32,767 characters, so that a single match takes seconds."""
    matching, other = "a" * 203, "a" * 202 + "b"
    delivered: asyncio.Future[ListTransactionsResponse] = asyncio.get_running_loop().create_future()

    response = list_transactions.handle(
        context_of(matching, other), ListTransactionsRequest(transactional_id_pattern=COSTLY)
    )

    assert isinstance(response, Deferred)
    assert not response.is_done
    response.deliver_to(delivered.set_result)
    assert ids_of(await asyncio.wait_for(delivered, SECONDS_MAX)) == [matching]
