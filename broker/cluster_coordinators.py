"""The coordinators of a cluster, each there from the first time that it is asked for.

What they know is in their topics, so that it is known again after a start: whoever has loaded the logs has them load.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .cluster import Cluster, Topic
    from .coordinators.group.group_coordinator import GroupCoordinator
    from .coordinators.transaction.transaction_coordinator import TransactionCoordinator


# Where groups and transactional ids are kept (internal_topics.INTERNAL_TOPICS, which is not loaded for a start).
GROUP_TOPIC = "__consumer_offsets"
TRANSACTION_TOPIC = "__transaction_state"


class ClusterCoordinators:
    """The coordinators of one life of a cluster: others take their place where the cluster forgets all it has."""

    def __init__(self, cluster: Cluster) -> None:
        """Begin without any: a start does not pay for their modules."""
        self._cluster = cluster

    @cached_property
    def groups(self) -> GroupCoordinator:
        """The group coordinator."""
        from .coordinators.consumer.of_cluster import consumer_groups_of
        from .coordinators.coordinator_log import StateLog
        from .coordinators.group.group_coordinator import GroupCoordinator
        from .coordinators.group.group_settings import GroupSettings
        from .coordinators.internal_topics import CoordinatorType
        from .coordinators.share.of_cluster import share_groups_of

        log = StateLog(self._cluster, CoordinatorType.GROUP)
        new_consumer_groups = consumer_groups_of(self._cluster, log)
        new_share_groups = share_groups_of(self._cluster, log)
        return GroupCoordinator(
            GroupSettings.of(self._cluster.config), self._cluster.clock, log, new_consumer_groups, new_share_groups
        )

    @property
    def has_groups(self) -> bool:
        """Whether anybody has asked for the group coordinator."""
        return "groups" in vars(self)

    @cached_property
    def transactions(self) -> TransactionCoordinator:
        """The transaction coordinator."""
        from .coordinators.transaction.transaction_coordinator import TransactionCoordinator

        return TransactionCoordinator(self._cluster)

    @property
    def has_transactions(self) -> bool:
        """Whether anybody has asked for the transaction coordinator."""
        return "transactions" in vars(self)

    def load(self) -> None:
        """Know what the coordinators' topics tell; to be called on the event loop, once the logs are loaded.

        Transactions first: those that were being ended are ended, in the groups' topic too.
        """
        if not any(topic.is_internal for topic in self._cluster.topics.values()):
            return
        from .coordinators.coordinator_log import StateLog
        from .coordinators.internal_topics import CoordinatorType

        if not StateLog(self._cluster, CoordinatorType.TRANSACTION).is_empty:
            self.transactions.load()
        if not StateLog(self._cluster, CoordinatorType.SHARE).is_empty:
            self.groups.share_groups.load()
        if not StateLog(self._cluster, CoordinatorType.GROUP).is_empty:
            self.groups.load()

    def topics_deleted(self, topics: Sequence[Topic]) -> None:
        """Forget what is known of topics that are gone; without their topic, coordinators forget everything."""
        if self.has_transactions and any(topic.name == TRANSACTION_TOPIC for topic in topics):
            self.transactions.unload()
        if not self.has_groups:
            return
        if any(topic.name == GROUP_TOPIC for topic in topics):
            groups = self.groups
            del self.groups
            groups.unload()
        else:
            self.groups.offsets.forget_topics([(topic.name, topic.topic_id) for topic in topics])
            if self.groups.has_share_groups:
                self.groups.share_groups.forget_topics([topic.topic_id for topic in topics])

    def unload(self) -> None:
        """Forget everything: who waits is answered, and no timer runs any more. Nothing may be asked of them then."""
        if self.has_groups:
            self.groups.unload()
        if self.has_transactions:
            self.transactions.unload()
