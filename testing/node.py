"""What a broker of a test consists of, however it is run: the node, the rules, and what steers them."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from ..admin.fault_injection import FaultInjection
from ..broker.cluster import Cluster
from ..broker.config.broker_config import BrokerConfig
from ..broker.network.listeners import ListenerConfig
from ..broker.runtime.clock import AdjustableClock
from ..faults.files.file_fault_injector import FileFaultInjector
from ..storage.file_systems.file_system import FileSystem
from ..storage.producers.emulated_version import EmulatedVersion

if TYPE_CHECKING:
    from ..admin.control import Control
    from ..admin.operations.crash_operations import SnapshotsOption
    from ..admin.operations.reset_operations import Scope
    from ..faults.verdict.verdict import TopicVerdict
    from .journal import JournalOfBroker
    from .state import Clock, Held, Producers

Result = TypeVar("Result")

# In one process with its clients the broker would look for the next request in time that they need themselves.
CONFIG_DEFAULTS = {"fauxka.busy.poll.us": "0"}


class Node(ABC):
    """A broker that is prepared: nothing is bound, no thread runs."""

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
            self.cluster = Cluster(
                settings,
                clock=clock,
                file_system=file_system,
                emulated_version=version,
                file_faults=FileFaultInjector,
            )
        else:
            # Loaded only for these, as on the command line.
            from ..broker.lifecycle.cluster_loader import StorageOptions, load_cluster

            storage = StorageOptions(data_dir=_path_of(data_dir), import_logs=_path_of(import_logs))
            self.cluster = load_cluster(
                settings, storage, clock=clock, emulated_version=version, file_faults=FileFaultInjector
            )
        self._fault_injection = FaultInjection(self.cluster)
        self._server = self._fault_injection.make_server(self.cluster, listeners)

    @abstractmethod
    def call(self, function: Callable[[], Result]) -> Result:
        """Run function where the broker's state may be touched, and return what it returns."""

    def ask(self, function: Callable[[Control], Result]) -> Result:
        """Run function of what the admin API steers the broker by, and return what it returns."""
        return self.call(lambda: function(self.control))

    @cached_property
    def control(self) -> Control:
        """What the admin API steers the broker by; to be used on the broker's thread only."""
        from ..admin.control import Control

        return Control(self._server, self._fault_injection)

    @property
    def bootstrap_servers(self) -> str:
        """The address for a client's bootstrap.servers, "host:port"."""
        return self._server.bootstrap_servers

    def get_bootstrap_server(self) -> str:
        """Return bootstrap_servers, by the name that testcontainers gives it."""
        return self.bootstrap_servers

    # What these need is loaded with the first of them: a test that only wants a broker does not pay for it.

    @cached_property
    def journal(self) -> JournalOfBroker:
        """What happened to each request."""
        from .journal import JournalOfBroker

        return JournalOfBroker(self.ask)

    def verdict(self, topic: str, event_id: str | None = None) -> TopicVerdict:
        """Return what became of the batches of a topic.

        event_id: "key" or "header:NAME", where records that are equal in that are one event, whoever sent them.
        """
        from ..admin.operations.verdict_operations import VerdictQuery, read_verdict

        query = VerdictQuery(topic=topic, event_id=event_id)
        return self.ask(lambda control: read_verdict(control, query))

    async def _reset(self, scope: Scope) -> None:
        """Take scope back to the beginning; see reset of the brokers."""
        from ..admin.operations.reset_operations import Reset, reset

        await reset(self.control, Reset(scope=scope))

    def snapshot(self) -> int:
        """Keep the state of a cluster in memory, and return the id that restore goes back to it by.

        Logs, producers, topics, configs and committed offsets are in it. Raises CallError for a cluster on disk, and
        for a node that is down.
        """
        from ..admin.operations.snapshot_operations import snapshot

        return self.ask(snapshot).id

    def restore(self, snapshot_id: int) -> None:
        """Go back to a snapshot, as often as wanted; connections are closed, and the verdict begins anew."""
        from ..admin.operations.snapshot_operations import SnapshotId, restore

        self.ask(lambda control: restore(control, SnapshotId(id=snapshot_id)))

    @property
    def is_running(self) -> bool:
        """Whether clients can connect; not so after a crash."""
        return self._server.is_running

    def crash(self, restart_after_ms: int | None = None, snapshots: SnapshotsOption = "keep") -> None:
        """Die as by SIGKILL, at once: what was not written to the files is gone.

        restart_after_ms: when it is started again, by the broker's clock; None is by restart only.
        snapshots: what has happened to the snapshots of producers by then.
        """
        from ..broker.lifecycle.crash_restart import SnapshotFault

        self.ask(lambda control: control.server.crash(restart_after_ms, SnapshotFault(snapshots)))

    @cached_property
    def clock(self) -> Clock:
        """The clock that every timeout and expiry of the broker reads."""
        from .state import Clock

        return Clock(self.ask)

    @cached_property
    def producers(self) -> Producers:
        """What the partitions know of idempotent producers."""
        from .state import Producers

        return Producers(self.ask)

    @cached_property
    def held(self) -> Held:
        """The requests that rules hold."""
        from .state import Held

        return Held(self.ask)


def _path_of(path: str | os.PathLike[str] | None) -> str | None:
    """Return the path as text."""
    return None if path is None else os.fspath(path)
