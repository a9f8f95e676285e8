"""Records of Kafka's metadata log (KRaft) that describe topics.

A value is a frame version, the record's type, its version, and its fields as in a flexible message. There is one class
for each type in a bootstrap.checkpoint, in the version that is written.
Source: MetadataRecordSerde and the definitions in common/metadata, Kafka 4.3.0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from struct import Struct
from typing import ClassVar

from ..primitives import ZERO_UUID, Writer

FRAME_VERSION = 1

# ConfigResource.Type of topics, the only resources whose configuration is exported.
TOPIC_RESOURCE = 2

NO_BROKER_EPOCH = -1

_INT32 = Struct(">i")


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureLevelRecord:
    """The level of a feature. The first one in a file is metadata.version."""

    TYPE: ClassVar[int] = 12
    VERSION: ClassVar[int] = 0

    name: str
    feature_level: int

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

    def write(self, writer: Writer) -> None:
        """Write the fields."""
        assert len(self.directories) == len(self.replicas), "one directory for each replica"
        writer.int32(self.partition_id)
        writer.uuid(self.topic_id)
        for nodes in (self.replicas, self.isr, self.removing_replicas, self.adding_replicas):
            writer.integer_array(_INT32, nodes, flexible=True)
        writer.int32(self.leader)
        writer.int32(self.leader_epoch)
        writer.int32(self.partition_epoch)
        writer.array_length(len(self.directories), flexible=True)
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

    def write(self, writer: Writer) -> None:
        """Write the fields."""
        writer.int32(self.broker_id)
        writer.int64(self.broker_epoch)
        writer.int64(self.next_producer_id)


MetadataRecord = FeatureLevelRecord | TopicRecord | PartitionRecord | ConfigRecord | ProducerIdsRecord


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
