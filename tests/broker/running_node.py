"""A node on an event loop in its own thread, for tests that crash and restart it."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Self, TypeVar

from fauxka.broker.cluster import Cluster
from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.lifecycle.cluster_loader import load_cluster
from fauxka.broker.lifecycle.cluster_reset import SeedTopic, reset_cluster
from fauxka.broker.lifecycle.cluster_snapshot import ClusterSnapshot, restore_snapshot, take_snapshot
from fauxka.broker.lifecycle.crash_restart import LogEndOffsets, SnapshotFault
from fauxka.broker.lifecycle.server import Server
from fauxka.broker.lifecycle.storage_options import StorageOptions
from fauxka.broker.network.listeners import ListenerConfig
from fauxka.broker.requests.fault_ports import FaultPlan
from fauxka.broker.runtime.clock import AdjustableClock
from fauxka.broker.runtime.event_loop import new_event_loop
from fauxka.storage.file_systems.file_system import FileSystem

from .blocking_client import BlockingClient

Result = TypeVar("Result")
# Much longer than any step takes.
SECONDS_MAX = 120.0


class Node:
    """`with Node() as node:` runs a node in memory; with a folder, on disk."""

    def __init__(
        self,
        data_dir: str | os.PathLike[str] | None = None,
        *,
        import_logs: str | os.PathLike[str] | None = None,
        config: Mapping[str, str] | None = None,
        clock: AdjustableClock | None = None,
        plan: FaultPlan | None = None,
        file_system: FileSystem | None = None,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        settings = BrokerConfig.from_entries({"fauxka.busy.poll.us": "0", **(config or {})})
        if data_dir is None and import_logs is None:
            self.cluster = Cluster(settings, clock=clock, file_system=file_system)
        else:
            options = StorageOptions(
                data_dir=None if data_dir is None else os.fspath(data_dir),
                import_logs=() if import_logs is None else [os.fspath(import_logs)],
            )
            self.cluster = load_cluster(settings, options, clock=clock)
        self.ends: list[LogEndOffsets] = []
        self.server = Server(self.cluster, [ListenerConfig(port=0)], plan=plan)
        self.server.on_recovered = self.ends.append
        self._loop = loop or new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self.run(self.server.start)
        return self

    def __exit__(self, *error: object) -> None:
        self.run(self.server.stop)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(SECONDS_MAX)
        self._loop.close()
        self.cluster.close()

    @property
    def address(self) -> str:
        return self.server.bootstrap_servers

    def client(self) -> BlockingClient:
        return BlockingClient(self.address)

    def run(self, function: Callable[[], Awaitable[Result]]) -> Result:
        """Await function on the node's thread and return its result."""

        async def awaited() -> Result:
            return await function()

        running: Future[Result] = asyncio.run_coroutine_threadsafe(awaited(), self._loop)
        return running.result(SECONDS_MAX)

    def call(self, function: Callable[[], Result]) -> Result:
        """Call function on the node's thread and return its result."""

        async def called() -> Result:
            return function()

        return self.run(called)

    def crash(self) -> None:
        self.call(self.server.crash)

    def restart(self, snapshots: SnapshotFault | None = None) -> None:
        self.run(lambda: self.server.restart(snapshots))

    def reset(self, seed_topics: Sequence[SeedTopic] = ()) -> None:
        self.restart()

        def reset() -> None:
            self.server.drop_connections()
            reset_cluster(self.cluster, seed_topics)

        self.call(reset)

    def take_snapshot(self) -> ClusterSnapshot:
        return self.call(lambda: take_snapshot(self.cluster))

    def restore(self, snapshot: ClusterSnapshot) -> None:
        self.restart()

        def restore() -> None:
            self.server.drop_connections()
            restore_snapshot(self.cluster, snapshot)

        self.call(restore)

    def is_refusing(self) -> bool:
        """Whether the node refuses connections."""
        host, _, port = self.address.rpartition(":")
        try:
            socket.create_connection((host, int(port)), SECONDS_MAX).close()
        except ConnectionRefusedError:
            return True
        return False


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS_MAX
    while not is_so():
        assert time.monotonic() < deadline, "it never was"
