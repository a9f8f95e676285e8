"""How a cluster comes by its groups of the consumer protocol: with the first of them, as nothing else needs them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...cluster import Cluster
    from ..group.group_log import GroupLog
    from ..group.group_registry import GroupRegistry
    from ..group.rebalance import Rebalance
    from .consumer_groups import ConsumerGroups


def consumer_groups_of(cluster: Cluster, log: GroupLog) -> Callable[[GroupRegistry, Rebalance], ConsumerGroups]:
    """Return what makes them, of groups that are kept in log."""

    def make(registry: GroupRegistry, rebalance: Rebalance) -> ConsumerGroups:
        from .cluster_topics import ClusterTopics
        from .consumer_groups import ConsumerGroups
        from .settings import ConsumerGroupSettings

        settings = ConsumerGroupSettings.of_cluster(cluster)
        return ConsumerGroups(settings, registry, log, ClusterTopics(cluster), rebalance=rebalance)

    return make
