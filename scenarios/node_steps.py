"""Runs the steps of a scenario that stop, start and cut off the nodes of a cluster."""

from __future__ import annotations

from typing import assert_never

from .brokers.cluster_broker import ClusterBroker
from .brokers.scenario_broker import ScenarioBroker
from .report.notes import Notes
from .steps import Isolate, MoveCoordinator, NodeStep, PauseReplication, Rejoin, ResumeReplication, StartNode, StopNode


class NodeSteps:
    """The nodes of one run."""

    def __init__(self, broker: ScenarioBroker, notes: Notes, topic: str) -> None:
        """topic: its leader is in the notes."""
        self._broker = broker
        self._notes = notes
        self._topic = topic

    def run(self, step: NodeStep) -> None:
        """Run a step, and add a note with the leader after it."""
        assert isinstance(self._broker, ClusterBroker), "the scenario has one node"
        text = run_node_step(step, self._broker)
        self._notes.add("broker", f"{text}{self.leader_text()}")

    def leader_text(self) -> str:
        """Return the leader at the end of a note, "" of a broker with one node."""
        return f": {self._broker.leader_text(self._topic)}" if isinstance(self._broker, ClusterBroker) else ""


def run_node_step(step: NodeStep, broker: ClusterBroker) -> str:
    """Run a step, and return it as text for a note."""
    match step:
        case StopNode(node=node, controlled=controlled):
            broker.stop_node(node, controlled=controlled)
            return f"node {node} {'shuts down' if controlled else 'is killed'}"
        case StartNode(node=node):
            broker.start_node(node)
            return f"node {node} starts again"
        case Isolate(node=node, from_=surroundings):
            broker.isolate(node, surroundings)
            return f"node {node} is cut off from {' and '.join(surroundings)}"
        case Rejoin(node=node):
            broker.rejoin(node)
            return f"node {node} is connected again"
        case PauseReplication(node=node):
            broker.pause_replication(node)
            return f"node {node} fetches no more"
        case ResumeReplication(node=node):
            broker.resume_replication(node)
            return f"node {node} fetches again"
        case MoveCoordinator(node=node, transactional_id=transactional_id, group=group):
            broker.move_coordinator(node, group=group, transactional_id=transactional_id)
            key = f"group {group}" if transactional_id is None else f"transactional id {transactional_id}"
            return f"node {node} becomes the coordinator of {key}"
        case _:
            assert_never(step)
