"""Records of __consumer_offsets for groups of the consumer protocol (KIP-848).

typed_records has what they share with records of other groups, and consumer_group_values their values.
Source: GroupCoordinatorRecordHelpers and CoordinatorRecordType, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ..primitives import Reader
from .consumer_group_values import (
    CurrentAssignment,
    GroupMetadata,
    MemberMetadata,
    PartitionMetadata,
    RegularExpression,
    TargetAssignment,
    TargetAssignmentMetadata,
)
from .typed_records import TypedRecord, TypedRecordType


class ConsumerRecordType(TypedRecordType):
    """The type of a record, as the log stores it."""

    GROUP_METADATA = 3
    # Partition counts of the group's topics. Since 4.1 Kafka only deletes such records.
    PARTITION_METADATA = 4
    MEMBER_METADATA = 5
    TARGET_ASSIGNMENT_METADATA = 6
    TARGET_ASSIGNMENT_MEMBER = 7
    CURRENT_MEMBER_ASSIGNMENT = 8
    REGULAR_EXPRESSION = 16


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


def read_consumer_record(key: bytes, value: bytes | None) -> TypedRecord:
    """Read a record of a group of the consumer protocol. Raises FrameError."""
    return TypedRecord.read(key, value, _READERS)
