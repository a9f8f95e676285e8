"""Nodes that are cut off from their clients, the controller or each other while they die, return, and are reset."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from fauxka.client.errors import ConnectionFailed
from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from fauxka.protocol.messages.metadata import MetadataResponse
from fauxka.testing import CallError

from ..broker.blocking_client import BlockingClient
from .transports import Broker

TOPIC = "orders"
CONFIGS = {"default.replication.factor": "3"}
NODES = [1, 2, 3]
SESSION_MS = 10_000
SECONDS_MAX = 20
# Long enough for a response that must not come.
SECONDS_WITHOUT_RESPONSE = 0.3


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker(CONFIGS, nodes=3) as started:
        yield started


def serves_clients(broker: Broker, node: int) -> bool:
    with BlockingClient(broker.nodes()[node - 1].bootstrap) as client:
        return bool(client.metadata().brokers)


def is_unanswered(asked: Future[MetadataResponse]) -> bool:
    try:
        asked.result(SECONDS_WITHOUT_RESPONSE)
    except TimeoutError:
        return True
    return False


def kill(broker: Broker) -> None:
    broker.crash(node=2)


def stop(broker: Broker) -> None:
    broker.stop_node(2)


@pytest.mark.parametrize("end", [kill, stop])
def test_a_node_that_was_cut_off_from_its_clients_serves_them_after_a_restart(
    broker: Broker, end: Callable[[Broker], None]
) -> None:
    broker.isolate(2, ["clients"])

    end(broker)
    broker.start_node(2)

    assert broker.nodes()[1].isolated_from == []
    assert serves_clients(broker, 2)


def test_a_reset_of_data_reaches_a_node_that_is_cut_off_from_the_controller(broker: Broker) -> None:
    broker.topics.create(TOPIC, partitions=1)
    broker.isolate(3, ["controller"])

    broker.reset("data")

    assert broker.nodes()[2].isolated_from == []
    with BlockingClient(broker.nodes()[2].bootstrap) as client:
        assert client.partition_counts() == {}


def test_a_restored_snapshot_reaches_a_node_that_is_cut_off_from_the_controller(broker: Broker) -> None:
    broker.topics.create(TOPIC, partitions=1)
    snapshot = broker.snapshot()
    broker.isolate(3, ["controller"])

    broker.restore(snapshot)

    assert broker.nodes()[2].isolated_from == []
    broker.topics.create("payments", partitions=2)
    with BlockingClient(broker.nodes()[2].bootstrap) as client:
        assert client.partition_counts() == {TOPIC: 1, "payments": 2}


def test_a_reset_of_data_restores_imported_logs_on_a_node_that_is_cut_off_from_the_controller(tmp_path: Path) -> None:
    with Broker(CONFIGS, nodes=3, data_dir=tmp_path) as broker:
        broker.topics.create(TOPIC, partitions=1)
        broker.topics.seed(TOPIC, [{"value": "imported"}])

    with Broker(nodes=3, import_logs=[str(tmp_path / f"node-{node}") for node in NODES]) as broker:
        broker.isolate(3, ["controller"])
        broker.reset("data")

        (partition,) = broker.partitions(TOPIC)
        assert (sorted(partition.isr), partition.high_watermark) == (NODES, 1)


def test_topics_are_created_and_deleted_while_the_first_node_is_cut_off_from_the_controller(broker: Broker) -> None:
    broker.topics.create("payments", partitions=1)
    broker.isolate(1, ["controller"])

    created = broker.topics.create(TOPIC, partitions=1)
    broker.topics.delete(TOPIC)
    broker.topics.delete("payments")

    assert created.name == TOPIC
    assert broker.topics.list() == []


def test_topics_cannot_be_changed_while_all_nodes_are_cut_off_from_the_controller(broker: Broker) -> None:
    broker.topics.create(TOPIC, partitions=1)
    for node in NODES:
        broker.isolate(node, ["controller"])

    with pytest.raises(CallError, match="all running nodes are cut off from the controller") as creation:
        broker.topics.create("payments", partitions=1)
    with pytest.raises(CallError, match="all running nodes are cut off from the controller") as deletion:
        broker.topics.delete(TOPIC)

    assert (creation.value.status, deletion.value.status) == (409, 409)


def test_a_node_that_the_controller_has_fenced_cannot_become_the_leader(broker: Broker) -> None:
    broker.topics.create(TOPIC, partitions=1)
    leader = broker.partitions(TOPIC)[0].leader
    fenced = next(node for node in NODES if node != leader)
    broker.isolate(fenced, ["controller"])
    broker.clock.advance(SESSION_MS)
    before = broker.partitions(TOPIC)

    with pytest.raises(CallError, match=f"node {fenced} is fenced and cannot lead") as refusal:
        broker.move_leader(TOPIC, 0, fenced, unclean=True)

    assert refusal.value.status == 409
    assert broker.partitions(TOPIC) == before


def test_an_export_is_refused_while_a_node_is_cut_off_from_its_clients(broker: Broker, tmp_path: Path) -> None:
    broker.topics.create(TOPIC, partitions=1)
    broker.isolate(2, ["clients"])

    with pytest.raises(CallError, match="node 2 is cut off from its clients") as refusal:
        broker.export(str(tmp_path / "exported"))

    assert refusal.value.status == 409


def test_an_export_reads_from_the_new_leader_of_a_node_that_is_cut_off_from_the_controller(
    broker: Broker, tmp_path: Path
) -> None:
    broker.topics.create(TOPIC, partitions=1)
    broker.move_leader(TOPIC, 0, 1)
    broker.isolate(1, ["controller", "nodes"])
    broker.clock.advance(SESSION_MS)
    broker.topics.seed(TOPIC, [{"value": "exported"}])

    broker.export(str(tmp_path / "exported"))

    assert (tmp_path / "exported" / f"{TOPIC}-0" / "00000000000000000000.log").stat().st_size > 0


def test_a_connection_that_a_rule_has_hang_still_hangs_after_isolation_and_rejoin(broker: Broker) -> None:
    rule = broker.faults.add({"point": "accepted", "action": {"kind": "hang"}})
    with ThreadPoolExecutor() as pool, BlockingClient(broker.nodes()[1].bootstrap) as client:
        rule.await_hits(timeout_ms=1000 * SECONDS_MAX)
        asked = pool.submit(client.metadata)

        broker.isolate(2, ["clients"])
        broker.rejoin(2)

        assert is_unanswered(asked)
        broker.reset("faults")
        with pytest.raises(ConnectionFailed, match="was closed"):
            asked.result(SECONDS_MAX)


def test_a_delayed_connection_of_a_node_without_clients_waits_for_rejoin(broker: Broker) -> None:
    broker.clock.set_mode("manual")
    rule = broker.faults.add({"point": "accepted", "action": {"kind": "delay", "ms": 500}})
    broker.isolate(2, ["clients"])
    with ThreadPoolExecutor() as pool, BlockingClient(broker.nodes()[1].bootstrap) as client:
        rule.await_hits(timeout_ms=1000 * SECONDS_MAX)
        asked = pool.submit(client.metadata)

        broker.clock.advance(1000)
        assert is_unanswered(asked)
        broker.rejoin(2)

        assert len(asked.result(SECONDS_MAX).brokers) == len(NODES)


def test_a_node_that_is_isolated_twice_from_its_clients_serves_them_after_one_rejoin(broker: Broker) -> None:
    with ThreadPoolExecutor() as pool, BlockingClient(broker.nodes()[1].bootstrap) as client:
        client.metadata()
        broker.isolate(2, ["clients"])
        broker.isolate(2, ["clients", "nodes"])
        asked = pool.submit(client.metadata)

        broker.rejoin(2)

        assert len(asked.result(SECONDS_MAX).brokers) == len(NODES)


def test_a_rule_by_topic_acts_on_topic_ids_that_are_newer_than_an_isolation(broker: Broker) -> None:
    broker.faults.add(
        {
            "match": {"api": "Fetch", "topic": "orders"},
            "when": {"times": None},
            "point": "received",
            "action": {"kind": "error", "error": "NOT_LEADER_OR_FOLLOWER"},
        }
    )
    broker.isolate(3, ["controller"])
    # The first request while a rule is armed, which creates the fault injector of the node.
    assert serves_clients(broker, 3)
    broker.rejoin(3)
    broker.topics.create("orders", partitions=1)

    with BlockingClient(broker.nodes()[2].bootstrap) as client:
        fetched = FetchTopic(topic_id=client.topic_ids()["orders"], partitions=[FetchPartition(partition=0)])
        response = client.send(ApiKey.FETCH, 13, FetchRequest(max_bytes=1, topics=[fetched]), FetchResponse.read)

    assert response.responses[0].partitions[0].error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
