"""The nodes and replicas of a cluster: list them, stop, isolate, move leaders and coordinators, pause replication."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, TypeVar

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
        from ..admin.operations.node_operations import list_nodes

        return self.ask(list_nodes).items

    def partitions(self, topic: str | None = None, partition: int | None = None) -> list[PartitionState]:
        """Return leader, ISR and offsets of all partitions, of those of a topic, or of one."""
        from ..admin.operations.partition_operations import list_partitions
        from .calls import all_items

        return self.ask(
            lambda control: all_items(
                lambda since: list_partitions(control, _partition_query(topic, partition, since)),
            )
        )

    def isolate(self, node: int, from_: Sequence[Surroundings]) -> NodeStatus:
        """Cut a node off from the "controller", the other "nodes" or its "clients", until it rejoins."""
        from ..admin.operations.node_operations import Isolation, NodePath, isolate_node
        from ..faults.strict_json import convert

        path, body = convert({"id": node}, NodePath), convert({"from": list(from_)}, Isolation)
        return self.ask(lambda control: isolate_node(control, path, body))

    def rejoin(self, node: int) -> NodeStatus:
        """End the isolation of a node."""
        from ..admin.operations.node_operations import NodePath, rejoin_node
        from ..faults.strict_json import convert

        path = convert({"id": node}, NodePath)
        return self.ask(lambda control: rejoin_node(control, path))

    def move_leader(self, topic: str, partition: int, node: int, *, unclean: bool = False) -> PartitionState:
        """Make a node the leader of a partition; unclean: also one that is not in the ISR."""
        from ..admin.operations.partition_operations import LeaderMove, move_leader
        from ..faults.strict_json import convert

        body = convert({"topic": topic, "partition": partition, "node": node, "unclean": unclean}, LeaderMove)
        return self.ask(lambda control: move_leader(control, body))

    def pause_replication(self, node: int, topic: str | None = None, partition: int | None = None) -> None:
        """Stop the fetches of a node's followers: of all, of those of a topic, or of one partition."""
        from ..admin.operations.partition_operations import ReplicaChoice, pause_replication
        from ..faults.strict_json import convert

        body = convert({"node": node, "topic": topic, "partition": partition}, ReplicaChoice)
        self.ask(lambda control: pause_replication(control, body))

    def resume_replication(self, node: int, topic: str | None = None, partition: int | None = None) -> None:
        """End the pause of a node's followers."""
        from ..admin.operations.partition_operations import ReplicaChoice, resume_replication
        from ..faults.strict_json import convert

        body = convert({"node": node, "topic": topic, "partition": partition}, ReplicaChoice)
        self.ask(lambda control: resume_replication(control, body))

    def move_coordinator(
        self, node: int, *, group_id: str | None = None, transactional_id: str | None = None
    ) -> PartitionState:
        """Make a node the coordinator of a group or of a transactional id; return its partition."""
        from ..admin.operations.partition_operations import CoordinatorMove, move_coordinator
        from ..faults.strict_json import convert

        given = {"group_id": group_id, "transactional_id": transactional_id, "node": node}
        body = convert(given, CoordinatorMove)
        return self.ask(lambda control: move_coordinator(control, body))


def _partition_query(topic: str | None, partition: int | None, since: str) -> PartitionQuery:
    from ..admin.operations.partition_operations import PartitionQuery
    from ..admin.paging import LIMIT_MAX
    from ..faults.strict_json import convert

    return convert({"topic": topic, "partition": partition, "since": since, "limit": LIMIT_MAX}, PartitionQuery)


def starting(node: int) -> Callable[[Control], Coroutine[object, object, NodeStatus]]:
    """Return the operation that starts a node that is down. Raises RuleError for an invalid id."""
    from ..admin.operations.node_operations import NodePath, start_node
    from ..faults.strict_json import convert

    path = convert({"id": node}, NodePath)
    return lambda control: start_node(control, path)


def stopping(
    node: int, *, controlled: bool, noticed: bool
) -> Callable[[Control], Coroutine[object, object, NodeStatus]]:
    """Return the operation that stops a node. Raises RuleError for an invalid id."""
    from ..admin.operations.node_operations import NodePath, NodeStop, stop_node
    from ..faults.strict_json import convert

    path, body = convert({"id": node}, NodePath), convert({"controlled": controlled, "noticed": noticed}, NodeStop)
    return lambda control: stop_node(control, path, body)
