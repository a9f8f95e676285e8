"""The reset of a running cluster."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fauxka.broker.lifecycle.cluster_reset import SeedTopic
from fauxka.broker.runtime.clock import ClockMode
from fauxka.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from fauxka.protocol.primitives import Writer

from ..wire.frames import framed, header
from ..wire.wire_connection import WireConnection
from .blocking_client import BROKER, batch
from .running_node import Node, wait_until
from .topic_client import TopicClient

SEEDS = [SeedTopic("events", 2), SeedTopic("seeded", 1)]
JOIN_GROUP, JOIN_VERSION = 11, 3


@pytest.fixture(params=["in memory", "on disk"])
def node(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Node]:
    with Node(None if request.param == "in memory" else tmp_path / "data") as node:
        yield node


def reset(node: Node) -> None:
    node.reset(SEEDS)


def test_seed_topics_are_empty_with_new_ids_and_the_others_are_deleted(node: Node) -> None:
    reset(node)
    with node.client() as client:
        client.create_topic("others", 3)
        client.produce("events", batch(b"1", producer_id=5, sequence=0))
        before = client.topic_ids()

    reset(node)

    with node.client() as client:
        assert client.partition_counts() == {"events": 2, "seeded": 1}
        assert not set(client.topic_ids().values()) & set(before.values())
        assert client.fetch("events").high_watermark == 0
        assert client.produce("events", batch(b"2", producer_id=5, sequence=0)).base_offset == 0


def test_configs_are_those_of_the_start(node: Node) -> None:
    with node.client() as client:
        client.set_config(BROKER, "", "log.retention.ms", "1234567")
        client.set_config(BROKER, "1", "message.max.bytes", "7654321")
        set_before = client.config(BROKER, "1", "message.max.bytes")

    reset(node)

    with node.client() as client:
        assert set_before == "7654321"
        assert client.config(BROKER, "1", "message.max.bytes") != "7654321"
        assert node.cluster.node.config.value_of("log.retention.ms") != 1234567


def test_no_producer_id_is_allocated_twice_by_resets_restarts_and_restored_snapshots(node: Node) -> None:
    allocated: list[int] = []

    def allocate() -> None:
        with node.client() as client:
            allocated.extend(client.producer_id() for _ in range(3))

    allocate()
    snapshot = None if node.cluster.node.replicas.is_on_disk else node.take_snapshot()
    allocate()
    reset(node)
    allocate()
    node.crash()
    node.restart()
    allocate()
    if snapshot is not None:
        node.restore(snapshot)
    allocate()

    assert allocated == sorted(set(allocated))


def test_producer_ids_continue_after_a_reset(node: Node) -> None:
    with node.client() as client:
        first = client.producer_id()

    reset(node)

    with node.client() as client:
        assert client.producer_id() == first + 1


def test_producer_ids_continue_after_a_reset_to_imported_logs(tmp_path: Path) -> None:
    with Node(tmp_path / "data") as node, node.client() as client:
        client.create_topic("events", 1)
        client.produce("events", batch(b"1", producer_id=7, sequence=0))
    with Node(import_logs=tmp_path / "data") as node:
        with node.client() as client:
            first = [client.producer_id(), client.producer_id()]

        node.reset()

        with node.client() as client:
            assert [*first, client.producer_id()] == [8, 9, 10]


def test_reset_closes_the_connection_of_a_waiting_fetch(node: Node) -> None:
    reset(node)
    with TopicClient(node.address) as client:
        client.send_fetch(max_wait_ms=60_000)
        wait_until(lambda: node.call(lambda: node.cluster.node.replicas.partition_of("events", 0).has_waiting))

        reset(node)

        assert client.wire.is_closed()


def test_reset_closes_the_connection_of_a_waiting_join_and_deletes_its_group(node: Node) -> None:
    with WireConnection(node.address) as connection:
        connection.send(join_request())
        wait_until(lambda: node.call(lambda: len(node.cluster.node.coordinators.groups.list_groups((), ())) == 1))

        reset(node)

        assert connection.receive_until_closed() == b""
        assert node.call(lambda: node.cluster.node.coordinators.groups.list_groups((), ())) == []
        node.call(lambda: node.cluster.clock.advance(3_600_000))
        assert node.call(lambda: node.cluster.node.coordinators.groups.list_groups((), ())) == []


def test_reset_sets_the_clock_back_to_the_machines(node: Node) -> None:
    node.call(lambda: node.cluster.clock.advance(8 * 24 * 3_600_000))
    node.call(lambda: node.cluster.clock.set_mode(ClockMode.MANUAL))

    reset(node)

    assert node.cluster.clock.mode is ClockMode.REAL
    assert abs(node.cluster.clock.now_ms() - time.time() * 1000) < 60_000


def test_a_crashed_node_is_restarted_before_the_reset(node: Node) -> None:
    with node.client() as client:
        client.create_topic("others", 3)
    node.crash()

    reset(node)

    with node.client() as client:
        assert client.partition_counts() == {"events": 2, "seeded": 1}


def test_restart_after_a_reset_finds_no_earlier_state(tmp_path: Path) -> None:
    with Node(tmp_path / "data") as node:
        with node.client() as client:
            client.create_topic("others", 3)
            client.produce("others", batch(b"1"))
        reset(node)

    with Node(tmp_path / "data") as node, node.client() as client:
        assert client.partition_counts() == {"events": 2, "seeded": 1}


def test_imported_records_are_restored_by_a_reset(tmp_path: Path) -> None:
    with Node(tmp_path / "data") as node, node.client() as client:
        client.create_topic("events", 1)
        client.produce("events", batch(b"1"))
    with Node(import_logs=tmp_path / "data") as node, node.client() as client:
        client.produce("events", batch(b"2"))
        client.delete_topic("events")

        node.reset()

        with node.client() as later:
            assert later.fetch("events").high_watermark == 1


def test_a_hundred_partitions_are_reset_faster_than_they_were_written() -> None:
    seeds = [SeedTopic("events", 100)]
    written_ns: list[int] = []
    reset_ns: list[int] = []
    with Node() as node:
        for _ in range(5):
            node.reset(seeds)
            begin_ns = time.perf_counter_ns()
            with node.client() as client:
                for partition in range(100):
                    client.produce("events", batch(b"1", producer_id=5, sequence=0), partition)
            end_ns = time.perf_counter_ns()
            node.reset(seeds)
            written_ns.append(end_ns - begin_ns)
            reset_ns.append(time.perf_counter_ns() - end_ns)

    assert min(reset_ns) < min(written_ns)


def join_request() -> bytes:
    request = JoinGroupRequest(
        group_id="group",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=60_000,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
    )
    writer = Writer()
    request.write(writer, JOIN_VERSION)
    return framed(header(JOIN_GROUP, JOIN_VERSION, 1) + bytes(writer.buffer))
