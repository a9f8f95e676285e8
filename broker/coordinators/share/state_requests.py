"""The requests of other brokers for the states of share groups: checks before the state is read or written.

Kafka's brokers send each other these requests. Here the nodes call each other (share_nodes.py); a client that is
allowed CLUSTER_ACTION may send them too.
Source: ShareCoordinatorService and ShareCoordinatorShard, Kafka 4.3.0; tests/golden/share_state-4.3.0.jsonl.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.error_messages import ERROR_MESSAGES
from ....protocol.stored_records.share_state_records import DeliveryState, ShareKey, ShareStateValue, StateBatch
from .share_state import ShareStateChange, ShareStates

if TYPE_CHECKING:
    from ...metadata.metadata_image import MetadataImage

# A leader writes at most as many records as it may have in flight (group.share.max.partition.max.record.locks). Kafka
# has no limits: it runs out of memory when it delivers a part of a batch with more records.
BATCHES_MAX = 10_000
BATCH_RECORDS_MAX = 100_000


class ShareStateRequests:
    """Handles the requests for the states of one node."""

    __slots__ = ("_image", "_states")

    def __init__(self, image: MetadataImage, states: ShareStates) -> None:
        """image: the metadata of the node. states: those that the node coordinates."""
        self._image = image
        self._states = states

    def initialize(self, key: ShareKey, state_epoch: int, start_offset: int) -> None:
        """Write a new state in place of an earlier one.

        Raises KafkaError: NOT_COORDINATOR, INVALID_REQUEST for a negative partition, UNKNOWN_TOPIC_OR_PARTITION, and
        the errors of ShareStates.initialize.
        """
        self._check(key)
        self._check_topic(key)
        self._states.initialize(key, state_epoch, start_offset)

    def write(self, key: ShareKey, change: ShareStateChange) -> None:
        """Write a change of a state, which has a topic.

        Raises KafkaError: NOT_COORDINATOR, INVALID_REQUEST, and the errors of ShareStates.update.
        """
        self._check(key)
        self._check_batch_count(key, len(change.batches))
        self._states.update(key, change)

    def read(self, key: ShareKey, leader_epoch: int) -> ShareStateValue:
        """Return the state, which has a topic, for a leader of the partition.

        Raises KafkaError: NOT_COORDINATOR, INVALID_REQUEST, and the errors of ShareStates.read.
        """
        self._check(key)
        return self._states.read(key, leader_epoch)

    def find(self, key: ShareKey) -> ShareStateValue | None:
        """Return the state, or None. Raises KafkaError as initialize does before it writes."""
        self._check(key)
        self._check_topic(key)
        return self._states.find(key)

    def delete(self, key: ShareKey) -> None:
        """Delete the state, if there is one. Raises KafkaError: see find, and the errors of CoordinatorLog.append."""
        self._check(key)
        self._check_topic(key)
        self._states.delete(key)

    def _check(self, key: ShareKey) -> None:
        if not self._states.leads(key):
            raise KafkaError(ErrorCode.NOT_COORDINATOR, ERROR_MESSAGES[ErrorCode.NOT_COORDINATOR])
        if key.partition < 0:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "The partition id cannot be a negative number.")

    def _check_topic(self, key: ShareKey) -> None:
        topic = self._image.find_topic_by_id(key.topic_id)
        if topic is None or not topic.has_partition(key.partition):
            code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            raise KafkaError(code, ERROR_MESSAGES[code])

    def _check_batch_count(self, key: ShareKey, new_count: int) -> None:
        state = self._states.find(key)
        count = new_count + (0 if state is None else len(state.batches))
        if count > BATCHES_MAX:
            message = f"The state would have {count} batches; at most {BATCHES_MAX} are allowed."
            raise KafkaError(ErrorCode.INVALID_REQUEST, message)


def state_batch_of(first_offset: int, last_offset: int, delivery_state: int, delivery_count: int) -> StateBatch:
    """Return a batch of a request. Raises KafkaError INVALID_REQUEST for records or a state that cannot be stored."""
    if first_offset < 0 or not 0 <= last_offset - first_offset < BATCH_RECORDS_MAX:
        message = (
            f"The batch {first_offset}-{last_offset} must have 1 to {BATCH_RECORDS_MAX} records with offsets from 0."
        )
        raise KafkaError(ErrorCode.INVALID_REQUEST, message)
    if delivery_state not in list(DeliveryState):
        allowed = ", ".join(f"{state} ({state.name})" for state in DeliveryState)
        message = f"The delivery state of {first_offset}-{last_offset} is {delivery_state}; allowed: {allowed}."
        raise KafkaError(ErrorCode.INVALID_REQUEST, message)
    return StateBatch(first_offset, last_offset, DeliveryState(delivery_state), delivery_count)
