"""The Protocol between the serve command and the admin server."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from ..cluster import Cluster
    from ..network.listeners import ListenerConfig
    from ..replica.disk_fault_injector import MakeFileFaults
    from .cluster_reset import SeedTopic
    from .cluster_server import ClusterServer


class ServeHooks(Protocol):
    """Fault injection and the admin API, called in this order. bind and open may raise StartupError."""

    @property
    def make_file_faults(self) -> MakeFileFaults | None:
        """Creates the fault injector of the nodes' files; None for no injector."""
        ...

    def bind(self, kafka_ports: Collection[int], tls_dir: Path | None) -> None:
        """Bind the address of the admin API, before any Kafka listener is bound.

        kafka_ports: their ports. tls_dir: the folder of the throw-away certificates, None without it.
        """
        ...

    def make_server(self, cluster: Cluster, listeners: Sequence[Sequence[ListenerConfig]]) -> ClusterServer:
        """Return the server of the nodes, not started, with its fault rules and journal.

        listeners: of each node.
        """
        ...

    async def open(self, seed_topics: Sequence[SeedTopic]) -> str | None:
        """Start the admin API. Return its URL, or None if there is none.

        The server accepts connections already. seed_topics: the topics that a reset creates again.
        """
        ...

    async def close(self) -> None:
        """Stop the admin API, before the node stops. No effect if it was not started."""
        ...
