"""A broker on the test's own event loop, for asyncio tests."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar, Unpack

from .. import testing
from ..admin import operations
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
    from .records import RecordFilter

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
    def faults(self) -> testing.faults.AsyncFaults:
        """The fault rules for requests and connections."""
        return testing.faults.AsyncFaults(self._fault_injection.plan, self.call, AsyncRule)

    @cached_property
    def files(self) -> testing.faults.AsyncFiles:
        """The fault rules for files."""
        return testing.faults.AsyncFiles(self.control.files, self.call, AsyncRule)

    async def records(
        self, topic: str, partition: int | None = None, **chosen: Unpack[RecordFilter]
    ) -> list[StoredRecord]:
        """Return the records in the log of a topic, decoded; as Broker.records."""
        return await self._perform(testing.records.reading(topic, partition, chosen))

    async def export(self, folder: str | os.PathLike[str]) -> Exported:
        """Write all topics to a folder on which a real Kafka starts; as Broker.export."""
        of_export = operations.export_operations
        body = of_export.Export(dir=os.fspath(folder))
        return await self._perform(lambda control: of_export.export(control, body))

    def write_report(self, path: str | os.PathLike[str], title: str | None = None, *, since: int = 0) -> Path:
        """Write the timeline, the verdicts, the fault rules and the topics as one HTML file; as Broker.write_report."""
        watched = [*self.faults.watched, *self.files.watched]
        source = testing.report.source_of(self.ask, watched)
        return testing.report.write_report(source, path, title or self.bootstrap_servers, since)

    @cached_property
    def acls(self) -> testing.acls.AsyncAcls:
        """The ACLs: list, create and delete them."""
        return testing.acls.AsyncAcls(self.ask, self._perform)

    @cached_property
    def quotas(self) -> testing.quotas.AsyncQuotas:
        """The quotas of clients: set, list and delete them."""
        return testing.quotas.AsyncQuotas(self.ask, self._perform)

    @cached_property
    def topics(self) -> testing.topics.AsyncTopics:
        """The topics: list, create, delete, and seed with records."""
        return testing.topics.AsyncTopics(self.ask, self._perform)

    @cached_property
    def transactions(self) -> testing.coordinators.AsyncTransactions:
        """The transactional ids with the state of their transactions."""
        return testing.coordinators.AsyncTransactions(self.ask, self._perform)

    @cached_property
    def users(self) -> testing.users.AsyncUsers:
        """The users with a password: list, change and remove them, revoke and expire their tokens."""
        return testing.users.AsyncUsers(self.ask, self._perform)
