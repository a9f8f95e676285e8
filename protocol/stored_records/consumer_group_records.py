"""The records of __consumer_offsets that hold groups of the consumer protocol (KIP-848).

A key is the record's type (int16), the group, and what of the group it is about: nothing, a member, or a regular
expression; a value is its version (int16, always 0) and its fields, see consumer_group_values.
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
    """What the record of a key is about; the numbers stand in the log."""

    GROUP_METADATA = 3
    # What the group's topics looked like; since 4.1 only taken back, never written.
    PARTITION_METADATA = 4
    MEMBER_METADATA = 5
    TARGET_ASSIGNMENT_METADATA = 6
    TARGET_ASSIGNMENT_MEMBER = 7
    CURRENT_MEMBER_ASSIGNMENT = 8
    REGULAR_EXPRESSION = 16


_OF_A_MEMBER = frozenset(
    {
        ConsumerRecordType.MEMBER_METADATA,
        ConsumerRecordType.TARGET_ASSIGNMENT_MEMBER,
        ConsumerRecordType.CURRENT_MEMBER_ASSIGNMENT,
    }
)
_NAMED = _OF_A_MEMBER | {ConsumerRecordType.REGULAR_EXPRESSION}


@dataclass(frozen=True, slots=True)
class ConsumerRecordKey:
    """What a record is about; name is a member id or a regular expression, "" for what is about the whole group."""

    record_type: ConsumerRecordType
    group_id: str
    name: str = ""

    @classmethod
    def read(cls, key: bytes) -> Self:
        """Read a key of one of the types; raises FrameError."""
        reader = Reader(key)
        number = reader.int16()
        if number not in list(ConsumerRecordType):
            raise FrameError(f"a key of type {number} is not about a group of the consumer protocol")
        record_type = ConsumerRecordType(number)
        return cls(record_type, reader.string(), reader.string() if record_type in _NAMED else "")

    def encode(self) -> bytes:
        """Return the key; raises ValueError for what does not fit."""
        writer = Writer()
        writer.int16(self.record_type)
        writer.string(self.group_id)
        if self.record_type in _NAMED:
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
    """A record; a value of None says that what the key stands for is gone."""

    key: ConsumerRecordKey
    value: ConsumerRecordValue | None

    @classmethod
    def read(cls, key: bytes, value: bytes | None) -> Self:
        """Read a record whose key is of one of the types; raises FrameError."""
        record_key = ConsumerRecordKey.read(key)
        if value is None:
            return cls(record_key, None)
        reader = Reader(value)
        version = reader.int16()
        if version != _VALUE_VERSION:
            raise FrameError(f"a value of version {version}; only version {_VALUE_VERSION} can be read")
        return cls(record_key, _READERS[record_key.record_type](reader))

    def encode_value(self) -> bytes | None:
        """Return the value; raises ValueError for what does not fit."""
        if self.value is None:
            return None
        writer = Writer()
        writer.int16(_VALUE_VERSION)
        self.value.write(writer)
        return writer.getvalue()
