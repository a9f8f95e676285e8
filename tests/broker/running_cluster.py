"""A cluster of several nodes in memory, on an event loop in its own thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from typing import Self, TypeVar

from fauxka.broker.cluster import Cluster
from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.lifecycle.server import Server
from fauxka.broker.network.listeners import ListenerConfig
from fauxka.broker.runtime.event_loop import new_event_loop

from .blocking_client import BlockingClient

Result = TypeVar("Result")
SECONDS_MAX = 20.0


class RunningCluster:
    """`with RunningCluster() as cluster:` runs nodes 1, 2 and 3. racks: of each node."""

    def __init__(self, racks: Sequence[str | None] = (None, None, None), **config: str) -> None:
        settings = BrokerConfig.from_entries(
            {"fauxka.busy.poll.us": "0", **({"broker.rack": racks[0]} if racks[0] else {}), **config}
        )
        self.cluster = Cluster(settings)
        for rack in racks[1:]:
            self.cluster.add_node(rack)
        self._servers = [Server(self.cluster, [ListenerConfig(port=0)], node=node) for node in self.cluster.nodes]
        self._loop = new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        for server in self._servers:
            self._run(server.start)
        return self

    def __exit__(self, *error: object) -> None:
        for server in self._servers:
            self._run(server.stop)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(SECONDS_MAX)
        self._loop.close()
        self.cluster.close()

    def address(self, node_id: int) -> str:
        return self._servers[node_id - 1].bootstrap_servers

    def client(self, node_id: int) -> BlockingClient:
        """Return a client that is connected to a node."""
        return BlockingClient(self.address(node_id))

    def call(self, function: Callable[[], Result]) -> Result:
        """Call function on the cluster's thread and return its result."""

        async def called() -> Result:
            return function()

        return self._run(called)

    def _run(self, function: Callable[[], Awaitable[Result]]) -> Result:
        async def awaited() -> Result:
            return await function()

        return asyncio.run_coroutine_threadsafe(awaited(), self._loop).result(SECONDS_MAX)
