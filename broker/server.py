"""Starts a node and stops it: the listeners, and the work that recurs while it runs."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .busy_poll import BusyPoll
from .clock import Timer
from .cluster import Cluster
from .connection import Connection
from .dispatch import Dispatcher
from .listeners import Listener, ListenerConfig
from .request_context import ConnectionInfo, RequestContext

if TYPE_CHECKING:
    from .compaction import Compaction
    from .held_requests import HeldRequests
    from .interception import FaultPlan, RequestObserver
    from .interceptor import Interceptor

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
        self.listeners: list[Listener] = []
        self._configs = listeners
        self._plan = plan
        self._dispatcher = Dispatcher(plan, observer, self._make_interceptor)
        self._busy_poll = BusyPoll(cluster.config.busy_poll_us)
        self._connection_ids = itertools.count(1)
        self._servers: list[asyncio.Server] = []
        self._recurring: list[Timer] = []
        self._compaction: Compaction | None = None

    @property
    def bootstrap_servers(self) -> str:
        """The advertised address of the first listener, "host:port"."""
        return self.listeners[0].address

    def _make_interceptor(self) -> Interceptor:
        from .interceptor import Interceptor

        assert self._plan is not None, "nothing is intercepted without a plan"
        return Interceptor(self.cluster, self._plan, self._dispatcher.observer, self._crash_and_restart)

    def _crash_and_restart(self, restart_after_ms: int | None) -> None:
        self.crash()
        if restart_after_ms is not None:
            self.cluster.clock.call_later(restart_after_ms, self._restart_soon)

    def _restart_soon(self) -> None:
        self._restarting = asyncio.get_running_loop().create_task(self.restart())

    @property
    def held(self) -> HeldRequests:
        """The requests that faults keep; only with a plan."""
        return self._dispatcher.interceptor.held

    def lift_faults(self) -> None:
        """Give up every request and connection that a fault keeps: the connections are closed."""
        self._dispatcher.lift_faults()

    async def start(self) -> None:
        """Bind every listener; clients can connect when this returns.

        Raises OSError where an address cannot be bound; nothing is left open then.
        """
        try:
            for config in self._configs:
                await self._bind(config)
        except OSError:
            await self.stop()
            raise
        settings = self.cluster.config
        self._every(settings.log_retention_check_interval_ms, self.cluster.enforce_retention)
        self._every(settings.producer_id_expiration_check_interval_ms, self.cluster.expire_producers)
        if settings.log_cleaner_enable:
            self._every(max(settings.log_cleaner_backoff_ms, CLEANER_BACKOFF_MS_MIN), self._clean)
        if self.cluster.is_on_disk:
            # In memory there is nothing to be flushed, checkpointed or deleted later.
            from .log_upkeep import LogUpkeep

            for interval_ms, work in LogUpkeep(self.cluster).schedule():
                self._every(interval_ms, work)

    def _clean(self) -> None:
        if self._compaction is None:
            # Loaded when it is first due: a start does not pay for it.
            from .compaction import Compaction

            self._compaction = Compaction(self.cluster)
        self._compaction.clean()

    async def stop(self) -> None:
        """Accept no more, close what is open, and return when it is closed and nothing is on its way to the disk."""
        for timer in self._recurring:
            timer.cancel()
        for server in self._servers:
            server.close()
        self._dispatcher.close_connections()
        try:
            async with asyncio.timeout(STOP_TIMEOUT_SECONDS):
                await self._dispatcher.wait_closed()
        except TimeoutError:
            self._dispatcher.abort_connections()
        self._servers.clear()
        if self._compaction is not None:
            await self._compaction.stop()
        await self.cluster.stop_steps()

    async def _bind(self, config: ListenerConfig) -> None:
        listener: Listener | None = None

        def connection() -> Connection:
            assert listener is not None, "a connection before the listener is bound"
            context = RequestContext(self.cluster, ConnectionInfo(next(self._connection_ids), listener))
            frame_bytes_max = self.cluster.config.socket_request_max_bytes
            return Connection(self._dispatcher, context, self._busy_poll, frame_bytes_max=frame_bytes_max)

        loop = asyncio.get_running_loop()
        host = config.host or None
        server = await loop.create_server(connection, host, config.port, backlog=LISTEN_BACKLOG, start_serving=False)
        self._servers.append(server)
        listener = config.bound_to(server.sockets[0].getsockname()[1])
        self.listeners.append(listener)
        await server.start_serving()
        logger.info("listening on %s as %s, advertised as %s", config.host, listener.name, listener.address)

    def _every(self, interval_ms: int, work: Callable[[], None]) -> None:
        """Run work each interval_ms of the cluster's clock, until stop; never where that is 0."""
        if interval_ms > 0:
            self._recurring.append(self.cluster.clock.call_every(interval_ms, work))
