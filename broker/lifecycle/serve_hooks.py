"""What stands beside a node that is served by the command line, and is none of the broker's business."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..network.listeners import ListenerConfig
    from ..replica.disk_fault_injector import MakeFileFaults
    from .seed_topics import SeedTopic
    from .server import Server


class ServeHooks(Protocol):
    """Who makes things go wrong and writes down what happened, and the door by which tests steer that.

    They are asked and called in the order in which they stand here; what cannot be done is a StartupError.
    """

    @property
    def make_file_faults(self) -> MakeFileFaults | None:
        """What makes that which goes wrong with the files of the node; None for nothing."""
        ...

    def bind(self) -> None:
        """Take the address of the door before clients can connect: where that cannot be, nothing must be up."""
        ...

    def make_server(self, cluster: Cluster, listeners: Sequence[ListenerConfig]) -> Server:
        """Return the node, not started, on what makes things go wrong with it."""
        ...

    async def open(self, server: Server, seed_topics: Sequence[SeedTopic]) -> str | None:
        """Open the door of a node that clients can connect to; return its address, None where there is none.

        seed_topics: those that the node began with.
        """
        ...

    async def close(self) -> None:
        """Close the door, before the node stops; without effect where it was not opened."""
        ...
