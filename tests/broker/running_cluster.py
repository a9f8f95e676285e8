"""A cluster of several nodes in memory, on an event loop in its own thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Self, TypeVar

from fauxka.broker.cluster import Cluster
from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.isolation import Isolation
from fauxka.broker.lifecycle.cluster_loader import load_cluster
from fauxka.broker.lifecycle.server import Server
from fauxka.broker.lifecycle.storage_options import StorageOptions
from fauxka.broker.membership import Membership
from fauxka.broker.metadata.metadata_image import PartitionRegistration
from fauxka.broker.network.listeners import ListenerConfig
from fauxka.broker.runtime.event_loop import new_event_loop
from fauxka.storage.producers.emulated_version import EmulatedVersion

from .blocking_client import BlockingClient

Result = TypeVar("Result")
SECONDS_MAX = 120.0


class RunningCluster:
    """`with RunningCluster() as cluster:` runs nodes 1, 2 and 3.

    racks: of each node. data_dir: where the nodes have their folders; in memory by default.
    as_version: the release that nodes in memory follow.
    """

    def __init__(
        self,
        racks: Sequence[str | None] = (None, None, None),
        data_dir: str | None = None,
        as_version: str | None = None,
        **config: str,
    ) -> None:
        settings = BrokerConfig.from_entries(
            {"fauxka.busy.poll.us": "0", **({"broker.rack": racks[0]} if racks[0] else {}), **config}
        )
        if data_dir is None:
            version = None if as_version is None else EmulatedVersion.parse(as_version)
            self.cluster = Cluster(settings, emulated_version=version)
            for rack in racks[1:]:
                self.cluster.add_node(rack)
        else:
            self.cluster = load_cluster(settings, StorageOptions(data_dir=data_dir, racks=racks))
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
        if self.cluster.controller.store is not None:
            self._run(self.cluster.controller.store.stop)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(SECONDS_MAX)
        self._loop.close()
        self.cluster.close()

    def address(self, node_id: int) -> str:
        return self._servers[node_id - 1].bootstrap_servers

    def client(self, node_id: int) -> BlockingClient:
        """Return a client that is connected to a node."""
        return BlockingClient(self.address(node_id))

    def kill(self, node_id: int, *, is_noticed: bool = True) -> None:
        """Kill a node as SIGKILL does."""
        self.call(lambda: self._servers[node_id - 1].crash(is_noticed=is_noticed))

    def shut_down(self, node_id: int) -> None:
        """Stop a node as SIGTERM does."""
        self._run(self._servers[node_id - 1].shut_down)

    def restart(self, node_id: int) -> None:
        """Start a stopped node again."""
        self._run(self._servers[node_id - 1].restart)

    def isolate(self, node_id: int, isolated_from: Sequence[Isolation]) -> None:
        """Cut a node off."""

        def cut_off() -> None:
            self.membership.isolate(node_id, isolated_from)
            if Isolation.CLIENTS in isolated_from:
                self._servers[node_id - 1].cut_off_clients()

        self.call(cut_off)

    def rejoin(self, node_id: int) -> None:
        """Connect a node again with everything."""

        def connect() -> None:
            self.membership.rejoin(node_id)
            self._servers[node_id - 1].reconnect_clients()

        self.call(connect)

    def drop_connections(self, node_id: int) -> None:
        """Close all connections of a node at once."""
        self.call(self._servers[node_id - 1].drop_connections)

    @property
    def membership(self) -> Membership:
        membership = self.cluster.membership
        assert membership is not None, "a cluster of several nodes"
        return membership

    def advance(self, milliseconds: int) -> None:
        """Move the clock forward, with everything that is due."""
        self.call(lambda: self.cluster.clock.advance(milliseconds))

    def partition(self, topic_name: str, index: int = 0) -> PartitionRegistration:
        """Return the partition as the controller knows it."""
        return self.call(lambda: replace(self.cluster.image.topics[topic_name].partitions[index]))

    def log_end(self, node_id: int, topic_name: str, index: int = 0) -> int:
        """Return the log end offset of a replica."""
        node = self.cluster.nodes[node_id - 1]
        return self.call(lambda: node.replicas.partition_of(topic_name, index).log.log_end_offset)

    def call(self, function: Callable[[], Result]) -> Result:
        """Call function on the cluster's thread and return its result."""

        async def called() -> Result:
            return function()

        return self._run(called)

    def _run(self, function: Callable[[], Awaitable[Result]]) -> Result:
        async def awaited() -> Result:
            return await function()

        return asyncio.run_coroutine_threadsafe(awaited(), self._loop).result(SECONDS_MAX)
