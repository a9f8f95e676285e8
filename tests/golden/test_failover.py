"""The scripts of failover/ run against a cluster of three nodes: its answers equal those of three Kafka brokers.

A script goes on after a difference, so that each line is a test of its own. It ends where a wait for a state fails;
the lines behind that are missing, and their tests say so.
"""

import io
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from fauxka.broker.isolation import Isolation

from ..broker.running_cluster import RunningCluster
from .captures import golden_file
from .failover.recorder import FailoverRecorder
from .failover.scripts import CONFIG, RACKS, SCRIPTS, capture_from_kafka
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


@cache
def captured(name: str) -> list[str]:
    return golden_file(name).read_text().splitlines()


@cache
def answered_by_fauxka(name: str) -> tuple[list[str], str]:
    """Return the lines, and the wait that failed, if one did."""
    output = io.StringIO()
    failed_wait = ""
    with root_logger_as_kafkas(), RunningCluster(RACKS, **REFERENCE_CONFIG, **CONFIG) as cluster:
        try:
            SCRIPTS[name](FailoverRecorder(FauxkaControl(cluster), output))
        except TimeoutError as error:
            failed_wait = str(error)
    return output.getvalue().splitlines(), failed_wait


def cases() -> Iterator[object]:
    for name in REPLAYED:
        for number, line in enumerate(captured(name)):
            case = json.loads(line)
            if case["api"] != "control":
                case_id = f"{name}-{number + 1}-{case['api']}-v{case['version']}-{case['case']}"
                # Its requests wait for a minute in all.
                marks = [pytest.mark.deep] if name == "failover_moving" else []
                yield pytest.param(name, number, id=case_id, marks=marks)


@pytest.mark.parametrize(("name", "number"), list(cases()))
def test_nodes_answer_as_kafkas_did(name: str, number: int) -> None:
    answers, failed_wait = answered_by_fauxka(name)

    assert number < len(answers), failed_wait
    assert json.loads(answers[number]) == json.loads(captured(name)[number])


@pytest.mark.parametrize("name", REPLAYED)
def test_no_case_is_missing_from_the_golden_file(name: str) -> None:
    assert len(answered_by_fauxka(name)[0]) == len(captured(name))


@pytest.mark.reference
@pytest.mark.parametrize("name", list(SCRIPTS))
def test_golden_file_equals_what_kafka_returns_today(name: str, tmp_path: Path) -> None:
    capture_from_kafka(name, tmp_path / "answers.jsonl")

    assert (tmp_path / "answers.jsonl").read_text().splitlines() == captured(name)
