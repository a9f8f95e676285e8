"""The nodes and replicas of a cluster: list them, stop, isolate, move leaders and coordinators, pause replication.

The operations are named by their package, which loads them when they are needed: a test that has a broker and no
more does not wait for them. The same is so in broker.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...faults.strict_json import convert
from .. import operations
from .base import Methods

if TYPE_CHECKING:
    from ...broker.isolation import Surroundings
    from ..operations.crash_operations import SnapshotsOption
    from ..operations.node_operations import NodePath, NodeStatus
    from ..operations.partition_operations import PartitionState


class NodeMethods(Methods):
    """The operations on nodes and replicas. They raise CallError and InvalidValueError."""

    def nodes(self) -> list[NodeStatus]:
        """Return all nodes with their state, in the order of their ids."""
        listed = self._perform(operations.node_operations.list_nodes)
        return listed.items

    def partitions(self, topic: str | None = None, partition: int | None = None) -> list[PartitionState]:
        """Return leader, ISR and offsets of all partitions, of those of a topic, or of one."""
        query = convert({"topic": topic, "partition": partition}, operations.partition_operations.PartitionQuery)
        return self._all(operations.partition_operations.list_partitions, query)

    def stop_node(self, node: int, *, controlled: bool = True, noticed: bool = False) -> NodeStatus:
        """Stop a node, as SIGTERM does, or as SIGKILL if it is not controlled.

        noticed: the controller learns of a killed node at once, and not after broker.session.timeout.ms.
        """
        body = convert({"controlled": controlled, "noticed": noticed}, operations.node_operations.NodeStop)
        return self._perform(operations.node_operations.stop_node, path=node_path(node), body=body)

    def kill_node(self, node: int, *, noticed: bool = True) -> NodeStatus:
        """Stop a node as SIGKILL does; noticed: the controller learns of it at once, and another node leads."""
        return self.stop_node(node, controlled=False, noticed=noticed)

    def start_node(self, node: int, *, as_version: str | None = None) -> NodeStatus:
        """Start a node that is down, and return when clients can connect.

        as_version: the release that it follows from then on, such as "4.0"; None for the one before.
        Raises CallError if it is running, or if the release does not have the cluster's features or a config.
        """
        body = convert({"as_version": as_version}, operations.node_operations.NodeStart)
        return self._perform(operations.node_operations.start_node, path=node_path(node), body=body)

    def restart_node(self, node: int, *, as_version: str | None = None) -> NodeStatus:
        """Stop a node of several as SIGTERM does, and start it again: a step of a rolling upgrade. As start_node."""
        self.stop_node(node)
        return self.start_node(node, as_version=as_version)

    def isolate(self, node: int, from_: Sequence[Surroundings]) -> NodeStatus:
        """Cut a node off from the "controller", the other "nodes" or its "clients", until it rejoins."""
        body = convert({"from": list(from_)}, operations.node_operations.Isolation)
        return self._perform(operations.node_operations.isolate_node, path=node_path(node), body=body)

    def rejoin(self, node: int) -> NodeStatus:
        """End the isolation of a node."""
        return self._perform(operations.node_operations.rejoin_node, path=node_path(node))

    def move_leader(self, topic: str, partition: int, node: int | None, *, unclean: bool = False) -> PartitionState:
        """Make a node the leader of a partition, or no node until the next election.

        unclean: also a node that is not in the ISR.
        """
        given = {"topic": topic, "partition": partition, "node": node, "unclean": unclean}
        return self._perform(
            operations.partition_operations.move_leader, body=convert(given, operations.partition_operations.LeaderMove)
        )

    def pause_replication(self, node: int, topic: str | None = None, partition: int | None = None) -> None:
        """Stop the fetches of a node's followers: of all, of those of a topic, or of one partition."""
        body = convert(
            {"node": node, "topic": topic, "partition": partition}, operations.partition_operations.ReplicaChoice
        )
        self._perform(operations.partition_operations.pause_replication, body=body)

    def resume_replication(self, node: int, topic: str | None = None, partition: int | None = None) -> None:
        """End the pause of a node's followers."""
        body = convert(
            {"node": node, "topic": topic, "partition": partition}, operations.partition_operations.ReplicaChoice
        )
        self._perform(operations.partition_operations.resume_replication, body=body)

    def move_coordinator(
        self, node: int, *, group_id: str | None = None, transactional_id: str | None = None
    ) -> PartitionState:
        """Make a node the coordinator of a group or of a transactional id; return its partition."""
        given = {"group_id": group_id, "transactional_id": transactional_id, "node": node}
        return self._perform(
            operations.partition_operations.move_coordinator,
            body=convert(given, operations.partition_operations.CoordinatorMove),
        )

    def crash(
        self,
        restart_after_ms: int | None = None,
        snapshots: SnapshotsOption = "keep",
        *,
        node: int | None = None,
        noticed: bool = False,
    ) -> None:
        """Crash a node as with SIGKILL; everything that was not written to the files is lost.

        restart_after_ms: restart after this time on the broker's clock; None waits for restart().
        snapshots: "keep", "drop" or "corrupt" the producer snapshots.
        node: the id; None for the only node. noticed: the controller learns of the crash at once.
        Raises CallError if the node is already down.
        """
        given = {"node": node, "restart_after_ms": restart_after_ms, "snapshots": snapshots, "noticed": noticed}
        self._perform(
            operations.crash_operations.crash_node, body=convert(given, operations.crash_operations.NodeCrash)
        )

    def restart(
        self, snapshots: SnapshotsOption = "keep", *, node: int | None = None, as_version: str | None = None
    ) -> None:
        """Restart a crashed node on the same port with the content of its files; snapshots, node: as in crash.

        as_version: as in start_node. Raises CallError if the node is running.
        """
        self._perform(
            operations.crash_operations.restart_node,
            body=convert(
                {"snapshots": snapshots, "node": node, "as_version": as_version},
                operations.crash_operations.NodeRestart,
            ),
        )


def node_path(node: int) -> NodePath:
    """Return a node as the operations name it. Raises InvalidValueError for an invalid id."""
    return convert({"id": node}, operations.node_operations.NodePath)
