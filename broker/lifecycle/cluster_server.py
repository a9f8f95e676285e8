"""Runs all nodes of a cluster: starts and stops their servers, and changes the state of one node or replica.

Requests that are held, and connections, have ids that are unique in the cluster.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from ...storage.producers.emulated_version import EmulatedVersion
from ..cluster import Cluster
from ..isolation import Isolation, Surroundings
from ..network.listeners import ListenerConfig
from .server import Server

if TYPE_CHECKING:
    from ..dispatch.held_requests import HeldRequest, HeldRequests
    from ..membership import Membership
    from ..requests.fault_ports import FaultPlan, RequestObserver
    from .crash_restart import SnapshotFault

NodeState = Literal["running", "stopped", "crashed"]


_NAMES: dict[Isolation, Surroundings] = {
    Isolation.CONTROLLER: "controller",
    Isolation.NODES: "nodes",
    Isolation.CLIENTS: "clients",
}


class NodeChangeError(Exception):
    """The state of the cluster does not allow a change of a node or replica. The message is one line for the user."""


class ClusterServer:
    """The servers of a cluster, in the order of its nodes. Call `start`, then `stop`, on the same event loop."""

    def __init__(
        self,
        cluster: Cluster,
        listeners: Sequence[Sequence[ListenerConfig]],
        *,
        plan: FaultPlan | None = None,
        observer: RequestObserver | None = None,
    ) -> None:
        """Bind nothing yet.

        listeners: those of each node. plan: the fault rules of all nodes. observer: the journal of all nodes.
        """
        self.cluster = cluster
        self.servers = [
            Server(cluster, of_node, node=node, plan=plan, observer=observer)
            for node, of_node in zip(cluster.nodes, listeners, strict=True)
        ]
        for server in self.servers[1:]:
            server.share_ids(self.servers[0])

    # -- life of the cluster

    async def start(self) -> None:
        """Start all nodes. Raises OSError if an address cannot be bound; no node runs then."""
        for count, server in enumerate(self.servers):
            try:
                await server.start()
            except OSError:
                await _stop_all(self.servers[:count])
                raise

    async def stop(self) -> None:
        """Stop all nodes, then the store of the metadata, also if a node fails to stop.

        Raises ExceptionGroup with the exceptions of the nodes.
        """
        try:
            await _stop_all(self.servers)
        finally:
            if self.cluster.controller.store is not None:
                await self.cluster.controller.store.stop()

    def server_of(self, node_id: int) -> Server:
        """Return the server of a node that exists."""
        return next(server for server in self.servers if server.node.node_id == node_id)

    @property
    def node_ids(self) -> list[int]:
        """The ids of all nodes, in order."""
        return [server.node.node_id for server in self.servers]

    @property
    def is_started(self) -> bool:
        """Whether the nodes have listened since their creation."""
        return all(server.listeners for server in self.servers)

    @property
    def running(self) -> list[Server]:
        """The servers of the nodes to which clients can connect, in order."""
        return [server for server in self.servers if server.is_running]

    @property
    def is_running(self) -> bool:
        """Whether clients can connect to a node."""
        return any(server.is_running for server in self.servers)

    @property
    def bootstrap_servers(self) -> str:
        """The advertised addresses of the first listener of each node, "host:port,host:port"."""
        return ",".join(server.bootstrap_servers for server in self.servers)

    @property
    def connection_count(self) -> int:
        """The number of open connections to all nodes."""
        return sum(server.connection_count for server in self.servers)

    def prepare_replacement(self) -> None:
        """Prepare the replacement of the cluster's state; all nodes run.

        Closes all connections at once, see Server.drop_connections. Ends all isolations, because a node that is cut off
        from the controller would keep its state. Registers the nodes again that clients have unregistered.
        """
        for server in self.servers:
            server.drop_connections()
        self.rejoin_all()
        for server in self.servers:
            server.ensure_registered()

    # -- injected faults

    @property
    def held(self) -> ClusterHeldRequests:
        """The requests that fault rules hold back on any node. There must be a plan."""
        return ClusterHeldRequests([server.held for server in self.servers])

    def lift_faults(self) -> None:
        """Close the connections of all requests that fault rules hold back, and end isolations and pauses.

        Partitions without a leader elect one. All listeners present their configured certificates again.
        """
        for server in self.servers:
            server.lift_faults()
        self.rejoin_all()
        for node_id in self.node_ids:
            if self.has_paused_replicas(node_id):
                self.resume_replication(node_id)
        if any(not each.has_leader for topic in self.cluster.image.topics.values() for each in topic.partitions):
            self.cluster.controller.replication.elect_missing()

    # -- life of one node

    @property
    def controller_id(self) -> int:
        """The node of the controller."""
        return self.servers[0].node.node_id

    def state_of(self, node_id: int) -> NodeState:
        """Return the state of a node. One that is being started again is still down."""
        server = self.server_of(node_id)
        if server.is_running:
            return "running"
        return "crashed" if server.is_crashed else "stopped"

    def crash(
        self,
        node_id: int,
        restart_after_ms: int | None = None,
        snapshots: SnapshotFault | None = None,
        *,
        noticed: bool = False,
    ) -> None:
        """Crash a running node as SIGKILL does; restart_after_ms and snapshots as of Server.crash.

        noticed: whether the controller learns of it at once, and not after broker.session.timeout.ms.
        """
        self.server_of(node_id).crash(restart_after_ms, snapshots, is_noticed=noticed)

    async def restart(self, node_id: int, snapshots: SnapshotFault | None = None) -> None:
        """Restart a crashed node; as Server.restart. No effect on another one."""
        await self.server_of(node_id).restart(snapshots)

    async def wait_restarted(self) -> None:
        """Wait for the end of the scheduled restarts that have begun."""
        for server in self.servers:
            await server.wait_restarted()

    async def stop_node(self, node_id: int, *, controlled: bool, noticed: bool) -> None:
        """Stop a running node.

        controlled: as by SIGTERM, its leaders move first; otherwise as by SIGKILL. noticed: as of crash.
        Raises NodeChangeError, and OSError for logs that cannot be closed; the node has crashed then.
        """
        if not controlled:
            self.crash(node_id, noticed=noticed)
            return
        self._membership("the only node cannot be stopped cleanly, it can crash")
        await self.server_of(node_id).shut_down()

    async def start_node(self, node_id: int) -> None:
        """Start a node that is down, with its files and on its ports.

        Raises OSError, CorruptFileError, ConfigError, DataDirectoryError as Server.restart.
        """
        await self.server_of(node_id).restart()

    def follow_release(self, node_id: int, version: EmulatedVersion) -> None:
        """Have a node that is down follow another release from its next start on. Raises ConfigError."""
        self.cluster.follow_release(self.server_of(node_id).node, version)

    def _membership(self, refusal: str) -> Membership:
        """Return the membership of several nodes. Raises NodeChangeError with refusal for a cluster of one."""
        if self.cluster.membership is None:
            raise NodeChangeError(refusal)
        return self.cluster.membership

    # -- network of one node

    def isolate(self, node_id: int, from_: Collection[Surroundings]) -> None:
        """Cut a node off, in addition to what it is cut off from already. Raises NodeChangeError."""
        membership = self._membership("the only node has no others, and the controller in it")
        membership.isolate(node_id, [Isolation(each) for each in from_])
        if Isolation.CLIENTS in membership.isolated_from(node_id):
            self.server_of(node_id).cut_off_clients()

    def rejoin(self, node_id: int) -> None:
        """End the isolation of a node; no effect on one that is not isolated."""
        membership = self.cluster.membership
        if membership is not None and membership.isolated_from(node_id):
            membership.rejoin(node_id)
        self.server_of(node_id).reconnect_clients()

    def rejoin_all(self) -> None:
        """End the isolation of all nodes."""
        for node_id in self.node_ids:
            self.rejoin(node_id)

    def isolated_from(self, node_id: int) -> list[Surroundings]:
        """Return what the node is cut off from."""
        membership = self.cluster.membership
        isolated = frozenset[Isolation]() if membership is None else membership.isolated_from(node_id)
        return [name for each, name in _NAMES.items() if each in isolated]

    # -- replicas

    def pause_replication(self, node_id: int, topic: str | None = None, partition: int | None = None) -> None:
        """Stop the fetches of a node's followers: of all, of one topic or of one partition. Raises NodeChangeError."""
        membership = self._membership("the only node fetches from no other")
        membership.set_paused(node_id, is_paused=True, topic_name=topic, index=partition)

    def resume_replication(self, node_id: int, topic: str | None = None, partition: int | None = None) -> None:
        """End the pause of a node's followers: of all, of one topic or of one partition. Raises NodeChangeError."""
        membership = self._membership("the only node fetches from no other")
        membership.set_paused(node_id, is_paused=False, topic_name=topic, index=partition)

    def is_paused(self, node_id: int, topic_id: bytes, partition: int) -> bool:
        """Return whether the replica of a partition on a node is paused."""
        membership = self.cluster.membership
        return membership is not None and membership.is_paused(node_id, topic_id, partition)

    def has_paused_replicas(self, node_id: int) -> bool:
        """Return whether any replica on the node is paused."""
        membership = self.cluster.membership
        return membership is not None and membership.has_paused(node_id)

    def move_leader(self, topic: str, partition: int, node_id: int | None, *, unclean: bool) -> None:
        """Make a node the leader of a partition of which it has a replica.

        node_id: None for no leader until the next election. unclean: allow a replica that is not in the ISR.
        Raises NodeChangeError.
        """
        found = self.cluster.image.topics[topic]
        registration = found.partitions[partition]
        if node_id is None:
            self.cluster.controller.replication.remove_leader(found, partition)
            return
        if registration.leader_id == node_id:
            return
        broker = self.cluster.image.find_broker(node_id)
        if broker is None or not broker.is_active:
            reason = "is not registered" if broker is None else "is fenced"
            raise NodeChangeError(f"node {node_id} {reason} and cannot lead")
        if node_id not in registration.isr and not unclean:
            isr = ", ".join(map(str, registration.isr)) or "empty"
            raise NodeChangeError(
                f"node {node_id} is not in the ISR of {topic}-{partition}, which is {isr}; unclean true allows it"
            )
        self.cluster.controller.replication.move_leader(found, partition, node_id)


class ClusterHeldRequests:
    """The requests that fault rules hold back on all nodes, as one list."""

    def __init__(self, of_nodes: Sequence[HeldRequests]) -> None:
        """of_nodes: those of each node; their ids are unique."""
        self._of_nodes = of_nodes

    def items(self) -> list[HeldRequest]:
        """Return the requests that wait for a release, in the order of their arrival."""
        return sorted((held for each in self._of_nodes for held in each.items()), key=lambda held: held.held_id)

    @property
    def count(self) -> int:
        """The number of held requests of all kinds."""
        return sum(each.count for each in self._of_nodes)

    def find(self, held_id: int) -> HeldRequest | None:
        """Return the request that waits for a release, or None for an unknown id."""
        return next((held for each in self._of_nodes if (held := each.find(held_id)) is not None), None)

    def release(self, held_ids: Iterable[int]) -> None:
        """Resume the requests in this order. Unknown ids are ignored."""
        for held_id in held_ids:
            for each in self._of_nodes:
                each.release([held_id])


async def _stop_all(servers: Sequence[Server]) -> None:
    """Stop the nodes at the same time: each waits for its clients. Raises ExceptionGroup when all have ended."""
    outcomes = await asyncio.gather(*(server.stop() for server in servers), return_exceptions=True)
    failures = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    if failures:
        raise BaseExceptionGroup("nodes could not be stopped", failures)
