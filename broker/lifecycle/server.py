"""Starts a node and stops it: the listeners, and the work that recurs while it runs."""

from __future__ import annotations

import asyncio
import itertools
import logging
import socket
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...protocol.api_keys import APIS, ApiKey
from ..cluster import Cluster
from ..dispatch.dispatch import Dispatcher, load_handler
from ..network.busy_poll import BusyPoll
from ..network.connection import Connection
from ..network.listeners import Listener, ListenerConfig
from ..requests.request_context import ConnectionInfo, RequestContext
from ..runtime.clock import Timer

if TYPE_CHECKING:
    from ..dispatch.fault_injector import FaultInjector
    from ..dispatch.held_requests import HeldRequests
    from ..requests.fault_ports import FaultPlan, RequestObserver
    from .cleaner_thread import CleanerThread
    from .crash_restart import CrashedNode, LogEndOffsets, SnapshotFault

logger = logging.getLogger(__name__)

# Connections that may wait to be accepted, as Kafka's socket.listen.backlog.size.
LISTEN_BACKLOG = 50
# How long a stop waits for the answers that are on their way out.
STOP_TIMEOUT_SECONDS = 2.0
# Kafka's cleaners may be told to look for work without any pause; here that would be all that the loop does.
CLEANER_BACKOFF_MS_MIN = 100


class Server:
    """One node of a cluster on its listeners. `await start()`, then `await stop()`; both on one event loop."""

    def __init__(
        self,
        cluster: Cluster,
        listeners: Sequence[ListenerConfig],
        *,
        plan: FaultPlan | None = None,
        observer: RequestObserver | None = None,
    ) -> None:
        """Prepare; nothing is bound before start.

        plan: says what goes wrong on purpose. observer: is told what happened to each request.
        """
        self.cluster = cluster
        self.node = cluster.node
        self.node.observer = observer
        self.listeners: list[Listener] = []
        self._configs = listeners
        self._plan = plan
        self._dispatcher = Dispatcher(plan, observer, self._make_fault_injector, self.node.file_faults)
        self._busy_poll = BusyPoll(self.node.config.busy_poll_us)
        self._connection_ids = itertools.count(1)
        self._servers: list[asyncio.Server] = []
        self._recurring: list[Timer] = []
        self._cleaner_thread: CleanerThread | None = None
        # Whether clients can connect: not before start, between a crash and a restart, and from stop on.
        self.is_running = False
        # Is told of each partition after a restart.
        self.on_recovered: Callable[[LogEndOffsets], None] | None = None
        self._crashed: CrashedNode | None = None
        self._reserved: list[socket.socket] = []
        self._life_change = asyncio.Lock()
        self._restarting: asyncio.Task[None] | None = None

    @property
    def bootstrap_servers(self) -> str:
        """The advertised address of the first listener, "host:port"."""
        return self.listeners[0].address

    def _make_fault_injector(self) -> FaultInjector:
        from ..dispatch.fault_injector import FaultInjector

        assert self._plan is not None, "nothing is intercepted without a plan"
        node = self.node
        return FaultInjector(
            node.clock,
            node.image.topic_name_of,
            node.file_faults,
            self._plan,
            self._dispatcher.observer,
            self.crash,
        )

    @property
    def connection_count(self) -> int:
        """How many connections are open."""
        return self._dispatcher.connection_count

    @property
    def held(self) -> HeldRequests:
        """The requests that faults keep; only with a plan."""
        return self._dispatcher.fault_injector.held

    def lift_faults(self) -> None:
        """Give up every request and connection that a fault keeps: the connections are closed."""
        self._dispatcher.lift_faults()

    def abort_connections(self) -> None:
        """Close all connections at once, whatever is on its way: what their clients know is not so any more."""
        self._dispatcher.abort_connections()

    async def start(self) -> None:
        """Bind every listener; clients can connect when this returns.

        Raises OSError where an address cannot be bound; nothing is left open then.
        """
        if self.node.file_faults is not None and self.node.event_loop_bridge is not None:
            self.node.file_faults.on_crash = self.crash
            self.node.event_loop_bridge.begin()
        self.node.load_coordinators()
        try:
            self.listeners = [await self._bind(config) for config in self._configs]
        except OSError:
            await self.stop()
            raise
        # Every client begins with this one; what else is imported beside the first requests is not to hold it up.
        load_handler(APIS[ApiKey.API_VERSIONS])
        self._begin_upkeep()
        self.is_running = True

    def _begin_upkeep(self) -> None:
        settings, replicas = self.node.config, self.node.replicas
        self._every(settings.log_retention_check_interval_ms, replicas.enforce_retention)
        self._every(settings.producer_id_expiration_check_interval_ms, replicas.expire_producers)
        if settings.log_cleaner_enable:
            self._every(max(settings.log_cleaner_backoff_ms, CLEANER_BACKOFF_MS_MIN), self._clean)
        if replicas.is_on_disk:
            # In memory there is nothing to be flushed, checkpointed or deleted later.
            from .log_scheduler import LogScheduler

            for interval_ms, work in LogScheduler(replicas).schedule():
                self._every(interval_ms, work)

    def _clean(self) -> None:
        if self._cleaner_thread is None:
            # Loaded when it is first due: a start does not pay for it.
            from .cleaner_thread import CleanerThread

            self._cleaner_thread = CleanerThread(self.node.replicas)
        self._cleaner_thread.clean()

    def crash(self, restart_after_ms: int | None = None, snapshots: SnapshotFault | None = None) -> None:
        """Die as by SIGKILL, at once: no answer leaves any more, nobody can connect, and the files are as they are.

        Without effect on a node that does not run. It may be called while a request is being handled.
        The sockets are closed without a word, as the system does for a process that was killed: what was written goes
        out; then a client whose last bytes were not read gets an RST, and any other a FIN.
        restart_after_ms: when the node is started again, by the cluster's clock; None for never.
        snapshots: what happens then to the snapshots of producers; see restart.
        """
        if not self.is_running:
            return
        from .crash_restart import crash_node

        self.is_running = False
        addresses = [(bound.family, bound.getsockname()) for server in self._servers for bound in server.sockets]
        self._stop_listening()
        self._reserved = [reserved for address in addresses if (reserved := _find_reserved(*address)) is not None]
        self._dispatcher.abort_connections()
        self._dispatcher.lift_faults()
        self._recurring.clear()
        self._crashed = crash_node(self.cluster, self._cleaner_thread)
        self._cleaner_thread = None
        logger.warning("node %d crashed", self.node.node_id)
        if restart_after_ms is not None:
            self.cluster.clock.call_later(restart_after_ms, lambda: self._restart_soon(snapshots))

    def _restart_soon(self, snapshots: SnapshotFault | None) -> None:
        self._restarting = asyncio.get_running_loop().create_task(self._restart_or_log(snapshots))

    async def _restart_or_log(self, snapshots: SnapshotFault | None) -> None:
        try:
            await self.restart(snapshots)
        except Exception:
            logger.exception("node %d could not be started again", self.node.node_id)

    async def wait_restarted(self) -> None:
        """Return when a restart that was due has ended, well or not; at once where none was."""
        if self._restarting is not None:
            await self._restarting

    async def restart(self, snapshots: SnapshotFault | None = None) -> None:
        """Start a node that crashed again, on the same ports, with what its files hold; without effect on another.

        snapshots: what has happened to the snapshots of producers meanwhile; they are kept by default.
        Raises OSError, CorruptFileError, ConfigError, DataDirectoryError; it is still down then.
        """
        async with self._life_change:
            dead = self._crashed
            if dead is None:
                return
            from .crash_restart import SnapshotFault, restart_node

            ends = await restart_node(self.cluster, dead, snapshots or SnapshotFault.KEEP)
            self._release_ports()
            ports = [listener.port for listener in self.listeners]
            try:
                configs = [config._replace(port=port) for config, port in zip(self._configs, ports, strict=True)]
                self.listeners = [await self._bind(config) for config in configs]
            except OSError:
                self._stop_listening()
                self._dispatcher.abort_connections()
                raise
            self._crashed = None
            self._begin_upkeep()
            self.is_running = True
            for each in ends:
                if self.on_recovered is not None:
                    self.on_recovered(each)

    def _stop_listening(self) -> None:
        for server in self._servers:
            server.close()
        self._servers.clear()

    def _release_ports(self) -> None:
        for reserved in self._reserved:
            reserved.close()
        self._reserved.clear()

    async def stop(self) -> None:
        """Accept no more, close what is open, and return when it is closed and nothing is on its way to the disk."""
        async with self._life_change:
            await self._stop()

    async def _stop(self) -> None:
        self.is_running = False
        if self._crashed is not None:
            # Its timers have gone with it, but for that of its restart.
            self.cluster.clock.cancel_all()
            await self._crashed.wait_steps()
            self._crashed = None
            self._release_ports()
        for timer in self._recurring:
            timer.cancel()
        self._stop_listening()
        self._dispatcher.close_connections()
        try:
            async with asyncio.timeout(STOP_TIMEOUT_SECONDS):
                await self._dispatcher.wait_closed()
        except TimeoutError:
            self._dispatcher.abort_connections()
        if self._cleaner_thread is not None:
            await self._cleaner_thread.stop()
        await self.node.stop_disk_executor()

    async def _bind(self, config: ListenerConfig) -> Listener:
        listener: Listener | None = None

        def connection() -> Connection:
            assert listener is not None, "a connection before the listener is bound"
            context = RequestContext(
                self.node, ConnectionInfo(next(self._connection_ids), listener, node_id=self.node.node_id)
            )
            frame_bytes_max = self.node.config.socket_request_max_bytes
            return Connection(self._dispatcher, context, self._busy_poll, frame_bytes_max=frame_bytes_max)

        loop = asyncio.get_running_loop()
        host = config.host or None
        bound = _bound_by_number(host, config.port)
        if bound is None:
            where = (host, config.port)
            server = await loop.create_server(connection, *where, backlog=LISTEN_BACKLOG, start_serving=False)
        else:
            server = await loop.create_server(connection, sock=bound, backlog=LISTEN_BACKLOG, start_serving=False)
        self._servers.append(server)
        listener = config.bound_to(server.sockets[0].getsockname()[1])
        await server.start_serving()
        logger.info("listening on %s as %s, advertised as %s", config.host, listener.name, listener.address)
        return listener

    def _every(self, interval_ms: int, work: Callable[[], None]) -> None:
        """Run work each interval_ms of the cluster's clock, until stop; never where that is 0."""
        if interval_ms > 0:
            self._recurring.append(self.cluster.clock.call_every(interval_ms, work))


def _bound_by_number(host: str | None, port: int) -> socket.socket | None:
    """Return a socket that is bound to an IPv4 address, None where host is another kind of name.

    Without what an event loop loads to look names up, which a start pays for. Raises OSError.
    """
    try:
        socket.inet_pton(socket.AF_INET, host or "")
    except OSError:
        return None
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        reason = (error.strerror or str(error)).lower()
        raise OSError(error.errno, f"cannot bind {host}:{port}: {reason}") from error
    return bound


def _find_reserved(family: int, address: tuple[str, int]) -> socket.socket | None:
    """Return a socket that keeps the address for a node that is down, None where that cannot be.

    It does not listen, so that whoever connects is refused. Without it the system may give the port to a client that
    tries to connect to it: to a connection of the client with itself.
    """
    reserved = socket.socket(family, socket.SOCK_STREAM)
    try:
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        reserved.bind(address)
    except OSError:
        reserved.close()
        return None
    return reserved
