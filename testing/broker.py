"""A broker in a thread, for tests of any kind."""

from __future__ import annotations

import asyncio
import encodings.idna
import os
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar, Unpack

from .. import testing
from ..admin import operations
from ..broker.runtime import event_loop_bridge
from ..broker.runtime.event_loop import new_event_loop
from ..faults.strict_json import convert_in_turns
from .errors import BrokerStateError
from .node import Node, Phase, resetting, restarting
from .nodes import starting, stopping
from .rule import Rule

# Modules that every start needs, imported here so that the first broker of a process starts without delay.
with suppress(ImportError):
    import uvloop as uvloop
_PRELOADED = (encodings.idna, event_loop_bridge)
convert_in_turns(threading.Lock())

if TYPE_CHECKING:
    from pathlib import Path

    from ..admin.control import Control
    from ..admin.operations.crash_operations import SnapshotsOption
    from ..admin.operations.export_operations import Exported
    from ..admin.operations.node_operations import NodeStatus
    from ..admin.operations.reset_operations import Scope
    from ..broker.replica.record_reader import StoredRecord
    from .records import RecordFilter

# Far more than a start-up takes, which binds a socket and imports little.
START_TIMEOUT_SECONDS = 10.0
# Far more than a call on the broker's thread takes, even on a slow machine.
CALL_TIMEOUT_SECONDS = 60.0

Result = TypeVar("Result")


class Broker(Node):
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

    def _wait(self, coroutine: Coroutine[object, object, Result]) -> Result:
        """Run coroutine on the broker's event loop, and return its result."""
        try:
            self._check_started()
        except BrokerStateError:
            coroutine.close()
            raise
        assert self._loop is not None, "a started broker has an event loop"
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(CALL_TIMEOUT_SECONDS)

    def _perform(self, operation: Callable[[Control], Coroutine[object, object, Result]]) -> Result:
        """Perform an operation that waits, on the broker's event loop, and return its result."""

        async def perform() -> Result:
            return await operation(self.control)

        return self._wait(perform())

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

    def reset(self, scope: Scope = "all") -> None:
        """Reset the broker to its state after the start, at the same address.

        scope: "faults" removes the rules and closes the connections whose requests they hold. "journal" deletes the
        journal. "data" closes all connections, deletes topics, groups and producers, starts a node that is down, and
        sets the clock to real. No request received before is applied after it.
        """
        self._perform(resetting(scope))

    def restart(self, snapshots: SnapshotsOption = "keep", *, node: int | None = None) -> None:
        """Restart a crashed node on the same port with the content of its files; snapshots, node: as in crash.

        Raises CallError if the node is running.
        """
        self._perform(restarting(snapshots, node))

    def stop_node(self, node: int, *, controlled: bool = True, noticed: bool = False) -> NodeStatus:
        """Stop a node, as SIGTERM does, or as SIGKILL if it is not controlled.

        noticed: the controller learns of a killed node at once, and not after broker.session.timeout.ms.
        """
        return self._perform(stopping(node, controlled=controlled, noticed=noticed))

    def start_node(self, node: int) -> NodeStatus:
        """Start a node that is down, and return when clients can connect. Raises CallError if it is running."""
        return self._perform(starting(node))

    @cached_property
    def faults(self) -> testing.faults.Faults:
        """The fault rules for requests and connections."""
        return testing.faults.Faults(self._fault_injection.plan, self.call, Rule)

    @cached_property
    def files(self) -> testing.faults.Files:
        """The fault rules for files."""
        return testing.faults.Files(self.control.files, self.call, Rule)

    def records(self, topic: str, partition: int | None = None, **chosen: Unpack[RecordFilter]) -> list[StoredRecord]:
        """Return the records in the log of a topic, decoded, sorted by partition and offset.

        partition: None for all. chosen: from_offset, to_offset (both included) and limit. Without a limit, more than
        100,000 records are a CallError. Transaction markers are records too (is_control), and so are the records of
        open and aborted transactions. Raises CallError for an unknown topic or partition, and for a damaged batch.
        """
        return self._perform(testing.records.reading(topic, partition, chosen))

    def export(self, folder: str | os.PathLike[str]) -> Exported:
        """Write all topics to a folder on which a real Kafka starts, as `fauxka export` does.

        folder: a missing or empty one. Raises CallError.
        """
        of_export = operations.export_operations
        body = of_export.Export(dir=os.fspath(folder))
        return self._perform(lambda control: of_export.export(control, body))

    def write_report(self, path: str | os.PathLike[str], title: str | None = None, *, since: int = 0) -> Path:
        """Write the timeline, the verdicts, the fault rules and the topics as one HTML file, and return its path.

        title: at its head, by default the address. since: only requests with a greater id. Raises OSError.
        """
        watched = [*self.faults.watched, *self.files.watched]
        source = testing.report.source_of(self.ask, watched)
        return testing.report.write_report(source, path, title or self.bootstrap_servers, since)

    @cached_property
    def acls(self) -> testing.acls.Acls:
        """The ACLs: list, create and delete them."""
        return testing.acls.Acls(self.ask, self._perform)

    @cached_property
    def quotas(self) -> testing.quotas.Quotas:
        """The quotas of clients: set, list and delete them."""
        return testing.quotas.Quotas(self.ask, self._perform)

    @cached_property
    def topics(self) -> testing.topics.Topics:
        """The topics: list, create, delete, and seed with records."""
        return testing.topics.Topics(self.ask, self._perform)

    @cached_property
    def transactions(self) -> testing.coordinators.Transactions:
        """The transactional ids with the state of their transactions."""
        return testing.coordinators.Transactions(self.ask, self._perform)

    @cached_property
    def users(self) -> testing.users.Users:
        """The users with a password: list, change and remove them, revoke and expire their tokens."""
        return testing.users.Users(self.ask, self._perform)
