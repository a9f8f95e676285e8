"""How a cluster comes by its share groups: with the first of them, as nothing else needs them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...cluster import Cluster
    from ..group.group_log import GroupLog
    from ..group.group_registry import GroupRegistry
    from .share_groups import ShareGroups


def share_groups_of(cluster: Cluster, log: GroupLog) -> Callable[[GroupRegistry], ShareGroups]:
    """Return what makes them, of groups that are kept in log."""

    def make(registry: GroupRegistry) -> ShareGroups:
        from ..consumer.cluster_topics import ClusterTopics
        from ..coordinator_log import StateLog
        from ..internal_topics import CoordinatorType
        from .share_groups import ShareGroups

        state_log = StateLog(cluster, CoordinatorType.SHARE)
        return ShareGroups(cluster, registry, log, state_log, ClusterTopics(cluster))

    return make
