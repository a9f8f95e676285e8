"""Nodes that were stopped or killed: their return, and their folders when the process ends."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient

from fauxka.testing import CallError

from .transports import Broker

TOPIC = "orders"
SECONDS_MAX = 30
NODES = [1, 2, 3]
CONFIGS = {"default.replication.factor": "3"}
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"


def seed(broker: Broker, count: int) -> None:
    broker.topics.seed(TOPIC, [{"value": str(value)} for value in range(count)])


def clean_nodes(folder: Path) -> list[int]:
    """Return the nodes whose next start recovers no log."""
    return [node for node in NODES if (folder / f"node-{node}" / CLEAN_SHUTDOWN).exists()]


def test_deleted_records_do_not_come_back_after_all_nodes_were_stopped(tmp_path: Path) -> None:
    with Broker(CONFIGS, nodes=3, data_dir=tmp_path) as broker:
        broker.topics.create(TOPIC, partitions=1)
        seed(broker, 10)
        # Its type hints leave the results open.
        client: Any = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
        deleted = client.delete_records([TopicPartition(TOPIC, 0, 7)])
        assert [each.result(SECONDS_MAX).low_watermark for each in deleted.values()] == [7]
        for node in NODES:
            broker.stop_node(node)

    with Broker(CONFIGS, nodes=3, data_dir=tmp_path) as broker:
        assert broker.partitions(TOPIC, 0)[0].log_start_offset == 7


def test_nodes_that_run_are_shut_down_cleanly_beside_a_killed_one(tmp_path: Path) -> None:
    with Broker(CONFIGS, nodes=3, data_dir=tmp_path) as broker:
        broker.topics.create(TOPIC, partitions=1)
        seed(broker, 10)
        broker.crash(node=1, noticed=True)

    assert clean_nodes(tmp_path) == [2, 3]


def test_a_node_whose_logs_cannot_be_closed_leaves_the_others_clean(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Broker(CONFIGS, nodes=3, data_dir=tmp_path) as broker:
        broker.topics.create(TOPIC, partitions=1)
        seed(broker, 10)
        broker.files.add(action="fail", node=1)

    assert clean_nodes(tmp_path) == [2, 3]
    errors = [each.getMessage() for each in caplog.records if each.levelno == logging.ERROR]
    assert [each for each in errors if "cleanly" in each and "node 1" in each]


def test_a_node_that_cannot_close_its_logs_has_crashed_and_starts_again(tmp_path: Path) -> None:
    with Broker(CONFIGS, nodes=3, data_dir=tmp_path) as broker:
        broker.topics.create(TOPIC, partitions=1)
        seed(broker, 10)
        broker.files.add(action="fail", node=2)

        with pytest.raises(CallError, match="node 2 cannot close its logs and has crashed") as refusal:
            broker.stop_node(2)

        assert refusal.value.status == 409
        assert broker.nodes()[1].state == "crashed"
        [partition] = broker.partitions(TOPIC, 0)
        # The replicas of a new topic are in random order.
        assert partition.isr == [node for node in partition.replicas if node != 2]
        broker.files.clear()
        assert broker.start_node(2).state == "running"
        assert sorted(broker.partitions(TOPIC, 0)[0].isr) == NODES


def test_a_manual_start_cancels_the_scheduled_restart_of_a_node() -> None:
    with Broker(CONFIGS, nodes=3) as broker:
        broker.crash(node=2, restart_after_ms=60_000)
        broker.start_node(2)
        broker.crash(node=2)

        broker.clock.advance(61_000)

        assert broker.nodes()[1].state == "crashed"


@pytest.fixture
def unreplicated() -> Iterator[Broker]:
    """Yield a broker with ten records in a partition whose only replica is on a node that is down."""
    with Broker(nodes=3) as broker:
        broker.topics.create(TOPIC, partitions=1)
        seed(broker, 10)
        broker.stop_node(broker.partitions(TOPIC)[0].leader)
        yield broker


def test_offsets_are_null_while_all_replicas_of_a_partition_are_down(unreplicated: Broker) -> None:
    (state,) = unreplicated.partitions(TOPIC)
    (listed,) = unreplicated.topics.list()
    (partition,) = listed.partitions

    assert (state.high_watermark, state.log_start_offset) == (None, None)
    assert (partition.log_start_offset, partition.log_end_offset, partition.high_watermark) == (None, None, None)
    assert (partition.last_stable_offset, partition.size_bytes, partition.producers) == (None, None, None)


def test_there_is_no_verdict_while_all_replicas_of_a_partition_are_down(unreplicated: Broker) -> None:
    with pytest.raises(CallError, match="all nodes with a replica of orders-0 are down") as refusal:
        unreplicated.verdict(TOPIC)

    assert refusal.value.status == 409


def test_there_is_no_verdict_while_the_only_node_is_down() -> None:
    with Broker() as broker:
        broker.topics.create(TOPIC, partitions=1)
        seed(broker, 10)
        broker.crash()

        with pytest.raises(CallError, match="down") as refusal:
            broker.verdict(TOPIC)

        assert refusal.value.status == 409


def test_the_lag_of_a_group_is_null_while_all_replicas_of_the_partition_are_down() -> None:
    with Broker({"offsets.topic.replication.factor": 3}, nodes=3) as broker:
        broker.topics.create(TOPIC, partitions=1)
        consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "billing"})
        consumer.commit(offsets=[TopicPartition(TOPIC, 0, 0)], asynchronous=False)
        consumer.close()

        broker.stop_node(broker.partitions(TOPIC)[0].leader)

        (group,) = broker.groups.list()
        assert [each.lag for each in group.offsets] == [None]
