"""The scripts of failover/ run against a cluster of three nodes: its answers equal those of three Kafka brokers.

A script goes on after a difference. It ends where a wait for a state fails: the lines behind that are missing.
"""

import io
import json
from pathlib import Path

import pytest

from fauxka.broker.isolation import Isolation

from ..broker.running_cluster import RunningCluster
from .captures import golden_file
from .failover.recorder import FailoverRecorder
from .failover.scripts import CONFIG, RACKS, SCRIPTS, capture_from_kafka
from .line_comparison import check_lines
from .test_captures import root_logger_as_kafkas

SESSION_MS = 6_000
# More turns of the nodes' event loop than a new connection takes until its first request has been handled.
TURNS_OF_A_REQUEST = 20
# The controller of fauxka is part of the process, and cannot die alone.
REPLAYED = [name for name in SCRIPTS if name != "failover_controller"]
# What the script of the reference cluster sets, of what both know.
REFERENCE_CONFIG = {
    "default.replication.factor": "3",
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "3",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "3",
    "share.coordinator.state.topic.min.isr": "1",
}


class FauxkaControl:
    """The control steps of a script, done to a RunningCluster. A node keeps its port over its restarts."""

    def __init__(self, cluster: RunningCluster) -> None:
        self._cluster = cluster
        self._live = {1, 2, 3}

    def address(self, node: int) -> str:
        """Return the "host:port" of a node."""
        return self._cluster.address(node)

    def kill(self, node: int) -> None:
        """End a node without a controlled shutdown.

        The controller notices it, but not before another node is back if none was left: sessions outlast that.
        """
        self._live.discard(node)
        self._cluster.kill(node, is_noticed=bool(self._live))

    def stop(self, node: int) -> None:
        """Stop a node by a controlled shutdown."""
        self._live.discard(node)
        self._cluster.shut_down(node)

    def start(self, node: int) -> None:
        """Start a node that was killed or stopped."""
        self._cluster.restart(node)
        self._back(node)

    def freeze(self, node: int) -> None:
        """Cut a node off from the controller, the other nodes and its clients."""
        self._live.discard(node)
        self._cluster.isolate(node, list(Isolation))

    def thaw(self, node: int) -> None:
        """Let a frozen node go on."""
        self._cluster.rejoin(node)
        self._back(node)

    def pass_seconds(self, seconds: float) -> None:
        """Advance the clock, after the nodes have handled what was sent to them."""
        for _ in range(TURNS_OF_A_REQUEST):
            self._cluster.advance(0)
        self._cluster.advance(round(1000 * seconds))

    def elapsed_seconds(self) -> float:
        """Return the time of the cluster's clock."""
        return self._cluster.call(self._cluster.cluster.clock.elapsed_ns) / 1e9

    def _back(self, node: int) -> None:
        if not self._live:
            self._cluster.advance(SESSION_MS)
        self._live.add(node)


def captured(name: str) -> list[str]:
    return golden_file(name).read_text().splitlines()


def answered_by_fauxka(name: str) -> list[str]:
    """Return the lines. The last one is the wait that failed, if one did."""
    output = io.StringIO()
    with root_logger_as_kafkas(), RunningCluster(RACKS, **REFERENCE_CONFIG, **CONFIG) as cluster:
        try:
            SCRIPTS[name](FailoverRecorder(FauxkaControl(cluster), output))
        except TimeoutError as error:
            output.write(json.dumps({"failed wait": str(error)}))
    return output.getvalue().splitlines()


# Its requests wait for a minute in all.
SLOWEST = pytest.param("failover_moving", marks=pytest.mark.deep)


@pytest.mark.parametrize("name", [*(name for name in REPLAYED if name not in SLOWEST.values), SLOWEST])
def test_nodes_answer_as_kafkas_did(name: str) -> None:
    check_lines(answered_by_fauxka(name), captured(name))


# Three Kafkas start, die and start again for minutes, on an idle machine too.
@pytest.mark.reference
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", list(SCRIPTS))
def test_golden_file_equals_what_kafka_returns_today(name: str, tmp_path: Path) -> None:
    capture_from_kafka(name, tmp_path / "answers.jsonl")

    assert (tmp_path / "answers.jsonl").read_text().splitlines() == captured(name)
