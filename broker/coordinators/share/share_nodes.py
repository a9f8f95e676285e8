"""What share groups do on other nodes: states at their share coordinators, and partitions at their leaders.

The coordinator of a group, the coordinator of its state in a partition and the leader of the partition can be three
nodes. Kafka's nodes send each other requests; here they call each other.
Source: Persister, DefaultStatePersister and PartitionMetadataClient, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Protocol

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.stored_records.share_state_records import ShareKey, ShareStateValue
from ...metadata.metadata_image import SHARE_GROUP_STATE_TOPIC
from ...runtime.deferred import Deferred
from ..coordinator_log import CoordinatorLog, all_flushed
from ..internal_topics import CoordinatorType, ensure_internal_topic, partition_index_of_key
from .share_state import ShareStateChange, ShareStates, coordinator_key
from .state_batches import NO_OFFSET

if TYPE_CHECKING:
    from ....faults.consumption.events import ShareEvent
    from ...metadata.controller import Controller
    from ...metadata.metadata_image import MetadataImage, TopicImage
    from ...replica.partition import Partition


class ShareNode(Protocol):
    """A node, for the others."""

    @property
    def share_states(self) -> ShareStates:
        """The states of the partitions of __share_group_state that the node leads."""
        ...

    @property
    def has_share_states(self) -> bool:
        """Whether share_states was ever used."""
        ...

    def find_led_partition(self, topic_id: bytes, index: int) -> Partition | None:
        """Return the partition if the node leads it, else None."""
        ...

    def close_share_partition(self, key: ShareKey) -> None:
        """Forget what the node has in memory of a share partition."""
        ...


class ShareNodes:
    """Finds the node for a state or a partition, and calls it."""

    def __init__(
        self,
        controller: Controller,
        find_node: Callable[[int], ShareNode | None],
        is_current: Callable[[], bool],
        report: Callable[[ShareEvent], None],
    ) -> None:
        """find_node: returns a node by its id, this one too, or None if it cannot be reached.

        is_current: returns whether this node still has these coordinators. A crash or a reset ends them.
        report: gets what share groups deliver, for their verdicts.
        """
        self._controller = controller
        self._find_node = find_node
        self._is_current = is_current
        self.report = report

    @property
    def _image(self) -> MetadataImage:
        return self._controller.image

    # -- states

    def find_state(self, key: ShareKey) -> ShareStateValue | None:
        """Return the state, or None. Raises KafkaError COORDINATOR_NOT_AVAILABLE."""
        if self._image.find_topic(SHARE_GROUP_STATE_TOPIC) is None:
            return None
        return self._states_of(key).find(key)

    def initialize_state(self, key: ShareKey, state_epoch: int, start_offset: int = NO_OFFSET) -> ShareStateValue:
        """Write a new state; see ShareStates.initialize. Raises KafkaError."""
        return self._states_of(key).initialize(key, state_epoch, start_offset)

    def update_state(self, key: ShareKey, change: ShareStateChange) -> None:
        """Write changed batches of a state; see ShareStates.update. Raises KafkaError."""
        self._states_of(key).update(key, change)

    def delete_state(self, key: ShareKey) -> None:
        """Delete the state, if there is one. Raises KafkaError."""
        self._states_of(key).delete(key)

    def keys_of(self, group_id: str) -> list[ShareKey]:
        """Return the keys of the group's states on all nodes that can be reached, each once."""
        # A node that is cut off from the controller keeps the states of the partitions that another node leads now.
        return list(dict.fromkeys(key for states in self._all_states() for key in states.keys_of(group_id)))

    def _states_of(self, key: ShareKey) -> ShareStates:
        """Return the states of the share coordinator of the key. Creates the topic if it does not exist.

        Raises KafkaError: COORDINATOR_NOT_AVAILABLE, and NOT_COORDINATOR after a crash or reset of this node.
        """
        if not self._is_current():
            raise KafkaError(ErrorCode.NOT_COORDINATOR, "the node crashed or was reset")
        topic = ensure_internal_topic(self._controller, CoordinatorType.SHARE)
        index = partition_index_of_key(coordinator_key(key), len(topic.partitions))
        node = self._find_node(topic.partitions[index].leader_id)
        if node is None:
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, f"no node coordinates {coordinator_key(key)}")
        return node.share_states

    def _all_states(self) -> Iterator[ShareStates]:
        for broker in self._image.brokers:
            node = self._find_node(broker.node_id)
            if node is not None and node.has_share_states:
                yield node.share_states

    # -- partitions

    def find_partition(self, topic_id: bytes, index: int) -> Partition | None:
        """Return the partition on its leader, or None if there is no leader that can be reached."""
        leader = self._find_leader(topic_id, index)
        return None if leader is None else leader.find_led_partition(topic_id, index)

    def create_topic(self, name: str, configs: Mapping[str, str]) -> TopicImage:
        """Create a topic with the default number of partitions. The caller has checked the name. Raises KafkaError."""
        count = self._image.configs.current.num_partitions
        return self._controller.create_topic(name, count, configs=configs)

    def close_partition(self, key: ShareKey) -> None:
        """Let the leader of the partition forget what it has in memory for the group."""
        leader = self._find_leader(key.topic_id, key.partition)
        if leader is not None:
            leader.close_share_partition(key)

    def _find_leader(self, topic_id: bytes, index: int) -> ShareNode | None:
        topic = self._image.find_topic_by_id(topic_id)
        if topic is None or not topic.has_partition(index):
            return None
        return self._find_node(topic.partitions[index].leader_id)

    # -- flushes

    def flushed(self, *logs: CoordinatorLog) -> Deferred[ErrorCode]:
        """Return what completes when the states and the records of logs are durable. See CoordinatorLog.flushed."""
        return all_flushed([*(log.flushed() for log in logs), *(states.flushed() for states in self._all_states())])
