"""The coordinators of a cluster, each there from the first time that it is asked for.

What they know is in their topics, so that it is known again after a start: whoever has loaded the logs has them load.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .cluster import Cluster
    from .coordinators.group_coordinator import GroupCoordinator


class ClusterCoordinators:
    """The coordinators of one life of a cluster: others take their place where the cluster forgets all it has."""

    def __init__(self, cluster: Cluster) -> None:
        """Begin without any: a start does not pay for their modules."""
        self._cluster = cluster

    @cached_property
    def groups(self) -> GroupCoordinator:
        """The group coordinator."""
        from .coordinators.group_coordinator import GroupCoordinator
        from .coordinators.group_settings import GroupSettings

        return GroupCoordinator(GroupSettings.of(self._cluster.config), self._cluster.clock)

    @property
    def has_groups(self) -> bool:
        """Whether anybody has asked for the group coordinator."""
        return "groups" in vars(self)

    def load(self) -> None:
        """Know what the coordinators' topics tell; to be called on the event loop, once the logs are loaded."""
        if not any(topic.is_internal for topic in self._cluster.topics.values()):
            return

    def unload(self) -> None:
        """Forget everything: who waits is answered, and no timer runs any more. Nothing may be asked of them then."""
        if self.has_groups:
            self.groups.unload()
