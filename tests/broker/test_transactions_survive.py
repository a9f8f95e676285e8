"""Transactions after a clean shutdown, a crash, a reset and a restored snapshot, over the wire."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from fauxka.broker.coordinators.coordinator_log import ReplayedRecord
from fauxka.broker.coordinators.internal_topics import CoordinatorType
from fauxka.broker.coordinators.transaction.end_retries import RETRY_MS
from fauxka.protocol.messages.end_txn import EndTxnResponse
from fauxka.protocol.stored_records.transaction_log_records import TransactionLogValue
from fauxka.testing import Broker

from ..manual_clock import manual_clock
from .running_node import Node
from .transactional_client import TIMEOUT_MS, TransactionalClient

# Every append is flushed before its response.
FSYNC = {"log.flush.interval.messages": "1", "transaction.state.log.num.partitions": "2"}
# The same with one log for all transactional ids.
FLUSHED = {**FSYNC, "transaction.state.log.num.partitions": "1"}
NOT_COORDINATOR = 16
CONCURRENT_TRANSACTIONS = 51
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
    with Node(folder, config=config, clock=manual_clock()) as node:
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
        client.wait_until_complete()
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


def test_a_reset_deletes_transactions_and_the_next_producer_id_is_a_new_one() -> None:
    with Node() as node:
        with connected(node) as client:
            client.create_topic("events")
            producer_id, _ = client.begin()

        node.reset()

        with connected(node) as client:
            forgotten, refused = client.state().error_code, client.init().error_code
            assert client.find_coordinator() == 0
            assert (forgotten, refused, client.state().error_code) == (NOT_COORDINATOR, NOT_COORDINATOR, NOT_FOUND)
            assert client.init().producer_id == producer_id + 1


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
    clock = manual_clock()
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


def test_no_marker_is_written_before_the_outcome_is_flushed(tmp_path: Path) -> None:
    with held_end(tmp_path, folder="__transaction_state-0") as (broker, ended):
        during = (states_of(broker), end_offset_of(broker))
        answer = result_while_time_passes(broker, ended)
        after = (states_of(broker), end_offset_of(broker))

    assert during == (["EMPTY", "ONGOING", "PREPARE_COMMIT"], 0)
    assert after == (["EMPTY", "ONGOING", "PREPARE_COMMIT", "COMPLETE_COMMIT"], 1)
    assert answer.error_code == 0


def test_a_transaction_is_not_complete_before_its_markers_are_flushed(tmp_path: Path) -> None:
    with held_end(tmp_path, folder="events-0") as (broker, ended):
        during = (states_of(broker), end_offset_of(broker))
        answer = result_while_time_passes(broker, ended)
        after = states_of(broker)

    assert during == (["EMPTY", "ONGOING", "PREPARE_COMMIT"], 1)
    assert after == ["EMPTY", "ONGOING", "PREPARE_COMMIT", "COMPLETE_COMMIT"]
    assert answer.error_code == 0


def test_another_request_while_the_markers_are_flushed_finds_the_transaction_ending(tmp_path: Path) -> None:
    with held_end(tmp_path, folder="events-0") as (broker, ended):
        with TransactionalClient(broker.bootstrap_servers) as other:
            refused = other.init().error_code
        result_while_time_passes(broker, ended)

    assert refused == CONCURRENT_TRANSACTIONS


def test_a_marker_that_cannot_be_flushed_is_written_again_before_the_completion(tmp_path: Path) -> None:
    failed = end_with_failed_flush(tmp_path, folder="events-0")

    assert failed.error_code == NOT_COORDINATOR
    assert failed.states == ["EMPTY", "ONGOING", "PREPARE_COMMIT"]
    assert failed.states_after_retry == ["EMPTY", "ONGOING", "PREPARE_COMMIT", "COMPLETE_COMMIT"]


def test_an_outcome_that_cannot_be_flushed_is_written_again_before_its_markers(tmp_path: Path) -> None:
    failed = end_with_failed_flush(tmp_path, folder="__transaction_state-0")

    assert (failed.error_code, failed.end_offset) == (NOT_COORDINATOR, 0)
    assert failed.states_after_retry == ["EMPTY", "ONGOING", "PREPARE_COMMIT", "PREPARE_COMMIT", "COMPLETE_COMMIT"]


@dataclass(frozen=True)
class FailedEnd:
    """states, end_offset: of the coordinator and of the partition, before the end is tried again."""

    error_code: int
    states: list[str]
    end_offset: int
    states_after_retry: list[str]


def end_with_failed_flush(data_dir: Path, folder: str) -> FailedEnd:
    """Commit a transaction while the first flush of the folder fails, and wait until the retry has completed it."""
    with Broker(FLUSHED, clock=manual_clock(), data_dir=data_dir) as broker:
        with TransactionalClient(broker.bootstrap_servers) as client:
            client.create_topic("events")
            producer = client.begin()
            broker.files.add(action="fail", operation="fsync", folder=folder, when={"times": 1})

            error_code = client.end(producer, is_commit=True).error_code
            states, end_offset = states_of(broker), end_offset_of(broker)
            client.wait_until_complete(lambda: broker.clock.advance(RETRY_MS))
        return FailedEnd(error_code, states, end_offset, states_of(broker))


@contextmanager
def held_end(data_dir: Path, *, folder: str) -> Generator[tuple[Broker, Future[EndTxnResponse]]]:
    """Run a broker whose transaction is committed, up to the first flush in that folder, which waits for the clock."""
    with (
        Broker(FLUSHED, clock=manual_clock(), data_dir=data_dir) as broker,
        TransactionalClient(broker.bootstrap_servers) as client,
        ThreadPoolExecutor(1) as pool,
    ):
        client.create_topic("events")
        producer = client.begin()
        rule = broker.files.add(action="slow", ms=SLOW_MS, operation="fsync", folder=folder)
        ended = pool.submit(client.end, producer, is_commit=True)
        rule.await_hits(1)
        yield broker, ended


def states_of(broker: Broker) -> list[str]:
    """Return the states in the records of __transaction_state, in the order of the log."""
    found: list[str] = []

    def apply(_: int, record: ReplayedRecord) -> None:
        found.append(TransactionLogValue.read(record.value or b"").status.name)

    coordinators = broker.cluster.node.coordinators
    broker.call(lambda: coordinators.coordinator_log(CoordinatorType.TRANSACTION).replay(apply))
    return found


def end_offset_of(broker: Broker) -> int:
    """Return the end of the log that gets the one marker of the transaction."""
    return broker.call(lambda: broker.cluster.node.replicas.partition_of("events", 0).log.log_end_offset)


def result_while_time_passes(broker: Broker, ended: Future[EndTxnResponse]) -> EndTxnResponse:
    """Advance the broker's clock until the response is there."""
    deadline = time.monotonic() + SECONDS_MAX
    while not ended.done():
        assert time.monotonic() < deadline, "no response came"
        broker.clock.advance(SLOW_MS)
    return ended.result()
