"""Definition of a message in all its versions: read from kio's entities, and written as code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

Versions = frozenset[int]


class MessageKind(Enum):
    """The kind of a message, by the name of kio's module."""

    REQUEST = "request"
    RESPONSE = "response"
    DATA = "data"


class Primitive(Enum):
    """A wire type without fields. The value is the method of Reader and Writer without its prefixes."""

    BOOLEAN = "boolean"
    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    UINT16 = "uint16"
    FLOAT64 = "float64"
    UUID = "uuid"
    STRING = "string"
    DATA = "data"

    @property
    def format_code(self) -> str | None:
        """The code of the struct module, for integers."""
        return {"int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint16": "H"}.get(self.value)

    @property
    def python_type(self) -> str:
        """The type of the attribute."""
        match self:
            case Primitive.BOOLEAN:
                return "bool"
            case Primitive.FLOAT64:
                return "float"
            case Primitive.STRING:
                return "str"
            case Primitive.DATA | Primitive.UUID:
                return "bytes"
            case _:
                return "int"

    def bytes_min(self, *, flexible: bool) -> int:
        """Return the size of the smallest value."""
        match self:
            case Primitive.STRING:
                return 1 if flexible else 2
            case Primitive.DATA:
                return 1 if flexible else 4
            case Primitive.UUID:
                return 16
            case Primitive.INT64 | Primitive.FLOAT64:
                return 8
            case Primitive.INT32:
                return 4
            case Primitive.INT16 | Primitive.UINT16:
                return 2
            case Primitive.BOOLEAN | Primitive.INT8:
                return 1


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageField:
    """One field in all versions.

    default: the Python expression of the default value.
    present: the versions that have the field. nullable, tagged: those in which it is nullable, or a tagged field.
    """

    name: str
    type: Primitive | MessageStruct
    is_array: bool
    default: str
    present: Versions
    nullable: Versions
    tagged: Versions
    tag: int | None

    @property
    def untagged(self) -> Versions:
        """The versions in which it is not a tagged field."""
        return self.present - self.tagged

    @property
    def python_type(self) -> str:
        """The type of the attribute."""
        element = self.type.python_type
        whole = f"list[{element}]" if self.is_array else element
        return f"{whole} | None" if self.nullable else whole

    def bytes_min(self, version: int, *, flexible: bool) -> int:
        """Return the size of the smallest value in this version; 0 for a tagged field."""
        if version not in self.untagged:
            return 0
        if self.is_array:
            return 1 if flexible else 4
        if isinstance(self.type, Primitive):
            return self.type.bytes_min(flexible=flexible)
        return 1 if version in self.nullable else self.type.bytes_min_of_version(version)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageStruct:
    """A message, or a struct inside one, in all versions."""

    name: str
    versions: Versions
    flexible: Versions
    fields: tuple[MessageField, ...]

    @property
    def python_type(self) -> str:
        """The name of its class."""
        return self.name

    def bytes_min_of_version(self, version: int) -> int:
        """Return the size of the smallest value in this version."""
        flexible = version in self.flexible
        return int(flexible) + sum(field.bytes_min(version, flexible=flexible) for field in self.fields)

    def nested(self) -> Iterator[MessageStruct]:
        """Yield the structs inside it, each before its owner. A struct that is used twice is yielded twice."""
        for field in self.fields:
            if isinstance(field.type, MessageStruct):
                yield from field.type.nested()
                yield field.type


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A struct that is a request, a response or a record."""

    kind: MessageKind
    api_key: int | None
    struct: MessageStruct
