"""The share coordinator of a node: the state of share groups in partitions, as records in __share_group_state.

A state is written as a snapshot, then as updates of it. After
share.coordinator.snapshot.update.records.per.snapshot updates, the next write is a snapshot again.
The greatest epochs that a state had fence writers and readers with earlier ones. The epochs end with the state.

Source: ShareCoordinatorShard and ShareGroupOffset, Kafka 4.3.0; tests/golden/share_state-4.3.0.jsonl.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.error_messages import error_message
from ....protocol.frames import FrameError
from ....protocol.kafka_uuid import uuid_text
from ....protocol.stored_records.share_state_records import (
    ShareKey,
    ShareStateType,
    ShareStateValue,
    StateBatch,
    read_share_key,
)
from ..coordinator_log import CoordinatorRecord
from .state_batches import NO_OFFSET, combine_batches

if TYPE_CHECKING:
    from ...replica.replica_manager import ReplicaManager
    from ...runtime.deferred import Deferred
    from ..coordinator_log import CoordinatorLog, ReplayedRecord

logger = logging.getLogger(__name__)

# The epoch of a request that is not compared.
ANY_EPOCH = -1


@dataclass(frozen=True, slots=True)
class ShareStateChange:
    """A change of a state.

    state_epoch, leader_epoch: of the writer, or ANY_EPOCH. start_offset: NO_OFFSET if it does not change.
    complete_count: the number of records from the start offset on whose delivery is complete.
    """

    state_epoch: int
    leader_epoch: int
    start_offset: int
    complete_count: int
    batches: tuple[StateBatch, ...]


@dataclass(slots=True)
class _Entry:
    """A state, its greatest epochs, and the number of its updates since the last snapshot after too many of them."""

    state: ShareStateValue
    state_epoch: int
    leader_epoch: int
    update_count: int = 0


class ShareStates:
    """The states in the partitions of __share_group_state that the node leads, by group, topic and partition."""

    __slots__ = ("_entries", "_log", "_replicas")

    def __init__(self, replicas: ReplicaManager, log: CoordinatorLog) -> None:
        """Create the container without states; see load."""
        self._replicas = replicas
        self._log = log
        self._entries: dict[ShareKey, _Entry] = {}

    def find(self, key: ShareKey) -> ShareStateValue | None:
        """Return the state, or None."""
        entry = self._entries.get(key)
        return None if entry is None else entry.state

    def keys_of(self, group_id: str) -> list[ShareKey]:
        """Return the keys of the group's states."""
        return [key for key in self._entries if key.group_id == group_id]

    def load(self) -> None:
        """Read the states of led partitions that are not in memory yet."""
        self._log.load(self._replay)

    def leaders_changed(self) -> None:
        """Drop the states of the partitions that other nodes lead now, and load those that this node leads now."""
        lost = self._log.forget()
        for key in list(self._entries) if lost else ():
            if self._log.index_of(coordinator_key(key)) in lost:
                del self._entries[key]
        self.load()

    def flushed(self) -> Deferred[ErrorCode]:
        """Return what completes when the written states are durable. See CoordinatorLog.flushed."""
        return self._log.flushed()

    def leads(self, key: ShareKey) -> bool:
        """Whether the topic of the states exists and this node leads the partition of the key."""
        return self._log.leads(coordinator_key(key))

    # -- requests

    def initialize(self, key: ShareKey, state_epoch: int, start_offset: int = NO_OFFSET) -> ShareStateValue:
        """Write a new state in place of an earlier one, and return it.

        Raises KafkaError: FENCED_STATE_EPOCH, and the errors of CoordinatorLog.append.
        """
        entry = self._entries.get(key)
        if entry is not None:
            self._check_epoch(state_epoch, entry.state_epoch, ErrorCode.FENCED_STATE_EPOCH)
        now_ms = self._replicas.clock.now_ms()
        state = ShareStateValue(
            snapshot_epoch=0 if entry is None else entry.state.snapshot_epoch + 1,
            state_epoch=state_epoch,
            start_offset=start_offset,
            create_timestamp=now_ms,
            write_timestamp=now_ms,
        )
        if start_offset != NO_OFFSET:
            state = replace(state, delivery_complete_count=0)
        self._write(key, ShareStateType.SNAPSHOT, state)
        return state

    def update(self, key: ShareKey, change: ShareStateChange) -> None:
        """Write changed batches of a state.

        Raises KafkaError: INVALID_REQUEST without a state, FENCED_LEADER_EPOCH, FENCED_STATE_EPOCH, and the errors of
        CoordinatorLog.append. The state is unchanged then.
        """
        entry = self._entries.get(key)
        if entry is None:
            message = "Write operation on uninitialized share partition not allowed."
            raise KafkaError(ErrorCode.INVALID_REQUEST, message)
        self._check_epoch(change.leader_epoch, entry.leader_epoch, ErrorCode.FENCED_LEADER_EPOCH)
        self._check_epoch(change.state_epoch, entry.state_epoch, ErrorCode.FENCED_STATE_EPOCH)
        self._change(key, entry, change, entry.state.leader_epoch)

    def read(self, key: ShareKey, leader_epoch: int) -> ShareStateValue:
        """Return the state for the leader of the partition. A later leader fences the earlier ones.

        Raises KafkaError: INVALID_REQUEST without a state, FENCED_LEADER_EPOCH, and the errors of
        CoordinatorLog.append.
        """
        entry = self._entries.get(key)
        if entry is None:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Read operation on uninitialized share partition not allowed.")
        # Unlike a writer, a reader has no epoch that is not compared.
        if leader_epoch < entry.leader_epoch:
            raise self._fenced(ErrorCode.FENCED_LEADER_EPOCH)
        state = entry.state
        if leader_epoch not in (ANY_EPOCH, entry.leader_epoch):
            unchanged = ShareStateChange(
                ANY_EPOCH, ANY_EPOCH, state.start_offset, state.delivery_complete_count, batches=()
            )
            self._change(key, entry, unchanged, leader_epoch)
        return state

    def delete(self, key: ShareKey) -> None:
        """Delete the state, if there is one. Raises KafkaError."""
        if key in self._entries:
            self._log.append(coordinator_key(key), [CoordinatorRecord(key.encode(ShareStateType.SNAPSHOT), None)])
            del self._entries[key]

    def remove_topics(self, topic_ids: Collection[bytes]) -> None:
        """Delete the states of deleted topics that this node coordinates.

        Source: ShareCoordinatorShard.maybeCleanupShareState, Kafka 4.3.0.
        """
        for key in [each for each in self._entries if each.topic_id in topic_ids and self.leads(each)]:
            try:
                self.delete(key)
            except KafkaError as error:
                logger.warning("the state of %s, whose topic is deleted, stays: %s", coordinator_key(key), error)

    def _check_epoch(self, epoch: int, greatest: int, fenced_code: ErrorCode) -> None:
        """Raise KafkaError with the code if the epoch of a request is earlier than one that the state had."""
        if epoch != ANY_EPOCH and epoch < greatest:
            raise self._fenced(fenced_code)

    def _fenced(self, code: ErrorCode) -> KafkaError:
        return KafkaError(code, error_message(code, self._replicas.emulated_version.release))

    # -- records

    def _change(self, key: ShareKey, entry: _Entry, change: ShareStateChange, leader_epoch: int) -> None:
        update = ShareStateValue(
            snapshot_epoch=entry.state.snapshot_epoch,
            leader_epoch=leader_epoch,
            start_offset=change.start_offset,
            delivery_complete_count=change.complete_count,
            batches=combine_batches(change.batches, change.start_offset),
        )
        if entry.update_count < self._updates_per_snapshot:
            self._write(key, ShareStateType.UPDATE, update)
            return
        now_ms = self._replicas.clock.now_ms()
        merged = _merge(entry.state, update)
        snapshot = replace(
            merged, snapshot_epoch=merged.snapshot_epoch + 1, create_timestamp=now_ms, write_timestamp=now_ms
        )
        self._write(key, ShareStateType.SNAPSHOT, snapshot)

    @property
    def _updates_per_snapshot(self) -> int:
        count = self._replicas.config.value_of("share.coordinator.snapshot.update.records.per.snapshot")
        assert isinstance(count, int), "a number of updates"
        return count

    def _write(self, key: ShareKey, record_type: ShareStateType, value: ShareStateValue) -> None:
        record = CoordinatorRecord(key.encode(record_type), value.encode(record_type))
        self._log.append(coordinator_key(key), [record])
        self._apply(key, record_type, value)

    def _apply(self, key: ShareKey, record_type: ShareStateType, value: ShareStateValue) -> None:
        """Apply a record that is in the log."""
        entry = self._entries.get(key)
        if record_type is ShareStateType.UPDATE:
            if entry is None:
                return
            entry.state = _merge(entry.state, value)
            entry.update_count += 1
        elif entry is None:
            entry = self._entries[key] = _Entry(value, value.state_epoch, value.leader_epoch)
        else:
            entry.state = value
            entry.state_epoch = max(entry.state_epoch, value.state_epoch)
            # A state that is initialized again does not count as the snapshot that ends the updates.
            if entry.update_count >= self._updates_per_snapshot:
                entry.update_count = 0
        entry.leader_epoch = max(entry.leader_epoch, value.leader_epoch)

    def _replay(self, _partition: int, record: ReplayedRecord) -> None:
        if record.key is None or record.marker is not None:
            return
        try:
            record_type, key = read_share_key(record.key)
            if record.value is None:
                self._entries.pop(key, None)
                return
            value = ShareStateValue.read(record_type, record.value)
        except FrameError as error:
            logger.error("__share_group_state: the record at offset %d is skipped: %s", record.offset, error)
            return
        self._apply(key, record_type, value)


def coordinator_key(key: ShareKey) -> str:
    """Return the key that selects the partition of __share_group_state (SharePartitionKey.asCoordinatorKey)."""
    return f"{key.group_id}:{uuid_text(key.topic_id)}:{key.partition}"


def _merge(before: ShareStateValue, update: ShareStateValue) -> ShareStateValue:
    """Return the state after an update."""
    start_offset = before.start_offset if update.start_offset == NO_OFFSET else update.start_offset
    return replace(
        before,
        leader_epoch=before.leader_epoch if update.leader_epoch == ANY_EPOCH else update.leader_epoch,
        start_offset=start_offset,
        delivery_complete_count=update.delivery_complete_count,
        batches=combine_batches((*before.batches, *update.batches), start_offset),
    )
