"""Transactions after a clean shutdown, a crash, a reset and a restored snapshot, over the wire."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from fauxka.protocol.messages.end_txn import EndTxnResponse
from fauxka.testing import Broker

from ..manual_clock import ManualClock
from .running_node import Node
from .transactional_client import TIMEOUT_MS, TransactionalClient

# Every append is flushed before its response.
FSYNC = {"log.flush.interval.messages": "1", "transaction.state.log.num.partitions": "2"}
NOT_COORDINATOR = 16
NOT_FOUND = 105
SLOW_MS = 60_000
# Far more than a response takes that waits for nothing.
UNANSWERED_SECONDS = 0.5
SECONDS_MAX = 20.0


def connected(node: Node) -> TransactionalClient:
    return TransactionalClient(node.address)


@pytest.fixture(params=["memory", "folder"])
def node(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Node]:
    folder = tmp_path if request.param == "folder" else None
    config = FSYNC if folder is not None else {}
    with Node(folder, config=config, clock=ManualClock()) as node:
        with node.client() as client:
            client.create_topic("events")
        yield node


def test_an_open_transaction_survives_a_crash_and_its_producer_can_end_it(node: Node) -> None:
    with connected(node) as client:
        producer = client.begin()
    node.crash()
    node.restart()

    with connected(node) as client:
        state, ended = client.state(), client.end(producer, is_commit=True)
        after = client.state()

    assert (state.transaction_state, state.producer_epoch) == ("Ongoing", 0)
    assert (ended.error_code, ended.producer_id, ended.producer_epoch) == (0, producer[0], 1)
    assert (after.transaction_state, after.producer_epoch, after.topics) == ("CompleteCommit", 1, [])


def test_the_timeout_of_an_open_transaction_continues_after_a_crash(node: Node) -> None:
    with connected(node) as client:
        client.begin()
    node.crash()
    node.restart()

    node.call(lambda: node.cluster.clock.advance(2 * TIMEOUT_MS))

    with connected(node) as client:
        assert (client.state().transaction_state, client.state().producer_epoch) == ("CompleteAbort", 1)


def test_no_epoch_is_used_twice_after_a_crash(node: Node) -> None:
    with connected(node) as client:
        assert client.find_coordinator() == 0
        first = client.init()
    node.crash()
    node.restart()

    with connected(node) as client:
        second = client.init()

    assert (second.error_code, second.producer_id, second.producer_epoch) == (0, first.producer_id, 1)


def test_transactions_survive_a_clean_shutdown(tmp_path: Path) -> None:
    with Node(tmp_path, config=FSYNC) as node, connected(node) as client:
        client.create_topic("events")
        producer = client.begin()

    with Node(tmp_path, config=FSYNC) as node, connected(node) as client:
        state, ended = client.state(), client.end(producer, is_commit=False)

        assert state.transaction_state == "Ongoing"
        assert (ended.error_code, client.state().transaction_state) == (0, "CompleteAbort")


def test_a_reset_deletes_transactions_and_the_next_ids_are_the_first_ones() -> None:
    with Node() as node, connected(node) as client:
        client.create_topic("events")
        client.begin()

        node.reset()

        forgotten, refused = client.state().error_code, client.init().error_code
        assert client.find_coordinator() == 0
        assert (forgotten, refused, client.state().error_code) == (NOT_COORDINATOR, NOT_COORDINATOR, NOT_FOUND)
        assert client.init().producer_id == 0


def test_restoring_a_snapshot_reverts_a_transaction() -> None:
    with Node() as node:
        with connected(node) as client:
            client.create_topic("events")
            producer = client.begin()
            snapshot = node.take_snapshot()
            client.end(producer, is_commit=True)

        node.restore(snapshot)

        with connected(node) as client:
            assert client.state().transaction_state == "Ongoing"
            assert client.end(producer, is_commit=False).error_code == 0


def test_the_end_of_a_transaction_is_answered_after_the_flush_of_its_markers(tmp_path: Path) -> None:
    clock = ManualClock()
    with (
        Broker(FSYNC, clock=clock, data_dir=tmp_path) as broker,
        TransactionalClient(broker.bootstrap_servers) as client,
        ThreadPoolExecutor(1) as pool,
    ):
        client.create_topic("events")
        producer = client.begin()
        rule = broker.files.add(action="slow", ms=SLOW_MS, operation="fsync", folder="events-0")

        ended = pool.submit(client.end, producer, is_commit=True)
        rule.await_hits(1)
        with pytest.raises(TimeoutError):
            ended.result(UNANSWERED_SECONDS)
        answer = result_while_time_passes(broker, ended)

    assert answer.error_code == 0


def result_while_time_passes(broker: Broker, ended: Future[EndTxnResponse]) -> EndTxnResponse:
    """Advance the broker's clock until the response is there."""
    deadline = time.monotonic() + SECONDS_MAX
    while not ended.done():
        assert time.monotonic() < deadline, "no response came"
        broker.clock.advance(SLOW_MS)
    return ended.result()
