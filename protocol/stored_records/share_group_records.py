"""Records of __consumer_offsets for share groups (KIP-932). typed_records has what they share with other groups.

Source: GroupCoordinatorRecordHelpers, CoordinatorRecordType and the definitions beside them, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Self

from ..primitives import INT32, Reader, Writer
from .consumer_group_values import NO_PARTITIONS, Partitions, TargetAssignment, TargetAssignmentMetadata
from .typed_records import TypedRecord, TypedRecordType

_TOPIC_BYTES_MIN = 18


class ShareRecordType(TypedRecordType):
    """The type of a record, as the log stores it."""

    MEMBER_METADATA = 10
    GROUP_METADATA = 11
    TARGET_ASSIGNMENT_METADATA = 12
    TARGET_ASSIGNMENT_MEMBER = 13
    CURRENT_MEMBER_ASSIGNMENT = 14
    # The partitions that have a state in the share coordinator.
    STATE_PARTITION_METADATA = 15


@dataclass(frozen=True, slots=True)
class ShareMemberMetadata:
    """The fields of a member's heartbeats. client_host: as Java prints an address, "/127.0.0.1"."""

    rack_id: str | None
    client_id: str
    client_host: str
    subscribed_topic_names: tuple[str, ...]

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Read the fields. Raises FrameError."""
        rack_id, client_id = reader.compact_nullable_string(), reader.compact_string()
        client_host = reader.compact_string()
        names = tuple(reader.string_array(flexible=True))
        reader.skip_tagged_fields()
        return cls(rack_id, client_id, client_host, names)

    def write(self, writer: Writer) -> None:
        """Write the fields."""
        writer.compact_nullable_string(self.rack_id)
        writer.compact_string(self.client_id)
        writer.compact_string(self.client_host)
        writer.string_array(self.subscribed_topic_names, flexible=True)
        writer.no_tagged_fields()


@dataclass(frozen=True, slots=True)
class ShareGroupMetadata:
    """The group epoch, and the hash of the group's topics in that epoch."""

    epoch: int
    metadata_hash: int = 0

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Read the fields. Raises FrameError."""
        metadata = cls(reader.int32(), reader.int64())
        reader.skip_tagged_fields()
        return metadata

    def write(self, writer: Writer) -> None:
        """Write the fields."""
        writer.int32(self.epoch)
        writer.int64(self.metadata_hash)
        writer.no_tagged_fields()


@dataclass(frozen=True, slots=True)
class ShareCurrentAssignment:
    """The current assignment of a member. state: always 0."""

    member_epoch: int
    previous_member_epoch: int
    state: int = 0
    partitions: Partitions = field(default_factory=lambda: NO_PARTITIONS)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Read the fields. Raises FrameError."""
        member_epoch, previous_member_epoch = reader.int32(), reader.int32()
        return cls(member_epoch, previous_member_epoch, reader.int8(), TargetAssignment.read(reader).partitions)

    def write(self, writer: Writer) -> None:
        """Write the fields."""
        writer.int32(self.member_epoch)
        writer.int32(self.previous_member_epoch)
        writer.int8(self.state)
        TargetAssignment(self.partitions).write(writer)


@dataclass(frozen=True, slots=True)
class StateTopic:
    """A topic whose partitions have a state in the share coordinator."""

    topic_id: bytes
    topic_name: str
    partitions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StatePartitionMetadata:
    """Which share partitions have a state, or get one, and the topics (id, name) whose state is being deleted."""

    initializing: tuple[StateTopic, ...] = ()
    initialized: tuple[StateTopic, ...] = ()
    deleting: tuple[tuple[bytes, str], ...] = ()

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Read the fields. Raises FrameError."""
        initializing, initialized = _read_topics(reader), _read_topics(reader)
        deleting: list[tuple[bytes, str]] = []
        for _ in range(reader.array_length(_TOPIC_BYTES_MIN, flexible=True)):
            deleting.append((reader.uuid(), reader.compact_string()))
            reader.skip_tagged_fields()
        reader.skip_tagged_fields()
        return cls(initializing, initialized, tuple(deleting))

    def write(self, writer: Writer) -> None:
        """Write the fields."""
        _write_topics(writer, self.initializing)
        _write_topics(writer, self.initialized)
        writer.array_length(len(self.deleting), flexible=True)
        for topic_id, topic_name in self.deleting:
            writer.uuid(topic_id)
            writer.compact_string(topic_name)
            writer.no_tagged_fields()
        writer.no_tagged_fields()


def _read_topics(reader: Reader) -> tuple[StateTopic, ...]:
    topics: list[StateTopic] = []
    for _ in range(reader.array_length(_TOPIC_BYTES_MIN, flexible=True)):
        topic_id, topic_name = reader.uuid(), reader.compact_string()
        partitions = reader.integer_array(INT32, flexible=True)
        reader.skip_tagged_fields()
        topics.append(StateTopic(topic_id, topic_name, tuple(partitions)))
    return tuple(topics)


def _write_topics(writer: Writer, topics: tuple[StateTopic, ...]) -> None:
    writer.array_length(len(topics), flexible=True)
    for topic in topics:
        writer.uuid(topic.topic_id)
        writer.compact_string(topic.topic_name)
        writer.integer_array(INT32, topic.partitions, flexible=True)
        writer.no_tagged_fields()


ShareRecordValue = (
    ShareMemberMetadata
    | ShareGroupMetadata
    | TargetAssignmentMetadata
    | TargetAssignment
    | ShareCurrentAssignment
    | StatePartitionMetadata
)

_READERS: Mapping[ShareRecordType, Callable[[Reader], ShareRecordValue]] = MappingProxyType(
    {
        ShareRecordType.MEMBER_METADATA: ShareMemberMetadata.read,
        ShareRecordType.GROUP_METADATA: ShareGroupMetadata.read,
        ShareRecordType.TARGET_ASSIGNMENT_METADATA: TargetAssignmentMetadata.read,
        ShareRecordType.TARGET_ASSIGNMENT_MEMBER: TargetAssignment.read,
        ShareRecordType.CURRENT_MEMBER_ASSIGNMENT: ShareCurrentAssignment.read,
        ShareRecordType.STATE_PARTITION_METADATA: StatePartitionMetadata.read,
    }
)


def read_share_record(key: bytes, value: bytes | None) -> TypedRecord:
    """Read a record of a share group. Raises FrameError."""
    return TypedRecord.read(key, value, _READERS)
