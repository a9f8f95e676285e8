"""A broker in a thread, for tests of any kind."""

from __future__ import annotations

import asyncio
import encodings.idna
import threading
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from inspect import iscoroutinefunction
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from ..admin.methods.base import wait_seconds
from ..admin.methods.broker import BrokerMethods
from ..broker.runtime import event_loop_bridge
from ..broker.runtime.event_loop import new_event_loop
from ..faults.strict_json import convert_in_turns
from .errors import BrokerStateError
from .node import Node, Phase

# Modules that every start needs, imported here so that the first broker of a process starts without delay.
with suppress(ImportError):
    import uvloop as uvloop
_PRELOADED = (encodings.idna, event_loop_bridge)
convert_in_turns(threading.Lock())

if TYPE_CHECKING:
    from ..admin.methods.base import AnyOperation

# Far more than a start-up takes, which binds a socket and imports little.
START_TIMEOUT_SECONDS = 10.0
# Far more than a call on the broker's thread takes, even on a slow machine.
CALL_TIMEOUT_SECONDS = 60.0

Result = TypeVar("Result")


class Broker(Node, BrokerMethods):
    """A broker on its own event loop in its own thread, on a free port of 127.0.0.1.

    with Broker({"num.partitions": 3}) as broker:
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    """

    _loop: asyncio.AbstractEventLoop | None = None
    _thread: threading.Thread | None = None
    _stopping: asyncio.Event | None = None
    _failure: BaseException | None = None

    def start(self) -> Self:
        """Start the broker; clients can connect when this returns.

        Raises OSError if a port cannot be bound, BrokerStateError for a second start.
        """
        self._begin_start()
        started = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(started,), name="fauxka", daemon=True)
        self._thread.start()
        if not started.wait(START_TIMEOUT_SECONDS):
            raise TimeoutError(f"the broker did not start within {START_TIMEOUT_SECONDS} s")
        if self._failure is not None:
            self._phase = Phase.STOPPED
            raise self._failure
        return self

    def stop(self) -> None:
        """Stop the broker and wait for its thread; does nothing if it is not running."""
        if self._loop is not None and self._stopping is not None and self._thread is not None:
            self._phase = Phase.STOPPED
            if self._thread.is_alive():
                self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join()
            self._thread = None

    def call(self, function: Callable[[], Result]) -> Result:
        """Run function on the broker's thread, where its state may be accessed, and return its result.

        Raises what function raises, and BrokerStateError before the start and after the stop.
        """
        self._check_started()
        if threading.current_thread() is self._thread:
            return function()

        async def run() -> Result:
            return function()

        return self._wait(run())

    def _wait(self, coroutine: Coroutine[object, object, Result], seconds_max: float = CALL_TIMEOUT_SECONDS) -> Result:
        """Run coroutine on the broker's event loop, and return its result. Raises TimeoutError after seconds_max."""
        try:
            self._check_started()
        except BrokerStateError:
            coroutine.close()
            raise
        assert self._loop is not None, "a started broker has an event loop"
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(seconds_max)

    def _take_methods(self) -> None:
        self._send = self._send_to_thread

    def _send_to_thread(self, operation: AnyOperation, arguments: Mapping[str, object]) -> Any:
        """Perform an operation on the broker's event loop, and return its result."""
        if self._reads_counts(operation):
            return operation(self.control, **arguments)
        if iscoroutinefunction(operation):
            return self._wait(self._awaited(operation, arguments), CALL_TIMEOUT_SECONDS + wait_seconds(arguments))
        return self.ask(lambda control: operation(control, **arguments))

    async def _awaited(
        self, operation: Callable[..., Coroutine[object, object, Any]], arguments: Mapping[str, object]
    ) -> Any:
        return await operation(self.control, **arguments)

    def begin_test(self, name: str) -> None:
        """Reset the broker as reset("all") does, on other free ports, where no client of an earlier test finds it.

        name: of the test, for the report of a later one. The configured ports of the listeners are 0.
        Raises CallError 409 as a reset does, OSError if no port is free, and BrokerStateError.
        """
        self._wait(self._begin_test(name))

    def __enter__(self) -> Self:
        """Start the broker."""
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the broker."""
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
            await self._stop_server()
