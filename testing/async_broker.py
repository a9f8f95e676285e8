"""A broker on the test's own event loop, for tests that are coroutines."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from .node import Node

if TYPE_CHECKING:
    from ..admin.operations.crash_operations import SnapshotsOption
    from ..admin.operations.reset_operations import Scope
    from .faults import AsyncFaults, AsyncFiles

Result = TypeVar("Result")


class AsyncBroker(Node):
    """A broker on the running event loop, on a free port of 127.0.0.1.

    async with AsyncBroker() as broker:
        with broker.faults.lost_ack(topic="orders") as lost:
            await producer.send_and_wait("orders", b"one coffee")
            await lost.await_hits()
    A client that blocks the event loop keeps the broker from answering it; for such a one there is Broker.
    """

    async def start(self) -> Self:
        """Start; clients can connect when this returns. Raises OSError where a port cannot be bound."""
        try:
            await self._server.start()
        except OSError:
            self.cluster.close()
            raise
        return self

    async def stop(self) -> None:
        """Stop, and return when all is closed."""
        try:
            await self._server.stop()
        finally:
            self.cluster.close()

    def call(self, function: Callable[[], Result]) -> Result:
        """Run function, on the event loop that the broker runs on, and return what it returns."""
        return function()

    async def __aenter__(self) -> Self:
        """Start."""
        return await self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        await self.stop()

    async def reset(self, scope: Scope = "all") -> None:
        """Take it back to the beginning; see Broker.reset."""
        await self._reset(scope)

    async def restart(self, snapshots: SnapshotsOption = "keep") -> None:
        """Start a broker that crashed again, on the same port, with what its files hold; see crash."""
        from ..broker.lifecycle.crash_restart import SnapshotFault

        await self._server.restart(SnapshotFault(snapshots))

    @cached_property
    def faults(self) -> AsyncFaults:
        """What goes wrong with requests and connections."""
        from ..faults.rules.fault_rules import FaultRule
        from .faults import AsyncFaults
        from .rule import AsyncRule

        return AsyncFaults(self._fault_injection.plan, FaultRule, self.call, AsyncRule)

    @cached_property
    def files(self) -> AsyncFiles:
        """What goes wrong with files."""
        from ..faults.files.file_rules import FileRule
        from .faults import AsyncFiles
        from .rule import AsyncRule

        return AsyncFiles(self.control.files, FileRule, self.call, AsyncRule)
