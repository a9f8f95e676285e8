"""Records of __share_group_state: the progress of a share group in a partition (KIP-932).

A key is the record's type (int16), group id, topic id and partition. A snapshot has the whole state, an update the
changes since the snapshot. Values have a version (int16, always 0).
Source: ShareSnapshotKey/Value, ShareUpdateKey/Value and ShareCoordinatorRecordHelpers, Kafka 4.3.0.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, Self

from ..frames import FrameError
from ..primitives import Reader, Writer

_VALUE_VERSION = 0
_STATE_BATCH_BYTES_MIN = 20
# The tag of deliveryCompleteCount, and its default.
_TAG = 0
UNKNOWN_COUNT = -1


class ShareStateType(IntEnum):
    """The type of a record, as the log stores it."""

    SNAPSHOT = 0
    UPDATE = 1


class DeliveryState(IntEnum):
    """The delivery state of records, as the log stores it. ACQUIRED is never written."""

    AVAILABLE = 0
    ACQUIRED = 1
    ACKNOWLEDGED = 2
    ARCHIVED = 4


class ShareKey(NamedTuple):
    """A partition in a share group."""

    group_id: str
    topic_id: bytes
    partition: int

    def encode(self, record_type: ShareStateType) -> bytes:
        """Return the key of a record of that type."""
        writer = Writer()
        writer.int16(record_type)
        writer.string(self.group_id)
        writer.uuid(self.topic_id)
        writer.int32(self.partition)
        return writer.getvalue()


class StateBatch(NamedTuple):
    """Adjacent records in the same state; last_offset is inclusive."""

    first_offset: int
    last_offset: int
    delivery_state: DeliveryState
    delivery_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareStateValue:
    """A snapshot or an update. An update has no state_epoch and no timestamps.

    start_offset: of the first record whose delivery is not complete; -1 if it is unknown, or unchanged in an update.
    delivery_complete_count: the number of records from start_offset on whose delivery is complete.
    """

    snapshot_epoch: int
    state_epoch: int = 0
    leader_epoch: int = 0
    start_offset: int = -1
    delivery_complete_count: int = UNKNOWN_COUNT
    create_timestamp: int = 0
    write_timestamp: int = 0
    batches: tuple[StateBatch, ...] = ()

    @classmethod
    def read(cls, record_type: ShareStateType, value: bytes) -> Self:
        """Read the value of a record of that type. Raises FrameError."""
        reader = Reader(value)
        version = reader.int16()
        if version != _VALUE_VERSION:
            raise FrameError(f"a value of version {version}; only version {_VALUE_VERSION} can be read")
        is_snapshot = record_type is ShareStateType.SNAPSHOT
        snapshot_epoch = reader.int32()
        state_epoch = reader.int32() if is_snapshot else 0
        leader_epoch, start_offset = reader.int32(), reader.int64()
        create_timestamp = reader.int64() if is_snapshot else 0
        write_timestamp = reader.int64() if is_snapshot else 0
        batches = tuple(_read_batch(reader) for _ in range(reader.array_length(_STATE_BATCH_BYTES_MIN, flexible=True)))
        return cls(
            snapshot_epoch=snapshot_epoch,
            state_epoch=state_epoch,
            leader_epoch=leader_epoch,
            start_offset=start_offset,
            delivery_complete_count=reader.tagged_fields({_TAG: Reader.int32}).get(_TAG, UNKNOWN_COUNT),
            create_timestamp=create_timestamp,
            write_timestamp=write_timestamp,
            batches=batches,
        )

    def encode(self, record_type: ShareStateType) -> bytes:
        """Return the value of a record of that type."""
        writer = Writer()
        writer.int16(_VALUE_VERSION)
        writer.int32(self.snapshot_epoch)
        if record_type is ShareStateType.SNAPSHOT:
            writer.int32(self.state_epoch)
        writer.int32(self.leader_epoch)
        writer.int64(self.start_offset)
        if record_type is ShareStateType.SNAPSHOT:
            writer.int64(self.create_timestamp)
            writer.int64(self.write_timestamp)
        writer.array_length(len(self.batches), flexible=True)
        for batch in self.batches:
            writer.int64(batch.first_offset)
            writer.int64(batch.last_offset)
            writer.int8(batch.delivery_state)
            writer.int16(batch.delivery_count)
            writer.no_tagged_fields()
        if self.delivery_complete_count == UNKNOWN_COUNT:
            writer.no_tagged_fields()
        else:
            tagged = Writer()
            tagged.int32(self.delivery_complete_count)
            writer.tagged_fields([(_TAG, tagged)])
        return writer.getvalue()


def read_share_key(key: bytes) -> tuple[ShareStateType, ShareKey]:
    """Return the type and the key. Raises FrameError."""
    reader = Reader(key)
    number = reader.int16()
    if number not in list(ShareStateType):
        raise FrameError(f"a key of type {number} is not one of the state of a share group")
    return ShareStateType(number), ShareKey(reader.string(), reader.uuid(), reader.int32())


def _read_batch(reader: Reader) -> StateBatch:
    first_offset, last_offset = reader.int64(), reader.int64()
    state, delivery_count = reader.int8(), reader.int16()
    reader.skip_tagged_fields()
    if state not in list(DeliveryState):
        raise FrameError(f"delivery state {state}; allowed: {', '.join(str(int(each)) for each in DeliveryState)}")
    return StateBatch(first_offset, last_offset, DeliveryState(state), delivery_count)
