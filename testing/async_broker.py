"""A broker on the test's own event loop, for asyncio tests."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar, Unpack

from .node import Node, Phase, resetting, restarting
from .nodes import starting, stopping
from .rule import AsyncRule

if TYPE_CHECKING:
    from pathlib import Path

    from ..admin.control import Control
    from ..admin.operations.crash_operations import SnapshotsOption
    from ..admin.operations.export_operations import Exported
    from ..admin.operations.node_operations import NodeStatus
    from ..admin.operations.reset_operations import Scope
    from ..broker.replica.record_reader import StoredRecord
    from .acls import AsyncAcls
    from .coordinators import AsyncTransactions
    from .faults import AsyncFaults, AsyncFiles
    from .quotas import AsyncQuotas
    from .records import RecordFilter
    from .topics import AsyncTopics
    from .users import AsyncUsers

Result = TypeVar("Result")


class AsyncBroker(Node):
    """A broker on the running event loop, on a free port of 127.0.0.1.

    async with AsyncBroker() as broker:
        with broker.faults.lost_ack(topic="orders") as lost:
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

    async def _perform(self, operation: Callable[[Control], Coroutine[object, object, Result]]) -> Result:
        """Perform an operation that waits, and return its result."""
        self._check_started()
        return await operation(self.control)

    async def __aenter__(self) -> Self:
        """Start the broker."""
        return await self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the broker."""
        await self.stop()

    async def reset(self, scope: Scope = "all") -> None:
        """Reset the broker to its state after the start; scope: as in Broker.reset."""
        await self._perform(resetting(scope))

    async def restart(self, snapshots: SnapshotsOption = "keep", *, node: int | None = None) -> None:
        """Restart a crashed node on the same port with the content of its files; snapshots, node: as in crash.

        Raises CallError if the node is running.
        """
        await self._perform(restarting(snapshots, node))

    async def stop_node(self, node: int, *, controlled: bool = True, noticed: bool = False) -> NodeStatus:
        """Stop a node, as SIGTERM does, or as SIGKILL if it is not controlled.

        noticed: the controller learns of a killed node at once, and not after broker.session.timeout.ms.
        """
        return await self._perform(stopping(node, controlled=controlled, noticed=noticed))

    async def start_node(self, node: int) -> NodeStatus:
        """Start a node that is down, and return when clients can connect. Raises CallError if it is running."""
        return await self._perform(starting(node))

    @cached_property
    def faults(self) -> AsyncFaults:
        """The fault rules for requests and connections."""
        from .faults import AsyncFaults

        return AsyncFaults(self._fault_injection.plan, self.call, AsyncRule)

    @cached_property
    def files(self) -> AsyncFiles:
        """The fault rules for files."""
        from .faults import AsyncFiles

        return AsyncFiles(self.control.files, self.call, AsyncRule)

    async def records(
        self, topic: str, partition: int | None = None, **chosen: Unpack[RecordFilter]
    ) -> list[StoredRecord]:
        """Return the records in the log of a topic, decoded; as Broker.records."""
        from .records import reading

        return await self._perform(reading(topic, partition, chosen))

    async def export(self, folder: str | os.PathLike[str]) -> Exported:
        """Write all topics to a folder on which a real Kafka starts; as Broker.export."""
        from ..admin.operations.export_operations import Export, export

        return await self._perform(lambda control: export(control, Export(dir=os.fspath(folder))))

    def write_report(self, path: str | os.PathLike[str], title: str | None = None, *, since: int = 0) -> Path:
        """Write the timeline, the verdicts, the fault rules and the topics as one HTML file; as Broker.write_report."""
        from .report import source_of, write_report

        watched = [*self.faults.watched, *self.files.watched]
        return write_report(source_of(self.ask, watched), path, title or self.bootstrap_servers, since)

    @cached_property
    def acls(self) -> AsyncAcls:
        """The ACLs: list, create and delete them."""
        from .acls import AsyncAcls

        return AsyncAcls(self.ask, self._perform)

    @cached_property
    def quotas(self) -> AsyncQuotas:
        """The quotas of clients: set, list and delete them."""
        from .quotas import AsyncQuotas

        return AsyncQuotas(self.ask, self._perform)

    @cached_property
    def topics(self) -> AsyncTopics:
        """The topics: list, create, delete, and seed with records."""
        from .topics import AsyncTopics

        return AsyncTopics(self.ask, self._perform)

    @cached_property
    def transactions(self) -> AsyncTransactions:
        """The transactional ids with the state of their transactions."""
        from .coordinators import AsyncTransactions

        return AsyncTransactions(self.ask, self._perform)

    @cached_property
    def users(self) -> AsyncUsers:
        """The users with a password: list, change and remove them, revoke and expire their tokens."""
        from .users import AsyncUsers

        return AsyncUsers(self.ask, self._perform)
