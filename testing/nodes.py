"""The nodes and replicas of a cluster: list them, stop, isolate, move leaders and coordinators, pause replication."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, TypeVar

from ..admin import operations
from ..admin.paging import LIMIT_MAX
from ..faults.strict_json import convert
from .calls import all_items

if TYPE_CHECKING:
    from ..admin.control import Control
    from ..admin.operations.node_operations import NodeStatus
    from ..admin.operations.partition_operations import PartitionQuery, PartitionState
    from ..broker.isolation import Surroundings

Result = TypeVar("Result")


class NodeMethods(ABC):
    """The operations on nodes and replicas that wait for nothing. They raise CallError and RuleError."""

    @abstractmethod
    def ask(self, function: Callable[[Control], Result]) -> Result:
        """Run function with the broker's Control on the broker's thread, and return its result."""

    def nodes(self) -> list[NodeStatus]:
        """Return all nodes with their state, in the order of their ids."""
        of_nodes = operations.node_operations
        return self.ask(of_nodes.list_nodes).items

    def partitions(self, topic: str | None = None, partition: int | None = None) -> list[PartitionState]:
        """Return leader, ISR and offsets of all partitions, of those of a topic, or of one."""
        of_partitions = operations.partition_operations
        return self.ask(
            lambda control: all_items(
                lambda since: of_partitions.list_partitions(control, _partition_query(topic, partition, since)),
            )
        )

    def isolate(self, node: int, from_: Sequence[Surroundings]) -> NodeStatus:
        """Cut a node off from the "controller", the other "nodes" or its "clients", until it rejoins."""
        of_nodes = operations.node_operations
        path, body = convert({"id": node}, of_nodes.NodePath), convert({"from": list(from_)}, of_nodes.Isolation)
        return self.ask(lambda control: of_nodes.isolate_node(control, path, body))

    def rejoin(self, node: int) -> NodeStatus:
        """End the isolation of a node."""
        of_nodes = operations.node_operations
        path = convert({"id": node}, of_nodes.NodePath)
        return self.ask(lambda control: of_nodes.rejoin_node(control, path))

    def move_leader(self, topic: str, partition: int, node: int, *, unclean: bool = False) -> PartitionState:
        """Make a node the leader of a partition; unclean: also one that is not in the ISR."""
        of_partitions = operations.partition_operations
        given = {"topic": topic, "partition": partition, "node": node, "unclean": unclean}
        body = convert(given, of_partitions.LeaderMove)
        return self.ask(lambda control: of_partitions.move_leader(control, body))

    def pause_replication(self, node: int, topic: str | None = None, partition: int | None = None) -> None:
        """Stop the fetches of a node's followers: of all, of those of a topic, or of one partition."""
        of_partitions = operations.partition_operations
        body = convert({"node": node, "topic": topic, "partition": partition}, of_partitions.ReplicaChoice)
        self.ask(lambda control: of_partitions.pause_replication(control, body))

    def resume_replication(self, node: int, topic: str | None = None, partition: int | None = None) -> None:
        """End the pause of a node's followers."""
        of_partitions = operations.partition_operations
        body = convert({"node": node, "topic": topic, "partition": partition}, of_partitions.ReplicaChoice)
        self.ask(lambda control: of_partitions.resume_replication(control, body))

    def move_coordinator(
        self, node: int, *, group_id: str | None = None, transactional_id: str | None = None
    ) -> PartitionState:
        """Make a node the coordinator of a group or of a transactional id; return its partition."""
        of_partitions = operations.partition_operations
        given = {"group_id": group_id, "transactional_id": transactional_id, "node": node}
        body = convert(given, of_partitions.CoordinatorMove)
        return self.ask(lambda control: of_partitions.move_coordinator(control, body))


def _partition_query(topic: str | None, partition: int | None, since: str) -> PartitionQuery:
    given = {"topic": topic, "partition": partition, "since": since, "limit": LIMIT_MAX}
    return convert(given, operations.partition_operations.PartitionQuery)


def starting(node: int) -> Callable[[Control], Coroutine[object, object, NodeStatus]]:
    """Return the operation that starts a node that is down. Raises RuleError for an invalid id."""
    of_nodes = operations.node_operations
    path = convert({"id": node}, of_nodes.NodePath)
    return lambda control: of_nodes.start_node(control, path)


def stopping(
    node: int, *, controlled: bool, noticed: bool
) -> Callable[[Control], Coroutine[object, object, NodeStatus]]:
    """Return the operation that stops a node. Raises RuleError for an invalid id."""
    of_nodes = operations.node_operations
    path = convert({"id": node}, of_nodes.NodePath)
    body = convert({"controlled": controlled, "noticed": noticed}, of_nodes.NodeStop)
    return lambda control: of_nodes.stop_node(control, path, body)
