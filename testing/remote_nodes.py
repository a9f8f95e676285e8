"""The nodes and replicas of a broker in another process, with the methods of testing/nodes.py."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from msgspec import Struct

from ..admin.client.admin_client import JsonObject
from ..admin.operations.node_operations import NodeStatus
from ..admin.operations.partition_operations import PartitionPage, PartitionState
from ..broker.isolation import Surroundings
from ..faults.strict_json import convert
from .calls import all_remote


class RemoteNodeMethods(ABC):
    """The operations on nodes and replicas. They raise CallError and Unreachable."""

    @abstractmethod
    def call(
        self, method: str, path: str, body: Struct | Mapping[str, object] | None = None, **query: object
    ) -> JsonObject:
        """Send a call of the admin API and return the body of its response."""

    def nodes(self) -> list[NodeStatus]:
        """Return all nodes with their state, in the order of their ids."""
        return convert(self.call("GET", "/v1/nodes")["items"], list[NodeStatus])

    def partitions(self, topic: str | None = None, partition: int | None = None) -> list[PartitionState]:
        """Return leader, ISR and offsets of all partitions, of those of a topic, or of one."""
        return all_remote(self.call, "/v1/partitions", PartitionPage, topic=topic, partition=partition)

    def stop_node(self, node: int, *, controlled: bool = True, noticed: bool = False) -> NodeStatus:
        """Stop a node; as NodeMethods.stop_node."""
        return self._change(node, "stop", {"controlled": controlled, "noticed": noticed})

    def start_node(self, node: int) -> NodeStatus:
        """Start a node that is down, and return when clients can connect."""
        return self._change(node, "start")

    def isolate(self, node: int, from_: Sequence[Surroundings]) -> NodeStatus:
        """Cut a node off from the "controller", the other "nodes" or its "clients", until it rejoins."""
        return self._change(node, "isolate", {"from": list(from_)})

    def rejoin(self, node: int) -> NodeStatus:
        """End the isolation of a node."""
        return self._change(node, "rejoin")

    def _change(self, node: int, change: str, body: Mapping[str, object] | None = None) -> NodeStatus:
        return convert(self.call("POST", f"/v1/nodes/{node}/{change}", body), NodeStatus)

    def move_leader(self, topic: str, partition: int, node: int, *, unclean: bool = False) -> PartitionState:
        """Make a node the leader of a partition; unclean: also one that is not in the ISR."""
        body = {"topic": topic, "partition": partition, "node": node, "unclean": unclean}
        return convert(self.call("POST", "/v1/partitions/leader", body), PartitionState)

    def pause_replication(self, node: int, topic: str | None = None, partition: int | None = None) -> None:
        """Stop the fetches of a node's followers: of all, of those of a topic, or of one partition."""
        self.call("POST", "/v1/replication/pause", {"node": node, "topic": topic, "partition": partition})

    def resume_replication(self, node: int, topic: str | None = None, partition: int | None = None) -> None:
        """End the pause of a node's followers."""
        self.call("POST", "/v1/replication/resume", {"node": node, "topic": topic, "partition": partition})

    def move_coordinator(
        self, node: int, *, group_id: str | None = None, transactional_id: str | None = None
    ) -> PartitionState:
        """Make a node the coordinator of a group or of a transactional id; return its partition."""
        body = {"group_id": group_id, "transactional_id": transactional_id, "node": node}
        return convert(self.call("POST", "/v1/coordinators/move", body), PartitionState)
