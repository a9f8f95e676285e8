"""Records of Kafka's metadata log (KRaft) that describe topics.

A value is a frame version, the record's type, its version, and its fields as in a flexible message. Supported are the
types in a bootstrap.checkpoint, each in the version that is written.
Source: MetadataRecordSerde and the definitions in common/metadata, Kafka 4.3.0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from struct import Struct
from typing import ClassVar, Self

from ..frames import FrameError
from ..primitives import ZERO_UUID, Reader, Writer

FRAME_VERSION = 1

# ConfigResource.Type of topics, the only resources whose configuration is exported.
TOPIC_RESOURCE = 2

NO_BROKER_EPOCH = -1

_INT32 = Struct(">i")
_UUID_BYTES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureLevelRecord:
    """The level of a feature. The first one in a file is metadata.version."""

    TYPE: ClassVar[int] = 12
    VERSION: ClassVar[int] = 0

    name: str
    feature_level: int

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Read the fields. Raises FrameError."""
        return cls(name=reader.compact_string(), feature_level=reader.int16())

    def write(self, writer: Writer) -> None:
        """Write the fields."""
        writer.compact_string(self.name)
        writer.int16(self.feature_level)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRecord:
    """A topic and its id (16 bytes)."""

    TYPE: ClassVar[int] = 2
    VERSION: ClassVar[int] = 0

    name: str
    topic_id: bytes

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Read the fields. Raises FrameError."""
        return cls(name=reader.compact_string(), topic_id=reader.uuid())

    def write(self, writer: Writer) -> None:
        """Write the fields."""
        writer.compact_string(self.name)
        writer.uuid(self.topic_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionRecord:
    """A partition, its replicas and its leader. directories: for each replica the id of its log folder."""

    TYPE: ClassVar[int] = 3
    VERSION: ClassVar[int] = 1

    partition_id: int
    topic_id: bytes
    replicas: list[int]
    isr: list[int]
    removing_replicas: list[int] = field(default_factory=list[int])
    adding_replicas: list[int] = field(default_factory=list[int])
    leader: int
    leader_epoch: int = 0
    partition_epoch: int = 0
    directories: list[bytes]

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Read the fields. Raises FrameError."""
        return cls(
            partition_id=reader.int32(),
            topic_id=reader.uuid(),
            replicas=_read_integers(reader),
            isr=_read_integers(reader),
            removing_replicas=_read_integers(reader),
            adding_replicas=_read_integers(reader),
            leader=reader.int32(),
            leader_epoch=reader.int32(),
            partition_epoch=reader.int32(),
            directories=[reader.uuid() for _ in range(reader.compact_array_length(_UUID_BYTES))],
        )

    def write(self, writer: Writer) -> None:
        """Write the fields."""
        assert len(self.directories) == len(self.replicas), "one directory for each replica"
        writer.int32(self.partition_id)
        writer.uuid(self.topic_id)
        for nodes in (self.replicas, self.isr, self.removing_replicas, self.adding_replicas):
            writer.compact_array_length(len(nodes))
            writer.integer_list(_INT32, nodes)
        writer.int32(self.leader)
        writer.int32(self.leader_epoch)
        writer.int32(self.partition_epoch)
        writer.compact_array_length(len(self.directories))
        for directory_id in self.directories:
            writer.uuid(directory_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigRecord:
    """A configuration key of a resource; a value of None deletes the key."""

    TYPE: ClassVar[int] = 4
    VERSION: ClassVar[int] = 0

    resource_type: int = TOPIC_RESOURCE
    resource_name: str
    name: str
    value: str | None

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Read the fields. Raises FrameError."""
        return cls(
            resource_type=reader.int8(),
            resource_name=reader.compact_string(),
            name=reader.compact_string(),
            value=reader.compact_nullable_string(),
        )

    def write(self, writer: Writer) -> None:
        """Write the fields."""
        writer.int8(self.resource_type)
        writer.compact_string(self.resource_name)
        writer.compact_string(self.name)
        writer.compact_nullable_string(self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerIdsRecord:
    """The first unassigned producer id, and the broker that got the block before it."""

    TYPE: ClassVar[int] = 15
    VERSION: ClassVar[int] = 0

    broker_id: int
    broker_epoch: int = NO_BROKER_EPOCH
    next_producer_id: int

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Read the fields. Raises FrameError."""
        return cls(broker_id=reader.int32(), broker_epoch=reader.int64(), next_producer_id=reader.int64())

    def write(self, writer: Writer) -> None:
        """Write the fields."""
        writer.int32(self.broker_id)
        writer.int64(self.broker_epoch)
        writer.int64(self.next_producer_id)


MetadataRecord = FeatureLevelRecord | TopicRecord | PartitionRecord | ConfigRecord | ProducerIdsRecord

_RECORDS: tuple[type[MetadataRecord], ...] = (
    FeatureLevelRecord,
    TopicRecord,
    PartitionRecord,
    ConfigRecord,
    ProducerIdsRecord,
)
_RECORDS_BY_TYPE = {record.TYPE: record for record in _RECORDS}


def encode_metadata_record(record: MetadataRecord) -> bytes:
    """Return the value of the Kafka record."""
    assert not isinstance(record, TopicRecord | PartitionRecord) or record.topic_id != ZERO_UUID, "a topic has an id"
    writer = Writer()
    writer.unsigned_varint(FRAME_VERSION)
    writer.unsigned_varint(record.TYPE)
    writer.unsigned_varint(record.VERSION)
    record.write(writer)
    writer.no_tagged_fields()
    return writer.getvalue()


def decode_metadata_record(value: bytes) -> MetadataRecord:
    """Return the metadata record in a value. Raises FrameError, also for an unsupported type or version."""
    reader = Reader(value)
    frame_version, record_type, version = (reader.unsigned_varint() for _ in range(3))
    record = _RECORDS_BY_TYPE.get(record_type)
    if frame_version != FRAME_VERSION or record is None or version != record.VERSION:
        raise FrameError(f"frame version {frame_version}, record type {record_type}, version {version} is unknown")
    decoded = record.read(reader)
    reader.skip_tagged_fields()
    if reader.remaining:
        raise FrameError(f"{reader.remaining} bytes after the end of a {record.__name__}")
    return decoded


def _read_integers(reader: Reader) -> list[int]:
    return reader.integer_list(_INT32, reader.compact_array_length(_INT32.size))
