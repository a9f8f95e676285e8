"""A broker in a thread, for a test: start, address, stop.

with Broker({"num.partitions": "3"}) as broker:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Self, TypeVar

from .broker.clock import AdjustableClock
from .broker.cluster import Cluster
from .broker.config import BrokerConfig
from .broker.event_loop import new_event_loop
from .broker.listeners import ListenerConfig
from .broker.server import Server
from .storage.emulated_version import EmulatedVersion
from .storage.file_system import FileSystem

# In one process with its clients the broker would look for the next request in time that they need themselves.
CONFIG_DEFAULTS = {"fauxka.busy.poll.us": "0"}
# Starting binds a socket and imports little; a start that takes longer hangs.
START_TIMEOUT_SECONDS = 10.0

Result = TypeVar("Result")


class Broker:
    """A broker on its own event loop in its own thread, on a free port of 127.0.0.1."""

    def __init__(
        self,
        config: Mapping[str, str] | None = None,
        *,
        as_version: str | None = None,
        clock: AdjustableClock | None = None,
        file_system: FileSystem | None = None,
        listeners: Sequence[ListenerConfig] = (ListenerConfig(port=0),),
        data_dir: str | os.PathLike[str] | None = None,
        import_logs: str | os.PathLike[str] | None = None,
    ) -> None:
        """Prepare a broker; `start` or `with` starts it.

        config: Kafka's own keys, such as {"num.partitions": "3"}; raises ConfigError where one is unknown or wrong.
        as_version: whose producer rules hold, such as "2.4"; 4.3's by default.
        clock: what timeouts and expiries read; the machine's by default.
        file_system: where the logs are kept; in memory by default.
        data_dir: the folder to keep everything in, open from now on until the broker stops.
        import_logs: a folder of a Kafka broker whose topics are served; nothing is written there.
        Raises DataDirectoryError where one of the two folders cannot be used; both go before file_system.
        """
        version = EmulatedVersion.parse(as_version) if as_version else None
        settings = BrokerConfig.from_entries({**CONFIG_DEFAULTS, **(config or {})})
        if data_dir is None and import_logs is None:
            self.cluster = Cluster(settings, clock=clock, file_system=file_system, emulated_version=version)
        else:
            # Loaded only for these, as on the command line.
            from .broker.cluster_loader import StorageOptions, load_cluster

            storage = StorageOptions(data_dir=path_of(data_dir), import_logs=path_of(import_logs))
            self.cluster = load_cluster(settings, storage, clock=clock, emulated_version=version)
        self._server = Server(self.cluster, listeners)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._stopping: asyncio.Event | None = None
        self._started = threading.Event()
        self._failure: BaseException | None = None

    @property
    def bootstrap_servers(self) -> str:
        """The address for a client's bootstrap.servers, "host:port"."""
        return self._server.bootstrap_servers

    def get_bootstrap_server(self) -> str:
        """Return bootstrap_servers, by the name that testcontainers gives it."""
        return self.bootstrap_servers

    def start(self) -> Self:
        """Start; clients can connect when this returns. Raises OSError where a port cannot be bound."""
        self._thread = threading.Thread(target=self._run, name="fauxka", daemon=True)
        self._thread.start()
        if not self._started.wait(START_TIMEOUT_SECONDS):
            raise TimeoutError(f"the broker did not start within {START_TIMEOUT_SECONDS} s")
        if self._failure is not None:
            raise self._failure
        return self

    def stop(self) -> None:
        """Stop, and return when the thread has ended; without effect on a broker that does not run."""
        if self._loop is not None and self._stopping is not None and self._thread is not None:
            if self._thread.is_alive():
                self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join()
            self._thread = None

    def call(self, function: Callable[[], Result]) -> Result:
        """Run function on the broker's own thread, where its state may be touched, and return what it returns."""
        assert self._loop is not None, "the broker was not started"

        async def run() -> Result:
            return function()

        return asyncio.run_coroutine_threadsafe(run(), self._loop).result(START_TIMEOUT_SECONDS)

    def __enter__(self) -> Self:
        """Start."""
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        self.stop()

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=new_event_loop) as runner:
                runner.run(self._serve())
        finally:
            self.cluster.close()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()
        try:
            await self._server.start()
        except OSError as error:
            self._failure = error
        finally:
            self._started.set()
        if self._failure is None:
            await self._stopping.wait()
            await self._server.stop()


def path_of(path: str | os.PathLike[str] | None) -> str | None:
    """Return the path as text."""
    return None if path is None else os.fspath(path)
