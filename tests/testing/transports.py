"""The same tests over every transport of the admin interface.

A module of tests that imports Broker from here runs over all of them (conftest.py): in a thread, on an event loop, by
HTTP, and by HTTP on an event loop. The classes for an event loop are called from outside, each call on a loop in a
thread of its own. What Broker has of its own, such as its Control, is that of the broker behind the transport.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial, wraps
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from fauxka import testing
from fauxka.admin.application import make_application
from fauxka.admin.async_methods.base import AsyncMethods
from fauxka.admin.http_server import HttpServer
from fauxka.admin.methods.broker import BrokerMethods
from fauxka.admin.operations.all_operations import OPERATIONS
from fauxka.broker.runtime.event_loop import new_event_loop

THREAD, LOOP, HTTP, HTTP_ON_LOOP = "thread", "event loop", "HTTP", "HTTP on an event loop"
TRANSPORTS = (THREAD, LOOP, HTTP, HTTP_ON_LOOP)
# What a broker on any transport does by the interface. All else it does itself.
METHODS = frozenset(
    ["bootstrap_servers", "is_running", *(name for name in dir(BrokerMethods) if not name.startswith("_"))]
)
SECONDS_MAX = 120

Test = TypeVar("Test", bound=Callable[..., object])
# See in_a_thread_only.
OF_A_THREAD: set[object] = set()

chosen: ContextVar[str] = ContextVar("chosen", default=THREAD)


class Loop:
    """An event loop in a thread."""

    def __init__(self) -> None:
        self.loop = new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, function: Callable[[], object]) -> Any:
        """Call a function on the loop, await what it returns, and return the result with blocking calls."""
        if threading.current_thread() is self._thread:
            return self.blocking(function())

        async def called() -> object:
            result = function()
            return await cast("Awaitable[object]", result) if isinstance(result, Awaitable) else result

        return self.blocking(asyncio.run_coroutine_threadsafe(called(), self.loop).result(SECONDS_MAX))

    def blocking(self, value: object) -> Any:
        if isinstance(value, AsyncMethods):
            return Blocking(value, self)
        if isinstance(value, list):
            return [self.blocking(each) for each in cast("list[object]", value)]
        return value

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


class Blocking:
    """The methods of an object for an event loop as blocking calls. Every access is on the loop."""

    def __init__(self, target: Any, loop: Loop) -> None:
        self._target = target
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        value = self._loop.run(lambda: getattr(self._target, name))
        if not callable(value) or isinstance(value, Blocking):
            return value
        return wraps(value)(partial(self._call, value))

    def _call(self, function: Callable[..., object], *arguments: object, **named: object) -> Any:
        return self._loop.run(lambda: function(*arguments, **named))

    def __getitem__(self, key: object) -> Any:
        return self._loop.run(lambda: self._target[key])

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rules)

    def __contains__(self, address: object) -> bool:
        return bool(address) and any(address in (rule.id, rule.name) for rule in self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.run(lambda: self._target.__aexit__(kind, error, trace))

    def __repr__(self) -> str:
        return repr(self._target)


class OverTransport:
    """A broker whose methods are called over a transport."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._transport = chosen.get()
        self._loop = Loop()
        on_loop = self._transport == LOOP
        made = (testing.AsyncBroker if on_loop else testing.Broker)(*arguments, **options)
        self._own: Any = Blocking(made, self._loop) if on_loop else made
        self._methods: Any = None
        self._server: HttpServer | None = None

    def start(self) -> Self:
        self._own.start()
        if self._transport == LOOP:
            self._methods = self._own
        else:
            self._methods = self._over_http()
        return self

    def _over_http(self) -> Any:
        bound = socket.create_server(("127.0.0.1", 0))
        own = cast("testing.Broker", self._own)

        async def serve() -> None:
            application = make_application(own.control, OPERATIONS, token=None, stopping=asyncio.Event())
            self._server = HttpServer(application, bound)
            await self._server.start()

        own._wait(serve())  # pyright: ignore[reportPrivateUsage]
        url = f"http://127.0.0.1:{bound.getsockname()[1]}"
        if self._transport == HTTP:
            return testing.RemoteBroker(url)
        return Blocking(testing.AsyncRemoteBroker(url), self._loop)

    def stop(self) -> None:
        if self._server is not None:
            self._own._wait(self._server.stop())
            self._server = None
        self._own.stop()
        self._loop.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._methods if name in METHODS else self._own, name)

    def __repr__(self) -> str:
        return repr(self._own)


if TYPE_CHECKING:
    from fauxka.testing import Broker as Broker
else:

    def Broker(*arguments: Any, **options: Any) -> Any:
        """Return a broker for the transport of the test."""
        return (testing.Broker if chosen.get() == THREAD else OverTransport)(*arguments, **options)


def in_a_thread_only(test: Test) -> Test:
    """Decorate a test of the class Broker itself, in a module that runs over every transport."""
    OF_A_THREAD.add(test)
    return test


@contextmanager
def over(name: str) -> Generator[None]:
    """Use a transport in the block."""
    token = chosen.set(name)
    try:
        yield
    finally:
        chosen.reset(token)
