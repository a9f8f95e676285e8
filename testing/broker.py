"""A broker in a thread, for a test of any kind."""

from __future__ import annotations

import asyncio
import encodings.idna
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from ..broker.runtime import event_loop_bridge
from ..broker.runtime.event_loop import new_event_loop
from .node import Node

# What every start needs and loads late: loaded with this module, so that the first broker of a process starts at once.
with suppress(ImportError):
    import uvloop as uvloop
PRELOADED = (encodings.idna, event_loop_bridge)

if TYPE_CHECKING:
    from ..admin.operations.crash_operations import SnapshotsOption
    from ..admin.operations.reset_operations import Scope
    from .faults import Faults, Files

# Starting binds a socket and imports little; a start that takes longer hangs.
START_TIMEOUT_SECONDS = 10.0
# What is done on the broker's thread takes milliseconds; more than that only where the machine is stopped.
CALL_TIMEOUT_SECONDS = 60.0

Result = TypeVar("Result")


class Broker(Node):
    """A broker on its own event loop in its own thread, on a free port of 127.0.0.1.

    with Broker({"num.partitions": "3"}) as broker:
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    """

    _loop: asyncio.AbstractEventLoop | None = None
    _thread: threading.Thread | None = None
    _stopping: asyncio.Event | None = None
    _failure: BaseException | None = None

    def start(self) -> Self:
        """Start; clients can connect when this returns. Raises OSError where a port cannot be bound."""
        started = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(started,), name="fauxka", daemon=True)
        self._thread.start()
        if not started.wait(START_TIMEOUT_SECONDS):
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
        if threading.current_thread() is self._thread:
            return function()

        async def run() -> Result:
            return function()

        return self._wait(run())

    def _wait(self, coroutine: Coroutine[object, object, Result]) -> Result:
        """Run coroutine on the broker's event loop, and return what it returns."""
        assert self._loop is not None, "the broker was not started"
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(CALL_TIMEOUT_SECONDS)

    def __enter__(self) -> Self:
        """Start."""
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        self.stop()

    def _run(self, started: threading.Event) -> None:
        try:
            with asyncio.Runner(loop_factory=new_event_loop) as runner:
                runner.run(self._serve(started))
        finally:
            self.cluster.close()

    async def _serve(self, started: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()
        try:
            await self._server.start()
        except OSError as error:
            self._failure = error
        finally:
            started.set()
        if self._failure is None:
            await self._stopping.wait()
            await self._server.stop()

    def reset(self, scope: Scope = "all") -> None:
        """Take it back to the beginning: a broker that serves the same address, and has nothing in it.

        scope: "faults" lifts the rules and closes the connections whose requests they keep; "journal" forgets what
        happened; "data" forgets topics, groups and producers, starts a node that is down, and sets the clock to real.
        """
        self._wait(self._reset(scope))

    def restart(self, snapshots: SnapshotsOption = "keep") -> None:
        """Start a broker that crashed again, on the same port, with what its files hold; see crash."""
        from ..broker.lifecycle.crash_restart import SnapshotFault

        self._wait(self._server.restart(SnapshotFault(snapshots)))

    @cached_property
    def faults(self) -> Faults:
        """What goes wrong with requests and connections."""
        from ..faults.rules.fault_rules import FaultRule
        from .faults import Faults
        from .rule import Rule

        return Faults(self._fault_injection.plan, FaultRule, self.call, Rule)

    @cached_property
    def files(self) -> Files:
        """What goes wrong with files."""
        from ..faults.files.file_rules import FileRule
        from .faults import Files
        from .rule import Rule

        return Files(self.control.files, FileRule, self.call, Rule)
