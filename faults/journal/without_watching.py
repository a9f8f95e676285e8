"""What the journal uses before something has to be watched: withheld batches, nodes that are cut off."""

from __future__ import annotations

from typing import Protocol


class NothingWithheld:
    """The withheld batches before the first Produce request."""

    watched = False


class Reachability(Protocol):
    """Which nodes the controller reaches."""

    @property
    def has_cut_off(self) -> bool:
        """Whether a node runs that the controller cannot reach. It may lead partitions that others lead now."""
        ...


class OneNode:
    """The reachability of a single node."""

    has_cut_off = False
