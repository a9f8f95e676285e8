"""Records of __consumer_offsets for groups of the consumer, share and streams protocol: what they have in common.

A key is the record's type (int16), the group id and, for some types, a name: mostly the id of a member. A value is its
version (int16, always 0) and its fields.
Source: GroupCoordinatorRecordHelpers and CoordinatorRecordType, Kafka 4.4.0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol, Self, TypeVar

from ..frames import FrameError
from ..primitives import Reader, Writer

_VALUE_VERSION = 0
_NAMED = frozenset({"MEMBER_METADATA", "TARGET_ASSIGNMENT_MEMBER", "CURRENT_MEMBER_ASSIGNMENT", "REGULAR_EXPRESSION"})


class TypedRecordType(IntEnum):
    """The type of a record, as the log stores it. Each protocol has its own."""

    @property
    def is_named(self) -> bool:
        """Whether the key has a name: a member id or a regular expression."""
        return self.name in _NAMED


T = TypeVar("T", bound=TypedRecordType)


class RecordValue(Protocol):
    """The value of a record."""

    def write(self, writer: Writer) -> None:
        """Write the fields."""
        ...


@dataclass(frozen=True, slots=True)
class TypedRecord:
    """A record; a value of None is a tombstone. name: of the member, or the regular expression; "" for the group's."""

    record_type: TypedRecordType
    group_id: str
    name: str = ""
    value: RecordValue | None = None

    @classmethod
    def read(cls, key: bytes, value: bytes | None, readers: Mapping[T, Callable[[Reader], RecordValue]]) -> Self:
        """Read a record of one of the types. readers: read their values. Raises FrameError."""
        reader = Reader(key)
        number = reader.int16()
        record_type = next((each for each in readers if each == number), None)
        if record_type is None:
            raise FrameError(f"a key of type {number} is none of {', '.join(str(int(each)) for each in readers)}")
        record = cls(record_type, reader.string(), reader.string() if record_type.is_named else "")
        if value is None:
            return record
        reader = Reader(value)
        version = reader.int16()
        if version != _VALUE_VERSION:
            raise FrameError(f"a value of version {version}; only version {_VALUE_VERSION} can be read")
        return cls(record_type, record.group_id, record.name, readers[record_type](reader))

    def encode_key(self) -> bytes:
        """Return the key. Raises ValueError for a value that does not fit its field."""
        writer = Writer()
        writer.int16(self.record_type)
        writer.string(self.group_id)
        if self.record_type.is_named:
            writer.string(self.name)
        return writer.getvalue()

    def encode_value(self) -> bytes | None:
        """Return the value. Raises ValueError for a value that does not fit its field."""
        if self.value is None:
            return None
        writer = Writer()
        writer.int16(_VALUE_VERSION)
        self.value.write(writer)
        return writer.getvalue()
