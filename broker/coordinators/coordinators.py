"""The coordinators of one node, each created on first use, and the way to those of the other nodes.

A node coordinates a key if it leads the key's partition of the internal topic (internal_topics). For a key of another
node its coordinators raise NOT_COORDINATOR, which clients get. A node asks another one itself only for transactions:
whether a partition is in one, and to write a marker.

Their state is in internal topics. `load` reads it, after the logs are loaded. The node imports this module with the
first request for a coordinator. Each package of a coordinator is imported here, with the first use of that coordinator:
all of them together take three times as long as the one that a client needs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ...faults.consumption.events import EndedTransaction, Event
from ...protocol.error_codes import ErrorCode, KafkaError
from ..metadata.controller import Controller
from ..metadata.metadata_image import (
    GROUP_METADATA_TOPIC,
    SHARE_GROUP_STATE_TOPIC,
    TRANSACTION_STATE_TOPIC,
    TopicImage,
)
from ..replica.replica_manager import ReplicaManager
from . import consumer, group, share, streams, transaction
from .coordinator_log import Appended, CoordinatorLog
from .internal_topics import CoordinatorType, expected_index_of_key

if TYPE_CHECKING:
    from ...protocol.messages.list_groups import ListedGroup
    from ...protocol.stored_records.share_state_records import ShareKey
    from ...storage.append_result import AppendResult
    from ...storage.coordinator_batch import TransactionMarker
    from ..replica.partition import Partition
    from .consumer.consumer_groups import ConsumerGroups
    from .group.group_coordinator import GroupCoordinator
    from .group.group_registry import GroupRegistry
    from .group.rebalance import Rebalance
    from .share.share_groups import ShareGroups
    from .share.share_nodes import ShareNodes
    from .share.share_partitions import SharePartitions
    from .share.share_state import ShareStates
    from .share.state_requests import ShareStateRequests
    from .streams.streams_groups import StreamsGroups
    from .transaction.transaction_coordinator import TransactionCoordinator


class Coordinators:
    """The coordinators of a node until its next crash or reset, which creates new ones."""

    def __init__(
        self,
        controller: Controller,
        replicas: ReplicaManager,
        find_peer: Callable[[int], Coordinators | None],
        changed: Callable[[Appended], None],
        report: Callable[[Event], None],
    ) -> None:
        """Create no coordinator yet.

        find_peer: returns the coordinators of another node by its id, or None if it cannot be reached.
        changed: see CoordinatorLog. report: gets what share groups deliver.
        """
        self._controller = controller
        self._replicas = replicas
        self._find_peer = find_peer
        self._changed = changed
        self._report = report
        self._is_abandoned = False

    def _is_current(self) -> bool:
        return not self._is_abandoned

    def abandon(self) -> None:
        """Reject all later appends, because the node crashed or was reset."""
        self._is_abandoned = True

    def coordinator_log(self, coordinator_type: CoordinatorType) -> CoordinatorLog:
        """Return the log of one type of coordinator. It rejects appends once these coordinators are abandoned."""
        return CoordinatorLog(self._controller, self._replicas, coordinator_type, self._is_current, self._changed)

    @cached_property
    def groups(self) -> GroupCoordinator:
        """The group coordinator."""
        log = self.coordinator_log(CoordinatorType.GROUP)
        return group.group_coordinator.GroupCoordinator(
            group.group_settings.GroupSettings.of(self._replicas.config),
            self._replicas.clock,
            log,
            self,
        )

    def new_consumer_groups(self, log: CoordinatorLog, registry: GroupRegistry, rebalance: Rebalance) -> ConsumerGroups:
        """Create the coordinator of consumer protocol groups (KIP-848)."""
        topics = consumer.topics.ImageTopics(self._controller.image)
        settings = consumer.settings.ConsumerGroupSettings(self._replicas)
        return consumer.consumer_groups.ConsumerGroups(settings, registry, log, topics, rebalance=rebalance)

    def new_share_groups(self, log: CoordinatorLog, registry: GroupRegistry) -> ShareGroups:
        """Create the coordinator of share groups (KIP-932)."""
        topics = consumer.topics.ImageTopics(self._controller.image)
        return share.share_groups.ShareGroups(self._replicas, registry, log, topics, self._share_nodes)

    def new_streams_groups(self, log: CoordinatorLog, registry: GroupRegistry) -> StreamsGroups:
        """Create the coordinator of streams groups (KIP-1071)."""
        topics = consumer.topics.ImageTopics(self._controller.image)
        return streams.streams_groups.StreamsGroups(self._replicas, registry, log, topics)

    @cached_property
    def _share_nodes(self) -> ShareNodes:
        return share.share_nodes.ShareNodes(self._controller, self._find_node, self._is_current, self._report)

    @property
    def share_states(self) -> ShareStates:
        """The share coordinator."""
        return self._share_states

    @cached_property
    def _share_states(self) -> ShareStates:
        return share.share_state.ShareStates(self._replicas, self.coordinator_log(CoordinatorType.SHARE))

    @cached_property
    def share_state_requests(self) -> ShareStateRequests:
        """The requests of other brokers for the states of the share coordinator."""
        return share.state_requests.ShareStateRequests(self._replicas.image, self.share_states)

    @property
    def has_share_states(self) -> bool:
        """Whether the share coordinator was ever used."""
        return "_share_states" in vars(self)

    @cached_property
    def share_partitions(self) -> SharePartitions:
        """The share partitions of the partitions that this node leads."""
        return share.share_partitions.SharePartitions(self._replicas, self._share_nodes)

    @property
    def has_share_partitions(self) -> bool:
        """Whether share_partitions was ever used."""
        return "share_partitions" in vars(self)

    @property
    def has_groups(self) -> bool:
        """Whether the group coordinator was ever used."""
        return "groups" in vars(self)

    def list_groups(self) -> list[ListedGroup]:
        """Return all groups; none if the group coordinator was never used, which this call does not create."""
        return self.groups.list_groups((), ()) if self.has_groups else []

    def has_group(self, group_id: str) -> bool:
        """Return whether this node has the group. At most one node of a cluster has."""
        return self.has_groups and self.groups.has_group(group_id)

    @cached_property
    def transactions(self) -> TransactionCoordinator:
        """The transaction coordinator."""
        log = self.coordinator_log(CoordinatorType.TRANSACTION)
        make = transaction.transaction_coordinator.TransactionCoordinator
        return make(self._controller, self._replicas, log, self.send_marker)

    @property
    def has_transactions(self) -> bool:
        """Whether the transaction coordinator was ever used."""
        return "transactions" in vars(self)

    def has_transactional_id(self, transactional_id: str) -> bool:
        """Return whether this node has the transactional id. At most one node of a cluster has."""
        return self.has_transactions and self.transactions.has_transactional_id(transactional_id)

    def load(self) -> None:
        """Read the state of the coordinators from their topics, on the event loop, after the logs are loaded.

        The transaction coordinator is first, because it writes pending markers to __consumer_offsets too.
        """
        if not self.coordinator_log(CoordinatorType.TRANSACTION).is_empty:
            self.transactions.load()
            self._controller.skip_producer_ids_up_to(self.transactions.latest_producer_id)
        if not self.coordinator_log(CoordinatorType.SHARE).is_empty:
            self.share_states.load()
        if not self.coordinator_log(CoordinatorType.GROUP).is_empty:
            self.groups.load()

    def leaders_changed(self, topic: TopicImage, indexes: Sequence[int]) -> None:
        """Load and drop state after partitions of the topic have got other leaders or epochs.

        All nodes know the new leaders. A partition that this node leads now is read from its log; requests that wait
        for a partition of another node get NOT_COORDINATOR. A second call has no effect.
        """
        if topic.name == TRANSACTION_STATE_TOPIC:
            self.transactions.leaders_changed()
        elif topic.name == GROUP_METADATA_TOPIC:
            self.groups.leaders_changed()
        elif topic.name == SHARE_GROUP_STATE_TOPIC:
            self.share_states.leaders_changed()
        elif self.has_share_partitions:
            self.share_partitions.leaders_changed(topic.topic_id)

    # -- other nodes

    def transactions_of(self, transactional_id: str) -> TransactionCoordinator:
        """Return the coordinator of the transactional id, on this node or another.

        Raises KafkaError COORDINATOR_NOT_AVAILABLE if there is none that this node can reach.
        """
        found = self.find_transactions_of(transactional_id)
        if found is None:
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, f"no node coordinates {transactional_id}")
        return found

    def find_transactions_of(self, transactional_id: str) -> TransactionCoordinator | None:
        """Return the coordinator of the transactional id, or None if there is none that this node can reach."""
        image = self._controller.image
        topic = image.find_topic(TRANSACTION_STATE_TOPIC)
        if topic is None:
            return None
        if len(image.configs.nodes) == 1:
            # Not worth the hash of the id in each Produce.
            return self.transactions
        index = expected_index_of_key(image, CoordinatorType.TRANSACTION, transactional_id)
        node = self._find_node(topic.partitions[index].leader_id)
        return None if node is None else node.transactions

    def _find_node(self, node_id: int) -> Coordinators | None:
        """Return the coordinators of a node, or None. Those of this node are these, even if it has newer ones."""
        return self if node_id == self._replicas.node_id else self._find_peer(node_id)

    def send_marker(self, topic_name: str, index: int, marker: TransactionMarker) -> tuple[Partition, AppendResult]:
        """Append a transaction marker on the leader of the partition; see write_marker.

        Returns the leader's partition and the result. Raises KafkaError: UNKNOWN_TOPIC_OR_PARTITION for a deleted
        partition, LEADER_NOT_AVAILABLE without a leader that this node can reach, and the errors of write_marker.
        """
        topic = self._controller.image.find_topic(topic_name)
        if topic is None or not topic.has_partition(index):
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no {topic_name}-{index}")
        leader_id = topic.partitions[index].leader_id
        leader = self._find_node(leader_id)
        if leader is None:
            raise KafkaError(ErrorCode.LEADER_NOT_AVAILABLE, f"node {leader_id} cannot be reached")
        return leader.write_led_marker(topic_name, index, marker)

    def write_led_marker(
        self, topic_name: str, index: int, marker: TransactionMarker
    ) -> tuple[Partition, AppendResult]:
        """Append a transaction marker to a partition of this node; see send_marker."""
        partition = self._replicas.partition_of(topic_name, index)
        return partition, self.write_marker(partition, marker)

    def find_led_partition(self, topic_id: bytes, index: int) -> Partition | None:
        """Return the partition if this node leads it, else None."""
        partition = self._replicas.find_partition(topic_id, index)
        return partition if partition is not None and partition.is_leader else None

    def close_share_partition(self, key: ShareKey) -> None:
        """Forget what this node has in memory of a share partition, whose state has changed."""
        if self.has_share_partitions:
            self.share_partitions.close_partition(key)

    def write_marker(self, partition: Partition, marker: TransactionMarker) -> AppendResult:
        """Append a transaction marker to the partition. In __consumer_offsets it ends the pending offsets too.

        The caller must wait until it is safe. Raises KafkaError, see Partition.append_coordinated, and
        NOT_ENOUGH_REPLICAS.
        """
        partition.check_in_sync()
        result = partition.append_coordinated(marker, self._replicas.clock.now_ms())
        if partition.topic_name == GROUP_METADATA_TOPIC and self.has_groups:
            offsets = self.groups.offsets
            offsets.end_transaction(partition.index, marker.producer_id, is_commit=marker.is_commit)
            self._changed(EndedTransaction(partition.index, marker.producer_id, marker.is_commit))
        return result

    def topics_removed(self, topics: Sequence[TopicImage]) -> None:
        """Delete the state of removed topics. A coordinator whose own topic was removed loses all of its state."""
        if self.has_transactions and any(topic.name == TRANSACTION_STATE_TOPIC for topic in topics):
            self.transactions.unload()
        topic_ids = [topic.topic_id for topic in topics]
        if self.has_share_partitions:
            self.share_partitions.remove_topics(topic_ids)
        if self.has_share_states:
            self.share_states.remove_topics(topic_ids)
        if not self.has_groups:
            return
        if any(topic.name == GROUP_METADATA_TOPIC for topic in topics):
            groups = self.groups
            del self.groups
            groups.unload()
        else:
            self.groups.remove_topics(topics)

    def unload(self) -> None:
        """Drop all state, complete the pending requests and cancel the timers. No method may be called after."""
        if self.has_groups:
            self.groups.unload()
        if self.has_transactions:
            self.transactions.unload()
        if self.has_share_partitions:
            self.share_partitions.unload()
