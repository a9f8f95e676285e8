"""The cluster: its metadata image, its controller, its nodes and its one clock.

A cluster has one node today. Nodes know the controller and the image; neither knows the cluster.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from ..protocol.kafka_uuid import new_uuid, uuid_text
from ..storage.file_systems.file_system import FileSystem
from ..storage.file_systems.memory_file_system import MemoryFileSystem
from ..storage.producers.emulated_version import EmulatedVersion
from .config.broker_config import BrokerConfig
from .config.dynamic_configs import DynamicConfigs
from .metadata.controller import Controller
from .metadata.metadata_image import BrokerRegistration, MetadataImage
from .node import Node
from .replica.disk_fault_injector import MakeFileFaults
from .runtime.clock import AdjustableClock


class Cluster:
    """A cluster of one node, empty at first."""

    def __init__(
        self,
        config: BrokerConfig,
        *,
        clock: AdjustableClock | None = None,
        file_system: FileSystem | None = None,
        emulated_version: EmulatedVersion | None = None,
        file_faults: MakeFileFaults | None = None,
    ) -> None:
        """Create a cluster without topics.

        clock: the clock of every timeout and expiry; the machine's by default.
        file_system: where the logs are; in memory by default.
        emulated_version: whose producer rules apply; those of Kafka 4.3 by default.
        file_faults: creates the fault injector of the files; none by default.
        """
        self.clock = clock or AdjustableClock()
        self.image = MetadataImage(uuid_text(new_uuid()), DynamicConfigs(config))
        self.image.brokers.append(BrokerRegistration(config.node_id, config.broker_rack))
        self.controller = Controller(self.image)
        self.node = Node(
            self.controller,
            self.clock,
            file_system or MemoryFileSystem(),
            emulated_version or EmulatedVersion.latest(),
            file_faults,
        )
        self.controller.publishers.append(self.node)
        # Closed after the logs: the data folder, and imported folders.
        self.folders: ExitStack | None = None
        # Loads the imported topics again after a reset; None without imported logs.
        self.load_imported: Callable[[], None] | None = None

    def drop_memory(self) -> None:
        """Drop everything that is in memory, because the node died. The files are left as they are."""
        self.image.clear_topics()
        self.controller.store = None
        self.node.drop_memory()

    def close(self) -> None:
        """Close the data folder as in a clean shutdown, so that the next start-up has nothing to recover.

        It may wait for the disk. The cluster cannot be used after.
        """
        if self.controller.store is not None:
            self.controller.store.close()
        if self.node.file_faults is not None:
            self.node.file_faults.machine_stopped()
        if self.folders is not None:
            self.folders.close()
