"""A reset of the data ends everything that was received before it, wherever the request waits."""

from __future__ import annotations

import asyncio
from errno import EIO
from pathlib import Path
from typing import Literal

import pytest

from fauxka.admin.operations.reset_operations import reset_data
from fauxka.storage.file_systems.os_file_system import OsFileSystem

from ..broker.long_requests import create_topics, describe_configs
from ..broker.running_node import wait_until
from ..broker.steered_file_system import SteeredFileSystem
from ..broker.topic_client import TOPIC, TopicClient
from ..wire.wire_connection import WireConnection
from .test_long_produce import TOPIC as LONG_TOPIC
from .test_long_produce import long_batch, produce
from .transports import Broker

Scope = Literal["data", "all"]
SCOPES: tuple[Scope, ...] = ("data", "all")
SECONDS_MAX = 20.0
DAY_MS = 86_400_000
# Each append is flushed before its response.
FLUSHED = {"log.flush.interval.messages": "1"}
# More turns of the event loop than a connection and its first request need.
TURNS_MAX = 8
# Takes several slices of the event loop.
TOPICS_OF_LONG_REQUEST = 5_000


def create_topic(broker: Broker, name: str = TOPIC) -> None:
    broker.call(lambda: broker.cluster.controller.create_topic(name, 1))


def appended(broker: Broker) -> int:
    """Return the number of records that were appended to the topic, deleted ones included."""
    return broker.call(lambda: broker.cluster.node.replicas.partition_of(TOPIC, 0).log.log_end_offset)


def has_waiting_fetch(broker: Broker) -> bool:
    return broker.call(lambda: broker.cluster.node.replicas.partition_of(TOPIC, 0).has_waiting)


@pytest.mark.parametrize("scope", SCOPES)
def test_a_request_behind_a_waiting_fetch_is_not_applied(scope: Scope) -> None:
    with Broker() as broker, TopicClient(broker.bootstrap_servers) as client:
        create_topic(broker)
        client.send_fetch(max_wait_ms=60_000)
        client.send_produce(0, acks=0)
        wait_until(lambda: has_waiting_fetch(broker))

        broker.reset(scope)

        create_topic(broker)
        assert client.wire.is_closed()
        assert appended(broker) == 0


def test_a_waiting_fetch_leaves_no_fetch_session() -> None:
    with Broker() as broker, TopicClient(broker.bootstrap_servers) as client:
        create_topic(broker)
        client.send_fetch(max_wait_ms=60_000, session=(0, 0))
        wait_until(lambda: has_waiting_fetch(broker))

        broker.reset("data")

        assert client.wire.is_closed()
        assert broker.call(lambda: len(broker.cluster.node.fetch_sessions)) == 0


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("kind", ["hold", "hang", "delay"])
@pytest.mark.parametrize("point", ["received", "applied"])
def test_a_request_that_a_fault_holds_is_not_applied(scope: Scope, kind: str, point: str) -> None:
    with Broker() as broker, TopicClient(broker.bootstrap_servers) as client:
        create_topic(broker)
        action = {"kind": kind, **({"ms": DAY_MS} if kind == "delay" else {})}
        rule = broker.faults.add({"match": {"api": "Produce"}, "point": point, "action": action})
        client.send_produce(0)
        rule.await_hits(1)

        broker.reset(scope)

        create_topic(broker)
        broker.clock.advance(2 * DAY_MS)
        assert client.wire.is_closed()
        assert (broker.held.list(), appended(broker)) == ([], 0)


def test_a_reset_of_data_keeps_the_rules() -> None:
    with Broker() as broker:
        broker.faults.lost_ack(times=None)

        broker.reset("data")

        assert [rule.name for rule in broker.faults.rules] == ["lost ack"]


@pytest.mark.parametrize("scope", SCOPES)
def test_a_batch_that_is_validated_in_a_thread_is_not_applied(scope: Scope) -> None:
    name = LONG_TOPIC.decode()
    with Broker() as broker, WireConnection(broker.bootstrap_servers) as client:
        create_topic(broker, name)
        client.send(produce(long_batch(0), acks=0))
        wait_until(lambda: broker.journal.count(api="Produce") == 1)

        broker.reset(scope)

        create_topic(broker, name)
        with WireConnection(broker.bootstrap_servers) as later:
            # The thread validates one batch after the other.
            later.send(produce(long_batch(7)))
            later.receive_frame()
        assert broker.verdict(name).batches.appended_once == 1
        assert broker.producers.list(name)[0].next_sequence == 8


@pytest.mark.deep
@pytest.mark.slice
def test_a_long_request_ends_with_the_reset() -> None:
    def topics() -> int:
        return broker.call(lambda: len(broker.cluster.image.topics))

    with Broker() as broker, WireConnection(broker.bootstrap_servers) as client:
        client.send(create_topics(TOPICS_OF_LONG_REQUEST))
        wait_until(lambda: topics() > 0)

        broker.reset("data")

        assert client.receive_until_closed() == b""
        with WireConnection(broker.bootstrap_servers) as later:
            # Long requests share the slices of the event loop.
            later.send(describe_configs(TOPICS_OF_LONG_REQUEST))
            later.receive_frame()
        assert topics() == 0


@pytest.mark.parametrize("turns", range(TURNS_MAX))
def test_a_connection_that_is_being_accepted_is_closed(turns: int) -> None:
    with Broker() as broker:
        address = broker.bootstrap_servers

        async def connect_and_reset() -> TopicClient:
            # On the broker's own thread: the system accepts the connection and its bytes, and the broker has not yet.
            client = TopicClient(address)
            client.send_produce(0)
            for _ in range(turns):
                await asyncio.sleep(0)
            reset_data(broker.control)
            broker.cluster.controller.create_topic(TOPIC, 1)
            return client

        create_topic(broker)
        loop = broker.call(asyncio.get_running_loop)
        with asyncio.run_coroutine_threadsafe(connect_and_reset(), loop).result(SECONDS_MAX) as client:
            client.wire.receive_until_closed()
        assert appended(broker) == 0


def test_a_response_that_was_pending_is_not_counted_for_the_new_topic() -> None:
    with Broker() as broker, TopicClient(broker.bootstrap_servers) as client:
        create_topic(broker)
        rule = broker.faults.held("applied", api="Produce")
        client.send_produce(0)
        rule.await_hits(1)

        broker.reset("data")

        create_topic(broker)
        assert client.wire.is_closed()
        with TopicClient(broker.bootstrap_servers) as later:
            later.produce(0)
        verdict = broker.verdict(TOPIC)
        assert (verdict.batches.appended_once, verdict.batches.stored_unacknowledged) == (1, 0)
        assert verdict.findings == []
        held = broker.journal.entries(api="Produce")[0]
        assert (held.answer, held.batches[0].decision) == ("not_written", "appended")


def test_a_flush_that_fails_after_the_reset_is_not_counted_for_the_new_topic(tmp_path: Path) -> None:
    files = SteeredFileSystem(OsFileSystem(tmp_path))
    with Broker(FLUSHED, file_system=files) as broker, TopicClient(broker.bootstrap_servers) as client:
        create_topic(broker)
        files.hold_syncs()
        client.send_produce(0)
        assert files.sync_began.wait(SECONDS_MAX)

        broker.reset("data")
        files.sync_error = OSError(EIO, "the disk is gone")
        files.release_syncs()
        wait_until(lambda: broker.call(lambda: broker.cluster.node.replicas.disk_executor.is_idle))

        files.sync_error = None
        create_topic(broker)
        assert broker.verdict(TOPIC).findings == []


@pytest.mark.parametrize("scope", SCOPES)
def test_connections_are_closed_and_new_ones_are_served(scope: Scope) -> None:
    with Broker() as broker, TopicClient(broker.bootstrap_servers) as client:
        create_topic(broker)
        client.produce(0)

        broker.reset(scope)

        create_topic(broker)
        assert client.wire.is_closed()
        with TopicClient(broker.bootstrap_servers) as later:
            assert later.produce(0).base_offset == 0


@pytest.mark.parametrize("scope", ["faults", "journal"])
def test_other_scopes_keep_the_connections(scope: Literal["faults", "journal"]) -> None:
    with Broker() as broker, TopicClient(broker.bootstrap_servers) as client:
        create_topic(broker)
        client.produce(0)

        broker.reset(scope)

        assert client.produce(1).base_offset == 1
