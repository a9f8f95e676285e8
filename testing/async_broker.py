"""A broker on the test's own event loop, for asyncio tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import isawaitable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from ..admin.async_methods.broker import AsyncBrokerMethods
from .node import Node, Phase

if TYPE_CHECKING:
    from ..admin.methods.base import AnyOperation

Result = TypeVar("Result")


class AsyncBroker(Node, AsyncBrokerMethods):
    """A broker on the running event loop, on a free port of 127.0.0.1.

    async with AsyncBroker() as broker:
        async with broker.faults.lost_ack(topic="orders") as lost:
            await producer.send_and_wait("orders", b"one coffee")
            await lost.await_hits()
    A client that blocks the event loop blocks the broker too; use Broker for such a client.
    """

    async def start(self) -> Self:
        """Start the broker; clients can connect when this returns.

        Raises OSError if a port cannot be bound, BrokerStateError for a second start.
        """
        self._begin_start()
        try:
            await self._server.start()
        except OSError:
            self._phase = Phase.STOPPED
            self.cluster.close()
            raise
        return self

    async def stop(self) -> None:
        """Stop the broker and close its files."""
        self._phase = Phase.STOPPED
        try:
            await self._stop_server()
        finally:
            self.cluster.close()

    def call(self, function: Callable[[], Result]) -> Result:
        """Run function on the broker's event loop, and return its result. Raises as Broker.call."""
        self._check_started()
        return function()

    async def begin_test(self, name: str) -> None:
        """Reset the broker, on other free ports; as Broker.begin_test."""
        await self._begin_test(name)

    def _take_methods(self) -> None:
        self._send = self._perform_here

    async def _perform_here(self, operation: AnyOperation, arguments: Mapping[str, object]) -> Any:
        """Perform an operation, and return its result."""
        if not self._reads_counts(operation):
            self._check_started()
        result = operation(self.control, **arguments)
        return await result if isawaitable(result) else result

    async def __aenter__(self) -> Self:
        """Start the broker."""
        return await self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the broker."""
        await self.stop()
