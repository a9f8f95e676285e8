"""The coordinators of one node, each created on first use.

Their state is in internal topics. `load` reads it, after the logs are loaded. The node imports this module with the
first request for a coordinator. Each package of a coordinator is imported here, with the first use of that coordinator:
all of them together take three times as long as the one that a client needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from ..metadata.controller import Controller
from ..metadata.metadata_image import GROUP_METADATA_TOPIC, TRANSACTION_STATE_TOPIC, TopicImage
from ..replica.replica_manager import ReplicaManager
from .coordinator_log import CoordinatorLog
from .internal_topics import CoordinatorType

if TYPE_CHECKING:
    from ...protocol.messages.list_groups import ListedGroup
    from ...storage.append_result import AppendResult
    from ...storage.coordinator_batch import TransactionMarker
    from ..replica.partition import Partition
    from .consumer.consumer_groups import ConsumerGroups
    from .group.group_coordinator import GroupCoordinator
    from .group.group_registry import GroupRegistry
    from .group.rebalance import Rebalance
    from .share.share_groups import ShareGroups
    from .transaction.transaction_coordinator import TransactionCoordinator


class Coordinators:
    """The coordinators of a node until its next crash or reset, which creates new ones."""

    def __init__(self, controller: Controller, replicas: ReplicaManager) -> None:
        """Create no coordinator yet."""
        self._controller = controller
        self._replicas = replicas
        self._is_abandoned = False

    def _is_current(self) -> bool:
        return not self._is_abandoned

    def abandon(self) -> None:
        """Reject all later appends, because the node crashed or was reset."""
        self._is_abandoned = True

    def coordinator_log(self, coordinator_type: CoordinatorType) -> CoordinatorLog:
        """Return the log of one type of coordinator. It rejects appends once these coordinators are abandoned."""
        return CoordinatorLog(self._controller, self._replicas, coordinator_type, self._is_current)

    @cached_property
    def groups(self) -> GroupCoordinator:
        """The group coordinator."""
        from .group.group_coordinator import GroupCoordinator
        from .group.group_settings import GroupSettings

        log = self.coordinator_log(CoordinatorType.GROUP)
        return GroupCoordinator(
            GroupSettings.of(self._replicas.config),
            self._replicas.clock,
            log,
            partial(self.new_consumer_groups, log),
            partial(self.new_share_groups, log),
        )

    def new_consumer_groups(self, log: CoordinatorLog, registry: GroupRegistry, rebalance: Rebalance) -> ConsumerGroups:
        """Create the coordinator of consumer protocol groups (KIP-848)."""
        from .consumer.consumer_groups import ConsumerGroups
        from .consumer.image_topics import ImageTopics
        from .consumer.settings import ConsumerGroupSettings

        image = self._controller.image
        settings = ConsumerGroupSettings.of_configs(image.configs)
        return ConsumerGroups(settings, registry, log, ImageTopics(image), rebalance=rebalance)

    def new_share_groups(self, log: CoordinatorLog, registry: GroupRegistry) -> ShareGroups:
        """Create the coordinator of share groups (KIP-932)."""
        from .consumer.image_topics import ImageTopics
        from .share.share_groups import ShareGroups

        topics = ImageTopics(self._controller.image)
        return ShareGroups(self._replicas, registry, log, self.coordinator_log(CoordinatorType.SHARE), topics)

    @property
    def has_groups(self) -> bool:
        """Whether the group coordinator was ever used."""
        return "groups" in vars(self)

    def list_groups(self) -> list[ListedGroup]:
        """Return all groups; none if the group coordinator was never used, which this call does not create."""
        return self.groups.list_groups((), ()) if self.has_groups else []

    @cached_property
    def transactions(self) -> TransactionCoordinator:
        """The transaction coordinator."""
        from .transaction.transaction_coordinator import TransactionCoordinator

        log = self.coordinator_log(CoordinatorType.TRANSACTION)
        return TransactionCoordinator(self._controller, self._replicas, log, self.write_marker)

    @property
    def has_transactions(self) -> bool:
        """Whether the transaction coordinator was ever used."""
        return "transactions" in vars(self)

    def load(self) -> None:
        """Read the state of the coordinators from their topics, on the event loop, after the logs are loaded.

        The transaction coordinator is first, because it writes pending markers to __consumer_offsets too.
        """
        if not self.coordinator_log(CoordinatorType.TRANSACTION).is_empty:
            self.transactions.load()
        if not self.coordinator_log(CoordinatorType.SHARE).is_empty:
            self.groups.share_groups.load()
        if not self.coordinator_log(CoordinatorType.GROUP).is_empty:
            self.groups.load()

    def write_marker(self, partition: Partition, marker: TransactionMarker) -> AppendResult:
        """Append a transaction marker to the partition. In __consumer_offsets it ends the pending offsets too.

        The caller must wait for the flush (flush.messages). Raises KafkaError, see PartitionLog.append_coordinated.
        """
        result = partition.append_coordinated(marker, self._replicas.clock.now_ms())
        if partition.topic_name == GROUP_METADATA_TOPIC and self.has_groups:
            offsets = self.groups.offsets
            offsets.end_transaction(partition.index, marker.producer_id, is_commit=marker.is_commit)
        return result

    def topics_removed(self, topics: Sequence[TopicImage]) -> None:
        """Delete the state of removed topics. A coordinator whose own topic was removed loses all of its state."""
        if self.has_transactions and any(topic.name == TRANSACTION_STATE_TOPIC for topic in topics):
            self.transactions.unload()
        if not self.has_groups:
            return
        if any(topic.name == GROUP_METADATA_TOPIC for topic in topics):
            groups = self.groups
            del self.groups
            groups.unload()
        else:
            self.groups.offsets.remove_topics([(topic.name, topic.topic_id) for topic in topics])
            if self.groups.has_share_groups:
                self.groups.share_groups.remove_topics([topic.topic_id for topic in topics])

    def unload(self) -> None:
        """Drop all state, complete the pending requests and cancel the timers. No method may be called after."""
        if self.has_groups:
            self.groups.unload()
        if self.has_transactions:
            self.transactions.unload()
