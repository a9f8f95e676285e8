"""The cases of capture_nodes put to a cluster of three nodes: its answers equal those of three Kafka brokers."""

import io
from pathlib import Path

import pytest

from ..broker.running_cluster import RunningCluster
from ..reference.kafka_process import running_kafka_nodes
from .capture_nodes import capture
from .captures import KAFKA_VERSION, golden_file
from .line_comparison import check_lines

FILE = golden_file("nodes")


def captured() -> list[str]:
    return FILE.read_text().splitlines()


def answered_by_fauxka() -> list[str]:
    output = io.StringIO()
    with RunningCluster(as_version=KAFKA_VERSION, **{"default.replication.factor": "3"}) as cluster:
        capture([cluster.address(node_id) for node_id in (1, 2, 3)], output)
    return output.getvalue().splitlines()


def test_nodes_answer_as_kafkas_did() -> None:
    check_lines(answered_by_fauxka(), captured())


@pytest.mark.reference
def test_golden_file_equals_what_kafka_returns_today(tmp_path: Path) -> None:
    with running_kafka_nodes(tmp_path / "nodes", 3) as bootstraps, (tmp_path / "answers.jsonl").open("w") as output:
        capture(bootstraps, output)

    assert (tmp_path / "answers.jsonl").read_text().splitlines() == captured()
