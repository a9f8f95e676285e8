"""Records of __consumer_offsets for classic groups and committed offsets.

A key is the record's type (int16) and its fields. A value is its version (int16) and its fields; versions from 4 on are
flexible. All versions are read. Written are those of Kafka 4.3: 4 for offsets, 1 for offsets whose client has set a
retention, and 3 for groups.
Source: GroupCoordinatorRecordSerde, GroupCoordinatorRecordHelpers and the definitions in common/message, Kafka 4.3.0.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Self

from ..frames import FrameError
from ..primitives import ZERO_UUID, Reader, Writer

NO_TIMESTAMP = -1
NO_LEADER_EPOCH = -1
NO_TIMEOUT = -1

_VALUE_VERSION_MAX = 4
_FLEXIBLE_SINCE = 4
# The one tagged field.
_TOPIC_ID_TAG = 0

_EXPIRE_TIMESTAMP_VERSION = 1
_LEADER_EPOCH_SINCE = 3
_OFFSET_VERSION = 4

_REBALANCE_TIMEOUT_SINCE = 1
_STATE_TIMESTAMP_SINCE = 2
_INSTANCE_ID_SINCE = 3
_GROUP_VERSION = 3
# The size of a member of the flexible version with empty strings and byte arrays.
_MEMBER_BYTES_MIN = 15


class GroupRecordType(IntEnum):
    """The type of a record, as the log stores it (CoordinatorRecordType, Kafka 4.3.0)."""

    LEGACY_OFFSET_COMMIT = 0
    OFFSET_COMMIT = 1
    GROUP_METADATA = 2


def record_type_of(key: bytes) -> int:
    """Return the type of a key, also an unknown one. Raises FrameError if key is too short."""
    return Reader(key).int16()


@dataclass(frozen=True, slots=True)
class OffsetCommitKey:
    """The key of a committed offset. Type 0, of Kafka before 0.8.2, has the same fields and is read but not written."""

    group: str
    topic: str
    partition: int

    @classmethod
    def read(cls, key: bytes) -> Self:
        """Read a key of type 0 or 1. Raises FrameError."""
        reader = Reader(key)
        _check_type(reader, GroupRecordType.LEGACY_OFFSET_COMMIT, GroupRecordType.OFFSET_COMMIT)
        return cls(reader.string(), reader.string(), reader.int32())

    def encode(self) -> bytes:
        """Return the key. Raises ValueError for a value that does not fit its field."""
        writer = Writer()
        writer.int16(GroupRecordType.OFFSET_COMMIT)
        writer.string(self.group)
        writer.string(self.topic)
        writer.int32(self.partition)
        return writer.getvalue()


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetCommitValue:
    """A committed offset. Timestamps are in ms.

    expire_timestamp: NO_TIMESTAMP if the broker's retention applies. topic_id: 16 bytes, ZERO_UUID if it is unknown.
    """

    offset: int
    leader_epoch: int = NO_LEADER_EPOCH
    metadata: str = ""
    commit_timestamp: int
    expire_timestamp: int = NO_TIMESTAMP
    topic_id: bytes = ZERO_UUID

    @classmethod
    def read(cls, value: bytes) -> Self:
        """Read a value of any version. Raises FrameError."""
        reader = Reader(value)
        version = _read_version(reader)
        flexible = version >= _FLEXIBLE_SINCE
        return cls(
            offset=reader.int64(),
            leader_epoch=reader.int32() if version >= _LEADER_EPOCH_SINCE else NO_LEADER_EPOCH,
            metadata=reader.string(flexible),
            commit_timestamp=reader.int64(),
            expire_timestamp=reader.int64() if version == _EXPIRE_TIMESTAMP_VERSION else NO_TIMESTAMP,
            topic_id=reader.tagged_fields({_TOPIC_ID_TAG: Reader.uuid}).get(_TOPIC_ID_TAG, ZERO_UUID)
            if flexible
            else ZERO_UUID,
        )

    def encode(self) -> bytes:
        """Return the value. Raises ValueError for a value that does not fit its field.

        With an expire_timestamp it has version 1, the only one with that field, and no leader epoch and topic id.
        """
        writer = Writer()
        if self.expire_timestamp != NO_TIMESTAMP:
            writer.int16(_EXPIRE_TIMESTAMP_VERSION)
            writer.int64(self.offset)
            writer.string(self.metadata)
            writer.int64(self.commit_timestamp)
            writer.int64(self.expire_timestamp)
            return writer.getvalue()
        writer.int16(_OFFSET_VERSION)
        writer.int64(self.offset)
        writer.int32(self.leader_epoch)
        writer.compact_string(self.metadata)
        writer.int64(self.commit_timestamp)
        _write_topic_id(writer, self.topic_id)
        return writer.getvalue()


@dataclass(frozen=True, slots=True)
class GroupMetadataKey:
    """The key of a classic group."""

    group: str

    @classmethod
    def read(cls, key: bytes) -> Self:
        """Read a key of type 2. Raises FrameError."""
        reader = Reader(key)
        _check_type(reader, GroupRecordType.GROUP_METADATA)
        return cls(reader.string())

    def encode(self) -> bytes:
        """Return the key. Raises ValueError for a value that does not fit its field."""
        writer = Writer()
        writer.int16(GroupRecordType.GROUP_METADATA)
        writer.string(self.group)
        return writer.getvalue()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberMetadata:
    """A member of a stable group.

    client_host: as Java prints an address, "/127.0.0.1". subscription: the metadata for the chosen protocol.
    """

    member_id: str
    group_instance_id: str | None = None
    client_id: str
    client_host: str
    rebalance_timeout: int = NO_TIMEOUT
    session_timeout: int
    subscription: bytes
    assignment: bytes

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        """Read the fields of that version of GroupMetadataValue. Raises FrameError."""
        flexible = version >= _FLEXIBLE_SINCE
        member = cls(
            member_id=reader.string(flexible),
            group_instance_id=reader.nullable_string(flexible) if version >= _INSTANCE_ID_SINCE else None,
            client_id=reader.string(flexible),
            client_host=reader.string(flexible),
            rebalance_timeout=reader.int32() if version >= _REBALANCE_TIMEOUT_SINCE else NO_TIMEOUT,
            session_timeout=reader.int32(),
            subscription=reader.data(flexible),
            assignment=reader.data(flexible),
        )
        if flexible:
            reader.skip_tagged_fields()
        return member

    def write(self, writer: Writer) -> None:
        """Write the fields of version 3."""
        writer.string(self.member_id)
        writer.nullable_string(self.group_instance_id)
        writer.string(self.client_id)
        writer.string(self.client_host)
        writer.int32(self.rebalance_timeout)
        writer.int32(self.session_timeout)
        writer.data(self.subscription)
        writer.data(self.assignment)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMetadataValue:
    """A classic group in its last generation that was stable or empty.

    protocol, leader: None without members. current_state_timestamp: of the last change of state before this generation.
    """

    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    current_state_timestamp: int = NO_TIMESTAMP
    members: tuple[MemberMetadata, ...] = ()

    @classmethod
    def read(cls, value: bytes) -> Self:
        """Read a value of any version. Raises FrameError."""
        reader = Reader(value)
        version = _read_version(reader)
        flexible = version >= _FLEXIBLE_SINCE
        protocol_type = reader.string(flexible)
        generation = reader.int32()
        protocol, leader = reader.nullable_string(flexible), reader.nullable_string(flexible)
        timestamp = reader.int64() if version >= _STATE_TIMESTAMP_SINCE else NO_TIMESTAMP
        count = reader.array_length(_MEMBER_BYTES_MIN, flexible)
        members = tuple(MemberMetadata.read(reader, version) for _ in range(count))
        if flexible:
            reader.skip_tagged_fields()
        return cls(
            protocol_type=protocol_type,
            generation=generation,
            protocol=protocol,
            leader=leader,
            current_state_timestamp=timestamp,
            members=members,
        )

    def encode(self) -> bytes:
        """Return the value. Raises ValueError for a value that does not fit its field."""
        writer = Writer()
        writer.int16(_GROUP_VERSION)
        writer.string(self.protocol_type)
        writer.int32(self.generation)
        writer.nullable_string(self.protocol)
        writer.nullable_string(self.leader)
        writer.int64(self.current_state_timestamp)
        writer.int32(len(self.members))
        for member in self.members:
            member.write(writer)
        return writer.getvalue()


def _check_type(reader: Reader, *types: GroupRecordType) -> None:
    record_type = reader.int16()
    if record_type not in types:
        raise FrameError(f"a key of type {record_type}; allowed: {', '.join(str(int(each)) for each in types)}")


def _read_version(reader: Reader) -> int:
    version = reader.int16()
    if not 0 <= version <= _VALUE_VERSION_MAX:
        raise FrameError(f"a value of version {version}; versions 0 to {_VALUE_VERSION_MAX} can be read")
    return version


def _write_topic_id(writer: Writer, topic_id: bytes) -> None:
    field = Writer()
    field.uuid(topic_id)
    writer.tagged_fields([] if topic_id == ZERO_UUID else [(_TOPIC_ID_TAG, field)])
