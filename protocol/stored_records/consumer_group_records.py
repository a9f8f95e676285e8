"""Records of __consumer_offsets for groups of the consumer protocol (KIP-848).

A key is the record's type (int16), the group id and, depending on the type, a member id or a regular expression. A
value is its version (int16, always 0) and its fields (consumer_group_values).
Source: GroupCoordinatorRecordHelpers and CoordinatorRecordType, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType
from typing import Self

from ..frames import FrameError
from ..primitives import Reader, Writer
from .consumer_group_values import (
    CurrentAssignment,
    GroupMetadata,
    MemberMetadata,
    PartitionMetadata,
    RegularExpression,
    TargetAssignment,
    TargetAssignmentMetadata,
)

_VALUE_VERSION = 0


class ConsumerRecordType(IntEnum):
    """The type of a record, as the log stores it."""

    GROUP_METADATA = 3
    # Partition counts of the group's topics. Since 4.1 Kafka only deletes such records.
    PARTITION_METADATA = 4
    MEMBER_METADATA = 5
    TARGET_ASSIGNMENT_METADATA = 6
    TARGET_ASSIGNMENT_MEMBER = 7
    CURRENT_MEMBER_ASSIGNMENT = 8
    REGULAR_EXPRESSION = 16


_MEMBER_TYPES = frozenset(
    {
        ConsumerRecordType.MEMBER_METADATA,
        ConsumerRecordType.TARGET_ASSIGNMENT_MEMBER,
        ConsumerRecordType.CURRENT_MEMBER_ASSIGNMENT,
    }
)
_NAMED_TYPES = _MEMBER_TYPES | {ConsumerRecordType.REGULAR_EXPRESSION}


@dataclass(frozen=True, slots=True)
class ConsumerRecordKey:
    """The key of a record. name: a member id or a regular expression; "" for records of the whole group."""

    record_type: ConsumerRecordType
    group_id: str
    name: str = ""

    @classmethod
    def read(cls, key: bytes) -> Self:
        """Read a key of one of the types. Raises FrameError."""
        reader = Reader(key)
        number = reader.int16()
        if number not in list(ConsumerRecordType):
            raise FrameError(f"a key of type {number} is not one of a group of the consumer protocol")
        record_type = ConsumerRecordType(number)
        return cls(record_type, reader.string(), reader.string() if record_type in _NAMED_TYPES else "")

    def encode(self) -> bytes:
        """Return the key. Raises ValueError for a value that does not fit its field."""
        writer = Writer()
        writer.int16(self.record_type)
        writer.string(self.group_id)
        if self.record_type in _NAMED_TYPES:
            writer.string(self.name)
        return writer.getvalue()


ConsumerRecordValue = (
    GroupMetadata
    | PartitionMetadata
    | MemberMetadata
    | TargetAssignmentMetadata
    | TargetAssignment
    | CurrentAssignment
    | RegularExpression
)

_READERS: Mapping[ConsumerRecordType, Callable[[Reader], ConsumerRecordValue]] = MappingProxyType(
    {
        ConsumerRecordType.GROUP_METADATA: GroupMetadata.read,
        ConsumerRecordType.PARTITION_METADATA: PartitionMetadata.read,
        ConsumerRecordType.MEMBER_METADATA: MemberMetadata.read,
        ConsumerRecordType.TARGET_ASSIGNMENT_METADATA: TargetAssignmentMetadata.read,
        ConsumerRecordType.TARGET_ASSIGNMENT_MEMBER: TargetAssignment.read,
        ConsumerRecordType.CURRENT_MEMBER_ASSIGNMENT: CurrentAssignment.read,
        ConsumerRecordType.REGULAR_EXPRESSION: RegularExpression.read,
    }
)


@dataclass(frozen=True, slots=True)
class ConsumerGroupRecord:
    """A record; a value of None is a tombstone."""

    key: ConsumerRecordKey
    value: ConsumerRecordValue | None

    @classmethod
    def read(cls, key: bytes, value: bytes | None) -> Self:
        """Read a record of one of the types. Raises FrameError."""
        record_key = ConsumerRecordKey.read(key)
        if value is None:
            return cls(record_key, None)
        reader = Reader(value)
        version = reader.int16()
        if version != _VALUE_VERSION:
            raise FrameError(f"a value of version {version}; only version {_VALUE_VERSION} can be read")
        return cls(record_key, _READERS[record_key.record_type](reader))

    def encode_value(self) -> bytes | None:
        """Return the value. Raises ValueError for a value that does not fit its field."""
        if self.value is None:
            return None
        writer = Writer()
        writer.int16(_VALUE_VERSION)
        self.value.write(writer)
        return writer.getvalue()
