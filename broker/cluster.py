"""The cluster: its metadata image, its controller, its nodes and its one clock.

Nodes know the controller and the image; neither knows the cluster.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from .. import broker
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

if TYPE_CHECKING:
    from .membership import Membership
    from .security.oauth.token_issuer import TokenIssuer
    from .security.users import Users


class Cluster:
    """A cluster of one node and without topics at first."""

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
        emulated_version: the release that the nodes follow, and that has formatted the cluster; Kafka 4.4 by default.
        file_faults: creates the fault injector of the files; none by default.
        """
        self.clock = clock or AdjustableClock()
        version = emulated_version or EmulatedVersion.latest()
        config = config.in_release(version.release)
        self.image = MetadataImage(uuid_text(new_uuid()), DynamicConfigs(config), version)
        self.controller = Controller(self.image)
        self._file_faults = file_faults
        self.nodes: list[Node] = []
        # Which nodes run and reach each other; None with one node.
        self.membership: Membership | None = None
        self._add_node(config.broker_rack, file_system or MemoryFileSystem())
        # Closed after the logs: the data folder, and imported folders.
        self.folders: ExitStack | None = None
        # The users with passwords, which the admin API changes; None without any at the start.
        self.users: Users | None = None
        # Issues the tokens of the admin API; None without users.
        self.token_issuer: TokenIssuer | None = None
        # Loads the imported topics again after a reset; None without imported logs.
        self.load_imported: Callable[[], None] | None = None

    def add_node(self, rack: str | None = None, file_system: FileSystem | None = None) -> Node:
        """Add a node, and return it. There must be no topic. file_system: where its logs are; in memory by default."""
        assert not self.image.topics, "a node that joins later has no replica of the topics before it"
        if self.membership is None:
            self.membership = broker.membership.Membership(self.controller, self.clock)
            self.membership.add(self.node)
        node = self._add_node(rack, file_system or MemoryFileSystem())
        self.membership.add(node)
        return node

    def find_node(self, node_id: int) -> Node | None:
        """Return the node of that id, or None."""
        return next((node for node in self.nodes if node.node_id == node_id), None)

    def _add_node(self, rack: str | None, file_system: FileSystem) -> Node:
        node_id = self.image.configs.static.node_id + len(self.nodes)
        if self.nodes:
            self.image.configs.add_node(node_id, rack)
        self.image.add_broker(BrokerRegistration(node_id, rack))
        first_faults = self.nodes[0].file_faults if self.nodes else None
        make_file_faults = self._file_faults if first_faults is None else first_faults.of_another_node
        node = Node(node_id, self.controller, self.clock, file_system, make_file_faults)
        self.nodes.append(node)
        self.controller.publishers.append(node)
        return node

    def follow_release(self, node: Node, version: EmulatedVersion) -> None:
        """Have a node, which is down or has no log, follow another release.

        Raises ConfigError if the cluster has a level of a feature that the release does not have, or the node a config.
        """
        if version == node.emulated_version:
            return
        self.image.features.check_broker(version.release)
        self.image.configs.follow_release(node.node_id, version.release)
        self.image.features.follow_release(self.image.configs.keys.release)
        node.follow_release(version)

    def follow_first_release(self) -> None:
        """Have all nodes follow the release that has formatted the cluster. There must be no log."""
        for node in self.nodes:
            self.follow_release(node, self.image.emulated_version)

    @property
    def node(self) -> Node:
        """The first node."""
        return self.nodes[0]

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
        for node in self.nodes:
            if node.file_faults is not None:
                node.file_faults.machine_stopped()
        if self.folders is not None:
            self.folders.close()
