"""The share coordinator: how far share groups are in partitions, kept as records of __share_group_state.

Source: ShareCoordinatorShard and ShareGroupOffset, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

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
    from ..coordinator_log import CoordinatorLog, ReplayedRecord

logger = logging.getLogger(__name__)

NO_OFFSET = -1


class ShareStates:
    """The state of every partition that a share group has consumed."""

    __slots__ = ("_log", "_replicas", "_states", "_updates")

    def __init__(self, replicas: ReplicaManager, log: CoordinatorLog) -> None:
        """Start without any; see load."""
        self._replicas = replicas
        self._log = log
        self._states: dict[ShareKey, ShareStateValue] = {}
        # How many updates were written since the last snapshot.
        self._updates: dict[ShareKey, int] = {}

    def find(self, key: ShareKey) -> ShareStateValue | None:
        """Return the state, or None."""
        return self._states.get(key)

    def keys_of(self, group_id: str) -> list[ShareKey]:
        """Return the partitions of which there is a state of the group."""
        return [key for key in self._states if key.group_id == group_id]

    def load(self) -> None:
        """Know what the log tells."""
        self._log.replay(self._apply)

    def begin(self, key: ShareKey, state_epoch: int, start_offset: int = NO_OFFSET) -> None:
        """Have a state for the partition that begins at start_offset, in place of an earlier one. Raises KafkaError."""
        known = self._states.get(key)
        now_ms = self._replicas.clock.now_ms()
        state = ShareStateValue(
            snapshot_epoch=0 if known is None else known.snapshot_epoch + 1,
            state_epoch=state_epoch,
            start_offset=start_offset,
            create_timestamp=now_ms,
            write_timestamp=now_ms,
        )
        if start_offset != NO_OFFSET:
            state = replace(state, delivery_complete_count=0)
        self._write(key, ShareStateType.SNAPSHOT, state, state)

    def update(self, key: ShareKey, start_offset: int, complete_count: int, batches: tuple[StateBatch, ...]) -> None:
        """Write what has become of records. Raises KafkaError; nothing has changed then."""
        known = self._states[key]
        change = ShareStateValue(
            snapshot_epoch=known.snapshot_epoch,
            leader_epoch=known.leader_epoch,
            start_offset=start_offset,
            delivery_complete_count=complete_count,
            batches=batches,
        )
        merged = _merged(known, change)
        per_snapshot = self._replicas.config.value_of("share.coordinator.snapshot.update.records.per.snapshot")
        assert isinstance(per_snapshot, int), "a number of updates"
        if self._updates.get(key, 0) < per_snapshot:
            self._write(key, ShareStateType.UPDATE, change, merged)
            self._updates[key] = self._updates.get(key, 0) + 1
            return
        snapshot = replace(
            merged, snapshot_epoch=known.snapshot_epoch + 1, write_timestamp=self._replicas.clock.now_ms()
        )
        self._write(key, ShareStateType.SNAPSHOT, snapshot, snapshot)
        self._updates[key] = 0

    def delete(self, key: ShareKey) -> None:
        """Forget the partition's state; without effect where there is none. Raises KafkaError."""
        if key in self._states:
            self._log.append(_text_of(key), [CoordinatorRecord(key.encode(ShareStateType.SNAPSHOT), None)])
            self._forget(key)

    def _forget(self, key: ShareKey) -> None:
        self._states.pop(key, None)
        self._updates.pop(key, None)

    def _write(
        self, key: ShareKey, record_type: ShareStateType, written: ShareStateValue, state: ShareStateValue
    ) -> None:
        record = CoordinatorRecord(key.encode(record_type), written.encode(record_type))
        self._log.append(_text_of(key), [record])
        self._states[key] = state

    def _apply(self, _partition: int, record: ReplayedRecord) -> None:
        if record.key is None or record.marker is not None:
            return
        try:
            record_type, key = read_share_key(record.key)
            if record.value is None:
                self._forget(key)
                return
            value = ShareStateValue.read(record_type, record.value)
        except FrameError as error:
            logger.error("__share_group_state: the record at %d is passed over: %s", record.offset, error)
            return
        known = self._states.get(key)
        if record_type is ShareStateType.SNAPSHOT:
            self._states[key] = value
            self._updates[key] = 0
        elif known is not None:
            self._states[key] = _merged(known, value)
            self._updates[key] = self._updates.get(key, 0) + 1


def _text_of(key: ShareKey) -> str:
    """Return what the partition of the topic is found by (SharePartitionKey.asCoordinatorKey)."""
    return f"{key.group_id}:{uuid_text(key.topic_id)}:{key.partition}"


def _merged(known: ShareStateValue, change: ShareStateValue) -> ShareStateValue:
    """Return the state after a change, without what lies before its start (PersisterStateBatchCombiner)."""
    start_offset = known.start_offset if change.start_offset == NO_OFFSET else change.start_offset
    by_offset: list[StateBatch] = []
    for batch in known.batches:
        by_offset += _without(batch, change.batches)
    by_offset = sorted([*by_offset, *change.batches])
    return replace(
        known,
        start_offset=start_offset,
        delivery_complete_count=change.delivery_complete_count,
        batches=tuple(
            each._replace(first_offset=max(each.first_offset, start_offset))
            for each in _joined(by_offset)
            if each.last_offset >= start_offset
        ),
    )


def _without(batch: StateBatch, others: Sequence[StateBatch]) -> list[StateBatch]:
    """Return what is left of the batch behind others, which are in order and do not overlap."""
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


def _joined(batches: Sequence[StateBatch]) -> list[StateBatch]:
    joined: list[StateBatch] = []
    for batch in batches:
        before = joined[-1] if joined else None
        if before is not None and before.last_offset + 1 == batch.first_offset and before[2:] == batch[2:]:
            joined[-1] = before._replace(last_offset=batch.last_offset)
        else:
            joined.append(batch)
    return joined
