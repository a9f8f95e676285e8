"""The share coordinator of a node: the state of share groups in partitions, as records in __share_group_state.

A state is written as a snapshot, then as updates of it. After
share.coordinator.snapshot.update.records.per.snapshot updates, the next write is a snapshot again.

Source: ShareCoordinatorShard and ShareGroupOffset, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ....protocol.error_codes import ErrorCode, KafkaError
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

if TYPE_CHECKING:
    from ...replica.replica_manager import ReplicaManager
    from ...runtime.deferred import Deferred
    from ..coordinator_log import CoordinatorLog, ReplayedRecord

logger = logging.getLogger(__name__)

NO_OFFSET = -1


class ShareStates:
    """The states in the partitions of __share_group_state that the node leads, by group, topic and partition."""

    __slots__ = ("_log", "_replicas", "_states", "_updates")

    def __init__(self, replicas: ReplicaManager, log: CoordinatorLog) -> None:
        """Create the container without states; see load."""
        self._replicas = replicas
        self._log = log
        self._states: dict[ShareKey, ShareStateValue] = {}
        # The number of updates since the last snapshot.
        self._updates: dict[ShareKey, int] = {}

    def find(self, key: ShareKey) -> ShareStateValue | None:
        """Return the state, or None."""
        return self._states.get(key)

    def keys_of(self, group_id: str) -> list[ShareKey]:
        """Return the keys of the group's states."""
        return [key for key in self._states if key.group_id == group_id]

    def load(self) -> None:
        """Read the states of led partitions that are not in memory yet."""
        self._log.load(self._apply)

    def leaders_changed(self) -> None:
        """Drop the states of the partitions that other nodes lead now, and load those that this node leads now."""
        lost = self._log.forget()
        for key in list(self._states) if lost else ():
            if self._log.index_of(coordinator_key(key)) in lost:
                self._remove(key)
        self.load()

    def when_durable(self) -> ErrorCode | Deferred[ErrorCode]:
        """Return NONE or an error when the written states are durable. See CoordinatorLog.when_durable."""
        return self._log.when_durable(ErrorCode.NONE, ErrorCode)

    def initialize(self, key: ShareKey, state_epoch: int, start_offset: int = NO_OFFSET) -> ShareStateValue:
        """Write a new state in place of an earlier one, and return it. Raises KafkaError."""
        before = self._states.get(key)
        now_ms = self._replicas.clock.now_ms()
        state = ShareStateValue(
            snapshot_epoch=0 if before is None else before.snapshot_epoch + 1,
            state_epoch=state_epoch,
            start_offset=start_offset,
            create_timestamp=now_ms,
            write_timestamp=now_ms,
        )
        if start_offset != NO_OFFSET:
            state = replace(state, delivery_complete_count=0)
        self._write(key, ShareStateType.SNAPSHOT, state, state)
        return state

    def update(self, key: ShareKey, start_offset: int, complete_count: int, batches: tuple[StateBatch, ...]) -> None:
        """Write changed batches of a state.

        Raises KafkaError: INVALID_REQUEST without a state, which an unclean election can lose, and the errors of
        CoordinatorLog.append. The state is unchanged then.
        """
        before = self._states.get(key)
        if before is None:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"{coordinator_key(key)} has no state")
        change = ShareStateValue(
            snapshot_epoch=before.snapshot_epoch,
            leader_epoch=before.leader_epoch,
            start_offset=start_offset,
            delivery_complete_count=complete_count,
            batches=batches,
        )
        merged = _merge(before, change)
        per_snapshot = self._replicas.config.value_of("share.coordinator.snapshot.update.records.per.snapshot")
        assert isinstance(per_snapshot, int), "a number of updates"
        if self._updates.get(key, 0) < per_snapshot:
            self._write(key, ShareStateType.UPDATE, change, merged)
            self._updates[key] = self._updates.get(key, 0) + 1
            return
        snapshot = replace(
            merged, snapshot_epoch=before.snapshot_epoch + 1, write_timestamp=self._replicas.clock.now_ms()
        )
        self._write(key, ShareStateType.SNAPSHOT, snapshot, snapshot)
        self._updates[key] = 0

    def delete(self, key: ShareKey) -> None:
        """Delete the state, if there is one. Raises KafkaError."""
        if key in self._states:
            self._log.append(coordinator_key(key), [CoordinatorRecord(key.encode(ShareStateType.SNAPSHOT), None)])
            self._remove(key)

    def _remove(self, key: ShareKey) -> None:
        self._states.pop(key, None)
        self._updates.pop(key, None)

    def _write(
        self, key: ShareKey, record_type: ShareStateType, written: ShareStateValue, state: ShareStateValue
    ) -> None:
        record = CoordinatorRecord(key.encode(record_type), written.encode(record_type))
        self._log.append(coordinator_key(key), [record])
        self._states[key] = state

    def _apply(self, _partition: int, record: ReplayedRecord) -> None:
        if record.key is None or record.marker is not None:
            return
        try:
            record_type, key = read_share_key(record.key)
            if record.value is None:
                self._remove(key)
                return
            value = ShareStateValue.read(record_type, record.value)
        except FrameError as error:
            logger.error("__share_group_state: the record at offset %d is skipped: %s", record.offset, error)
            return
        before = self._states.get(key)
        if record_type is ShareStateType.SNAPSHOT:
            self._states[key] = value
            self._updates[key] = 0
        elif before is not None:
            self._states[key] = _merge(before, value)
            self._updates[key] = self._updates.get(key, 0) + 1


def coordinator_key(key: ShareKey) -> str:
    """Return the key that selects the partition of __share_group_state (SharePartitionKey.asCoordinatorKey)."""
    return f"{key.group_id}:{uuid_text(key.topic_id)}:{key.partition}"


def _merge(before: ShareStateValue, change: ShareStateValue) -> ShareStateValue:
    """Return the state after a change, without records before its start offset (PersisterStateBatchCombiner)."""
    start_offset = before.start_offset if change.start_offset == NO_OFFSET else change.start_offset
    unchanged = [part for batch in before.batches for part in _without(batch, change.batches)]
    return replace(
        before,
        start_offset=start_offset,
        delivery_complete_count=change.delivery_complete_count,
        batches=tuple(
            each._replace(first_offset=max(each.first_offset, start_offset))
            for each in _join_adjacent(sorted([*unchanged, *change.batches]))
            if each.last_offset >= start_offset
        ),
    )


def _without(batch: StateBatch, others: Sequence[StateBatch]) -> list[StateBatch]:
    """Return the parts of the batch that are in none of the others, which do not overlap."""
    left: list[StateBatch] = []
    first_offset = batch.first_offset
    for other in sorted(others):
        if other.last_offset < first_offset or other.first_offset > batch.last_offset:
            continue
        if other.first_offset > first_offset:
            left.append(batch._replace(first_offset=first_offset, last_offset=other.first_offset - 1))
        first_offset = other.last_offset + 1
    if first_offset <= batch.last_offset:
        left.append(batch._replace(first_offset=first_offset))
    return left


def _join_adjacent(batches: Sequence[StateBatch]) -> list[StateBatch]:
    joined: list[StateBatch] = []
    for batch in batches:
        before = joined[-1] if joined else None
        if before is not None and before.last_offset + 1 == batch.first_offset and before[2:] == batch[2:]:
            joined[-1] = before._replace(last_offset=batch.last_offset)
        else:
            joined.append(batch)
    return joined
