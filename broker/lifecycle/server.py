"""Runs a node of a cluster: listeners, periodic work, shutdown, crash and restart.

States: not started, running, crashed (until a restart), stopped. Only a running node accepts connections. A crashed
node keeps its ports bound, but does not listen on them.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import socket
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ...protocol.api_keys import APIS, ApiKey
from ..cluster import Cluster
from ..dispatch.dispatch import Dispatcher
from ..dispatch.pipeline import Pipeline
from ..metadata.metadata_image import Endpoint
from ..network.listeners import Listener, ListenerConfig
from ..network.socket_server import SocketServer
from ..runtime.clock import Timer
from ..security.principal import ANONYMOUS
from .periodic_work import PeriodicWork

if TYPE_CHECKING:
    from ..dispatch.fault_injector import FaultInjector
    from ..dispatch.held_requests import HeldRequests
    from ..node import Node
    from ..requests.fault_ports import FaultPlan, RequestObserver
    from ..requests.response_writer import ResponseWriter
    from ..security.tls.listener_tls import ListenerTls
    from .cleaner_thread import CleanerThread
    from .crash_restart import CrashedNode, LogEndOffsets, SnapshotFault

logger = logging.getLogger(__name__)

# How long a shutdown waits for responses that are not yet written.
STOP_TIMEOUT_SECONDS = 2.0


class Server:
    """Serves a node of a cluster on its listeners. Call `start`, then `stop`, on the same event loop."""

    def __init__(
        self,
        cluster: Cluster,
        listeners: Sequence[ListenerConfig],
        *,
        node: Node | None = None,
        plan: FaultPlan | None = None,
        observer: RequestObserver | None = None,
    ) -> None:
        """Bind nothing yet.

        node: the cluster's first one by default. plan: the fault rules. observer: the journal of requests.
        """
        self.cluster = cluster
        self.node = node or cluster.node
        self.node.observer = observer
        self.listeners: list[Listener] = []
        self._configs = listeners
        self._plan = plan
        self._dispatcher = Dispatcher(plan, observer, self._make_fault_injector, self.node.file_faults)
        self.socket_server = SocketServer(self.node, self._dispatcher)
        self.node.on_client_quotas = self._dispatcher.throttle
        self.node.on_release_changed = self._dispatcher.release_changed
        if self.node.client_quotas is not None:
            # They are those of the data folder.
            self._dispatcher.throttle()
        self.node.on_configs_changed = self.socket_server.configs_changed
        self._change_stores_with_configs()
        self._periodic_work = PeriodicWork(cluster, self.node)
        self.is_running = False
        # Called for each partition after a restart.
        self.on_recovered: Callable[[LogEndOffsets], None] | None = None
        # Called with what happens to the node: "is killed", "stops" or "starts".
        self.on_state: Callable[[str], None] | None = None
        self._crashed: CrashedNode | None = None
        self._restart_timer: Timer | None = None
        # The ids of the requests that faults hold.
        self._held_ids = itertools.count(1)
        self._lifecycle_lock = asyncio.Lock()
        self._restart_task: asyncio.Task[None] | None = None

    def _change_stores_with_configs(self) -> None:
        """Have the listeners with TLS follow the dynamic configs of the node."""
        listeners = self.tls_listeners
        if not listeners:
            return
        # Lazy: most brokers have no TLS.
        from ..security.tls.dynamic_stores import DynamicStores

        def configs() -> Mapping[str, str]:
            # They are looked up with each call: a node that is cut off from the controller has a copy of them.
            return self.node.configs.broker_configs

        stores = {name: DynamicStores(name, tls, configs) for name, tls in listeners.items()}

        def check(texts: Mapping[str, str]) -> None:
            for each in stores.values():
                each.check(texts)

        self.socket_server.stores = stores
        self.node.check_listener_configs = check

    def share_ids(self, other: Server) -> None:
        """Number connections and held requests together with the server of another node, before the start."""
        self._held_ids = other._held_ids
        self.socket_server.connection_ids = other.socket_server.connection_ids

    @property
    def bootstrap_servers(self) -> str:
        """The advertised address of the first listener, "host:port"."""
        return self.listeners[0].address

    @property
    def cleaner_thread(self) -> CleanerThread:
        """The thread of the log cleaner. Only while the node runs."""
        return self._periodic_work.cleaner_thread

    def _make_fault_injector(self) -> FaultInjector:
        # The package of the fault actions is loaded with the first rule.
        from ..dispatch.fault_injector import FaultInjector
        from ..dispatch.held_requests import HeldRequests

        assert self._plan is not None, "there is no fault injector without rules"
        node = self.node
        return FaultInjector(
            HeldRequests(node.clock, self._held_ids),
            # The image is looked up with each call: a node that is cut off from the controller has a copy of it.
            lambda topic_id: node.image.topic_name_of(topic_id),
            node.file_faults,
            self._plan,
            self._dispatcher.observer,
            self.crash,
        )

    @property
    def is_crashed(self) -> bool:
        """Whether the node has crashed and is not running again."""
        return self._crashed is not None and self._crashed.was_killed

    @property
    def connections(self) -> list[ResponseWriter]:
        """The open connections, in no order."""
        return self._dispatcher.connections

    @property
    def connection_count(self) -> int:
        """The number of open connections."""
        return self._dispatcher.connection_count

    @property
    def held(self) -> HeldRequests:
        """The requests that fault rules hold back. There must be a plan."""
        return self._dispatcher.fault_injector.held

    def lift_faults(self) -> None:
        """Close the connections of all requests that fault rules hold back, and present the configured certificates."""
        self._dispatcher.lift_faults()
        self.socket_server.presented.clear()

    @property
    def tls_listeners(self) -> dict[str, ListenerTls]:
        """The listeners with TLS, by name, also while the node is down."""
        found = {config.name: config.security for config in self._configs}
        return {name: each.tls for name, each in found.items() if each is not None and each.tls is not None}

    def cut_off_clients(self) -> None:
        """Handle no request and no connection, as if the network were cut. Pending responses are still sent."""
        self._dispatcher.cut_off()

    def reconnect_clients(self) -> None:
        """Handle what has arrived since cut_off_clients, and everything after it."""
        self._dispatcher.reconnect()

    def drop_connections(self) -> None:
        """Close all connections at once, because the cluster's state is replaced.

        No request received so far is applied later. The caller replaces the state before it returns to the event loop.
        """
        self.socket_server.drop_unattached()
        self._dispatcher.drop_connections()
        # Their connections have ended, so nothing continues.
        self._dispatcher.lift_faults()

    async def start(self) -> None:
        """Load the coordinators and listen on every listener.

        Raises OSError if an address cannot be bound; no listener is open then.
        """
        if self.node.file_faults is not None and self.node.event_loop_bridge is not None:
            self.node.file_faults.on_crash = self.crash
            self.node.event_loop_bridge.begin()
        if self.cluster.membership is not None:
            self.cluster.membership.all_started()
            self.cluster.membership.begin_balancing()
        self.node.load_coordinators()
        await self._prepare_authentication()
        try:
            await self._listen(self._configs)
        except OSError:
            await self.stop()
            raise
        # ApiVersions is the first request of every client.
        Pipeline(APIS[ApiKey.API_VERSIONS], self.node)
        self._periodic_work.begin()
        self.is_running = True

    async def _prepare_authentication(self) -> None:
        """Have the listeners get what their first clients need, off the event loop: it may belong to a test."""
        for security in [config.security for config in self._configs]:
            if security is not None and security.mechanisms is not None:
                await asyncio.to_thread(security.mechanisms.prepare)

    def open_internally(self) -> socket.socket:
        """Return a connected socket for an export by this process. Raises OSError, also if the node does not run.

        Its principal is a super user, if there is one.
        """
        if not self.is_running:
            raise ConnectionRefusedError(f"node {self.node.node_id} does not run")
        authorizer = self.node.authorizer
        principal = ANONYMOUS if authorizer is None else authorizer.a_super_user or ANONYMOUS
        return self.socket_server.open_internally(self.listeners[0], principal)

    async def _listen(self, configs: Sequence[ListenerConfig]) -> None:
        """Listen, and register the addresses for the clients of other nodes. Raises OSError."""
        self.listeners = [await self.socket_server.listen(config) for config in configs]
        self.node.listeners = self.listeners
        self._register_addresses()

    async def move(self) -> None:
        """Listen on other free ports, after the socket server has handed over its sockets.

        Each port of the configs is 0. Raises OSError.
        """
        await self._listen(self._configs)

    def _register_addresses(self) -> None:
        registration = self.node.image.find_broker(self.node.node_id)
        assert registration is not None, "a node is registered before it listens"
        registration.directory_id = self.node.replicas.log_directory_id
        registration.endpoints = {
            listener.name: Endpoint(listener.advertised_host, listener.advertised_port) for listener in self.listeners
        }

    def ensure_registered(self) -> None:
        """Register a running node again that a client has unregistered."""
        if self.node.image.find_broker(self.node.node_id) is not None:
            return
        membership = self.cluster.membership
        assert membership is not None, "the only node cannot be unregistered"
        membership.node_registers(self.node.node_id, was_killed=False)
        self._register_addresses()
        membership.node_started(self.node.node_id)

    def crash(
        self,
        restart_after_ms: int | None = None,
        snapshots: SnapshotFault | None = None,
        *,
        is_noticed: bool = False,
    ) -> None:
        """Crash the node as SIGKILL does: abort all connections and leave the files as they are.

        No effect on a node that is not running. It may be called while a request is handled. Written responses are
        still sent. Then a client with unread bytes gets an RST, every other client a FIN.
        restart_after_ms: when to restart the node, by the cluster's clock; None for never.
        snapshots: what the restart does to the producer snapshots. is_noticed: whether the controller of several nodes
        learns of it at once, and not by the session of the node.
        """
        if not self.is_running:
            return
        # Loaded with the first crash only, with the packages for files.
        from .crash_restart import crash_node

        self._report_state("is killed")
        self.is_running = False
        self.socket_server.reserve_ports()
        self._dispatcher.clear_cut_off()
        self._dispatcher.abort_connections()
        self._dispatcher.lift_faults()
        self._crashed = crash_node(self.cluster, self._periodic_work.abandon(), self.node, is_noticed=is_noticed)
        logger.warning("node %d crashed", self.node.node_id)
        if restart_after_ms is not None:
            self._restart_timer = self.cluster.clock.call_later(
                restart_after_ms, lambda: self._begin_restart(snapshots)
            )

    async def shut_down(self) -> None:
        """Shut a node of several down: its leaders move first, then it closes its connections and its logs.

        `restart` starts it again. No effect on a node that is not running.
        Raises OSError if the logs cannot be closed; the node has crashed then.
        """
        async with self._lifecycle_lock:
            if not self.is_running:
                return
            from .crash_restart import close_node, crash_node

            self._report_state("stops")
            self.cluster.controller.replication.begin_shutdown(self.node.node_id)
            self.is_running = False
            self.socket_server.reserve_ports()
            self._dispatcher.clear_cut_off()
            await self._close_connections()
            await self._periodic_work.stop()
            try:
                self._crashed = await close_node(self.cluster, self.node)
            except OSError:
                # The leaders have moved, so the controller fences the node at once. The next start recovers the logs.
                self._crashed = crash_node(self.cluster, None, self.node, is_noticed=True)
                raise
            logger.info("node %d stopped", self.node.node_id)

    def _report_state(self, happens: str) -> None:
        if self.on_state is not None:
            self.on_state(happens)

    def _begin_restart(self, snapshots: SnapshotFault | None) -> None:
        self._restart_task = asyncio.get_running_loop().create_task(self._restart_or_log(snapshots))

    def _cancel_scheduled_restart(self) -> None:
        if self._restart_timer is not None:
            self._restart_timer.cancel()
            self._restart_timer = None

    async def _restart_or_log(self, snapshots: SnapshotFault | None) -> None:
        try:
            await self.restart(snapshots)
        except Exception:
            logger.exception("node %d could not be restarted", self.node.node_id)

    async def wait_restarted(self) -> None:
        """Wait for the end of a scheduled restart that has begun."""
        if self._restart_task is not None:
            await self._restart_task

    async def restart(self, snapshots: SnapshotFault | None = None) -> None:
        """Restart a crashed node on the same ports, from its files; no effect on another node.

        snapshots: what to do to the producer snapshots; KEEP by default.
        Raises OSError, CorruptFileError, ConfigError, DataDirectoryError; the node stays down then.
        """
        async with self._lifecycle_lock:
            crashed = self._crashed
            if crashed is None:
                return
            from .crash_restart import SnapshotFault, restart_node

            log_ends = await restart_node(self.cluster, crashed, snapshots or SnapshotFault.KEEP, self.node)
            self.socket_server.release_ports()
            ports = [listener.port for listener in self.listeners]
            try:
                configs = [config._replace(port=port) for config, port in zip(self._configs, ports, strict=True)]
                await self._listen(configs)
            except OSError:
                self.socket_server.stop_listening()
                self._dispatcher.abort_connections()
                raise
            self._crashed = None
            self._cancel_scheduled_restart()
            self._periodic_work.begin()
            self.is_running = True
            self._report_state("starts")
            for offsets in log_ends:
                if self.on_recovered is not None:
                    self.on_recovered(offsets)

    async def stop(self) -> None:
        """Stop listening, close the connections, and wait for the disk executor."""
        async with self._lifecycle_lock:
            await self._stop()

    async def _stop(self) -> None:
        self.is_running = False
        if self._crashed is not None:
            self._cancel_scheduled_restart()
            await self._crashed.wait_executors()
            self._crashed = None
            self.socket_server.release_ports()
        self._periodic_work.cancel()
        self.socket_server.stop_listening()
        await self._close_connections()
        await self._periodic_work.stop()
        await self.node.stop_disk_executor()

    async def _close_connections(self) -> None:
        """Close the connections when the responses to received requests are written, or after a time."""
        # The dispatcher does not have the connections that were accepted last, and the event loop may end after this.
        await self.socket_server.wait_attached()
        self._dispatcher.close_connections()
        try:
            async with asyncio.timeout(STOP_TIMEOUT_SECONDS):
                await self._dispatcher.wait_closed()
        except TimeoutError:
            self._dispatcher.abort_connections()
