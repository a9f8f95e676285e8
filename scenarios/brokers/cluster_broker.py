"""A cluster of several nodes in a thread of this process, with its logs in memory."""

from __future__ import annotations

from collections.abc import Sequence

from ...broker.isolation import Surroundings
from .in_process_broker import InProcessBroker


def start_in_process(as_version: str, nodes: int) -> InProcessBroker:
    """Start a broker in memory: a ClusterBroker if there are several nodes. as_version: whose producer rules apply."""
    return InProcessBroker(as_version) if nodes == 1 else ClusterBroker(as_version, nodes)


class ClusterBroker(InProcessBroker):
    """A ScenarioBroker of several nodes."""

    def __init__(self, as_version: str, nodes: int) -> None:
        """Start the nodes with the producer rules of a Kafka version."""
        super().__init__(as_version, nodes)

    def stop_node(self, node: int, *, controlled: bool) -> None:
        """Stop a node as by SIGTERM, or else as by SIGKILL, which the controller notices at once."""
        self._hide_crashes()
        self._broker.stop_node(node, controlled=controlled, noticed=not controlled)

    def start_node(self, node: int) -> None:
        """Start a node that is down."""
        self._broker.start_node(node)

    def isolate(self, node: int, from_: Sequence[Surroundings]) -> None:
        """Cut a node off."""
        self._broker.isolate(node, from_)

    def rejoin(self, node: int) -> None:
        """End the isolation of a node."""
        self._broker.rejoin(node)

    def pause_replication(self, node: int) -> None:
        """Stop the fetches of a node's replicas."""
        self._broker.pause_replication(node)

    def resume_replication(self, node: int) -> None:
        """End the pause of a node's replicas."""
        self._broker.resume_replication(node)

    def move_coordinator(self, node: int, *, group: str | None, transactional_id: str | None) -> None:
        """Make a node the coordinator of a group or of a transactional id."""
        self._broker.move_coordinator(node, group_id=group, transactional_id=transactional_id)

    def leader_text(self, topic: str) -> str:
        """Return leader, leader epoch and ISR of partition 0 as text."""
        partition = self._broker.partitions(topic, 0)[0]
        if partition.leader < 0:
            return f"{topic}-0 has no leader"
        isr = ", ".join(map(str, partition.isr))
        return f"node {partition.leader} leads {topic}-0 in epoch {partition.leader_epoch}, ISR {isr}"
