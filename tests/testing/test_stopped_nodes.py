"""Nodes that were stopped or killed: their return, and their folders when the process ends."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from fauxka.testing import Broker, CallError

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
