"""Values of the records of consumer protocol groups (KIP-848): version 0, flexible, partitions in ascending order.

Source: the definitions in group-coordinator/src/main/resources/common/message, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Self, TypeVar

from ..primitives import INT32, Reader, Writer

# Partitions by topic id (16 bytes).
Partitions = Mapping[bytes, frozenset[int]]
# The epoch in which each partition was assigned, by topic id and partition.
PartitionEpochs = Mapping[bytes, Mapping[int, int]]

NO_PARTITIONS: Partitions = MappingProxyType({})
NO_PARTITION_EPOCHS: PartitionEpochs = MappingProxyType({})

# Every value has at most one tagged field, with this tag.
_TAG = 0
_TOPIC_PARTITIONS_BYTES_MIN = 18
_PROTOCOL_BYTES_MIN = 3
# The varint before a nullable struct in a tagged field.
_ABSENT, _PRESENT = 0, 1

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class GroupMetadata:
    """The group epoch, and the hash of the group's topics in that epoch."""

    epoch: int
    metadata_hash: int = 0

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Read the fields. Raises FrameError."""
        epoch = reader.int32()
        return cls(epoch, _read_tagged(reader, Reader.int64, 0))

    def write(self, writer: Writer) -> None:
        """Write the fields."""
        writer.int32(self.epoch)
        _write_tagged_int64(writer, self.metadata_hash)


@dataclass(frozen=True, slots=True)
class PartitionMetadata:
    """Partition counts of the group's topics, from Kafka before 4.1; the fields are not decoded."""

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Skip the fields."""
        reader.position = reader.end
        return cls()

    def write(self, writer: Writer) -> None:
        """Write no topics."""
        writer.array_length(0, flexible=True)
        writer.no_tagged_fields()


@dataclass(frozen=True, slots=True)
class ClassicProtocol:
    """A client-side assignor that a classic member supports, and its subscription."""

    name: str
    metadata: bytes

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Read the fields. Raises FrameError."""
        protocol = cls(reader.compact_string(), reader.data(flexible=True))
        reader.skip_tagged_fields()
        return protocol

    def write(self, writer: Writer) -> None:
        """Write the fields."""
        writer.compact_string(self.name)
        writer.data(self.metadata, flexible=True)
        writer.no_tagged_fields()


@dataclass(frozen=True, slots=True)
class ClassicMember:
    """The extra fields of a member that uses the classic protocol (JoinGroup) in a group of the consumer protocol."""

    session_timeout_ms: int
    protocols: tuple[ClassicProtocol, ...]

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Read the fields. Raises FrameError."""
        session_timeout_ms = reader.int32()
        count = reader.array_length(_PROTOCOL_BYTES_MIN, flexible=True)
        member = cls(session_timeout_ms, tuple(ClassicProtocol.read(reader) for _ in range(count)))
        reader.skip_tagged_fields()
        return member

    @classmethod
    def read_nullable(cls, reader: Reader) -> Self | None:
        """Read a presence varint and, if it is not 0, the fields. Raises FrameError."""
        return cls.read(reader) if reader.unsigned_varint() else None

    def write(self, writer: Writer) -> None:
        """Write the fields."""
        writer.int32(self.session_timeout_ms)
        writer.array_length(len(self.protocols), flexible=True)
        for protocol in self.protocols:
            protocol.write(writer)
        writer.no_tagged_fields()


# The default of the tagged field in Kafka, which is not written.
_EMPTY_CLASSIC_MEMBER: ClassicMember | None = ClassicMember(0, ())


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberMetadata:
    """The fields of a member's heartbeats. client_host: as Java prints an address, "/127.0.0.1"."""

    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    subscribed_topic_names: tuple[str, ...] = ()
    subscribed_topic_regex: str | None = ""
    rebalance_timeout_ms: int = -1
    server_assignor: str | None = None
    classic: ClassicMember | None = None

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Read the fields. Raises FrameError."""
        return cls(
            instance_id=reader.compact_nullable_string(),
            rack_id=reader.compact_nullable_string(),
            client_id=reader.compact_string(),
            client_host=reader.compact_string(),
            subscribed_topic_names=_read_strings(reader),
            subscribed_topic_regex=reader.compact_nullable_string(),
            rebalance_timeout_ms=reader.int32(),
            server_assignor=reader.compact_nullable_string(),
            classic=_read_tagged(reader, ClassicMember.read_nullable, _EMPTY_CLASSIC_MEMBER),
        )

    def write(self, writer: Writer) -> None:
        """Write the fields."""
        writer.compact_nullable_string(self.instance_id)
        writer.compact_nullable_string(self.rack_id)
        writer.compact_string(self.client_id)
        writer.compact_string(self.client_host)
        _write_strings(writer, self.subscribed_topic_names)
        writer.compact_nullable_string(self.subscribed_topic_regex)
        writer.int32(self.rebalance_timeout_ms)
        writer.compact_nullable_string(self.server_assignor)
        if self.classic == _EMPTY_CLASSIC_MEMBER:
            writer.no_tagged_fields()
            return
        tagged = Writer()
        tagged.unsigned_varint(_ABSENT if self.classic is None else _PRESENT)
        if self.classic is not None:
            self.classic.write(tagged)
        writer.tagged_fields([(_TAG, tagged)])


@dataclass(frozen=True, slots=True)
class TargetAssignmentMetadata:
    """The group epoch of the target assignment, and the time in ms at which it was computed."""

    assignment_epoch: int
    assignment_timestamp: int = 0

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Read the fields. Raises FrameError."""
        assignment_epoch = reader.int32()
        return cls(assignment_epoch, _read_tagged(reader, Reader.int64, 0))

    def write(self, writer: Writer) -> None:
        """Write the fields."""
        writer.int32(self.assignment_epoch)
        _write_tagged_int64(writer, self.assignment_timestamp)


@dataclass(frozen=True, slots=True)
class TargetAssignment:
    """The target assignment of a member."""

    partitions: Partitions

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Read the fields. Raises FrameError."""
        partitions: dict[bytes, frozenset[int]] = {}
        for _ in range(reader.array_length(_TOPIC_PARTITIONS_BYTES_MIN, flexible=True)):
            topic_id = reader.uuid()
            partitions[topic_id] = frozenset(_read_int32s(reader))
            reader.skip_tagged_fields()
        reader.skip_tagged_fields()
        return cls(partitions)

    def write(self, writer: Writer) -> None:
        """Write the fields."""
        writer.array_length(len(self.partitions), flexible=True)
        for topic_id, partitions in self.partitions.items():
            writer.uuid(topic_id)
            _write_int32s(writer, sorted(partitions))
            writer.no_tagged_fields()
        writer.no_tagged_fields()


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentAssignment:
    """The current assignment of a member. state: the number of a MemberState."""

    member_epoch: int
    previous_member_epoch: int
    state: int
    assigned: PartitionEpochs = field(default_factory=lambda: NO_PARTITION_EPOCHS)
    pending_revocation: PartitionEpochs = field(default_factory=lambda: NO_PARTITION_EPOCHS)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Read the fields. Raises FrameError. A partition without an epoch (before 4.3) gets the member's."""
        member_epoch = reader.int32()
        previous_member_epoch, state = reader.int32(), reader.int8()
        default_epoch = max(member_epoch, 0)
        current = cls(
            member_epoch=member_epoch,
            previous_member_epoch=previous_member_epoch,
            state=state,
            assigned=_read_partition_epochs(reader, default_epoch),
            pending_revocation=_read_partition_epochs(reader, default_epoch),
        )
        reader.skip_tagged_fields()
        return current

    def write(self, writer: Writer) -> None:
        """Write the fields."""
        writer.int32(self.member_epoch)
        writer.int32(self.previous_member_epoch)
        writer.int8(self.state)
        _write_partition_epochs(writer, self.assigned)
        _write_partition_epochs(writer, self.pending_revocation)
        writer.no_tagged_fields()


@dataclass(frozen=True, slots=True)
class RegularExpression:
    """The topics that a subscribed regular expression matches.

    version: of the metadata that it was resolved with. timestamp: of that resolution, in ms.
    """

    topics: tuple[str, ...]
    version: int
    timestamp: int

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Read the fields. Raises FrameError."""
        resolved = cls(_read_strings(reader), reader.int64(), reader.int64())
        reader.skip_tagged_fields()
        return resolved

    def write(self, writer: Writer) -> None:
        """Write the fields."""
        _write_strings(writer, self.topics)
        writer.int64(self.version)
        writer.int64(self.timestamp)
        writer.no_tagged_fields()


def _read_tagged(reader: Reader, read: Callable[[Reader], T], default: T) -> T:
    """Read the tagged fields, and return the value of tag _TAG, or default."""
    return reader.tagged_fields({_TAG: read}).get(_TAG, default)


def _write_tagged_int64(writer: Writer, value: int) -> None:
    """Write value as the tagged field, or no tagged fields for the default 0."""
    if value == 0:
        writer.no_tagged_fields()
        return
    tagged = Writer()
    tagged.int64(value)
    writer.tagged_fields([(_TAG, tagged)])


def _read_strings(reader: Reader) -> tuple[str, ...]:
    return tuple(reader.string_array(flexible=True))


def _write_strings(writer: Writer, strings: tuple[str, ...]) -> None:
    writer.string_array(strings, flexible=True)


def _read_int32s(reader: Reader) -> list[int]:
    return reader.integer_array(INT32, flexible=True)


def _write_int32s(writer: Writer, values: list[int]) -> None:
    writer.integer_array(INT32, values, flexible=True)


def _read_partition_epochs(reader: Reader, default_epoch: int) -> PartitionEpochs:
    topics: dict[bytes, Mapping[int, int]] = {}
    for _ in range(reader.array_length(_TOPIC_PARTITIONS_BYTES_MIN, flexible=True)):
        topic_id = reader.uuid()
        partitions = _read_int32s(reader)
        epochs = _read_tagged(reader, _read_nullable_int32s, None)
        if epochs is None or len(epochs) != len(partitions):
            epochs = [default_epoch] * len(partitions)
        topics[topic_id] = dict(zip(partitions, epochs, strict=True))
    return topics


def _read_nullable_int32s(reader: Reader) -> list[int] | None:
    return reader.nullable_integer_array(INT32, flexible=True)


def _write_partition_epochs(writer: Writer, topics: PartitionEpochs) -> None:
    writer.array_length(len(topics), flexible=True)
    for topic_id, epochs in topics.items():
        partitions = sorted(epochs)
        writer.uuid(topic_id)
        _write_int32s(writer, partitions)
        tagged = Writer()
        _write_int32s(tagged, [epochs[partition] for partition in partitions])
        writer.tagged_fields([(_TAG, tagged)])
