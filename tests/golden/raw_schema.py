"""A small notation for Kafka's messages, and what writes and reads them by it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import TypeAlias, cast

from .raw_primitives import RawReader, RawWriter

Value: TypeAlias = "int | str | bytes | Sequence[Value] | Mapping[str, Value] | None"
LAST_VERSION = 99


class Primitive(Enum):
    """A wire type without parts. Strings and byte arrays are nullable where the schema says so and never otherwise."""

    INT8 = auto()
    INT16 = auto()
    INT32 = auto()
    INT64 = auto()
    BOOLEAN = auto()
    UUID = auto()
    STRING = auto()
    NULLABLE_STRING = auto()
    NULLABLE_BYTES = auto()


@dataclass(frozen=True, slots=True)
class Field:
    """One field, the versions that have it, and what is sent when nothing is given."""

    name: str
    kind: "Kind"
    first_version: int = 0
    last_version: int = LAST_VERSION
    default: Value = None


@dataclass(frozen=True, slots=True)
class Array:
    """Items of one primitive type, or structs of these fields."""

    item: Primitive | tuple[Field, ...]


Kind: TypeAlias = Primitive | Array


@dataclass(frozen=True, slots=True)
class Api:
    """One API: its key, the first version with compact types and tagged fields, and both of its messages."""

    key: int
    flexible_since: int
    request: tuple[Field, ...]
    response: tuple[Field, ...]


class Struct(dict[str, Value]):
    """A decoded struct whose fields are asked for by type."""

    def integer(self, name: str) -> int:
        value = self[name]
        assert isinstance(value, int), (name, value)
        return value

    def text(self, name: str) -> str:
        value = self[name]
        assert isinstance(value, str), (name, value)
        return value

    def optional_text(self, name: str) -> str | None:
        value = self.get(name)
        assert value is None or isinstance(value, str), (name, value)
        return value

    def data(self, name: str) -> bytes:
        """The bytes of a field, none for null."""
        value = self[name] or b""
        assert isinstance(value, bytes), (name, value)
        return value

    def structs(self, name: str) -> "list[Struct]":
        """The structs of an array; none for null and for a field this version has not."""
        return cast("list[Struct]", self.get(name) or [])

    def integers(self, name: str) -> list[int]:
        return cast("list[int]", self[name])

    def texts(self, name: str) -> list[str]:
        return cast("list[str]", self[name])


class Encoder:
    """Writes structs of one version."""

    def __init__(self, version: int, *, is_flexible: bool) -> None:
        self.writer = RawWriter()
        self.version = version
        self.is_flexible = is_flexible

    def struct(self, fields: tuple[Field, ...], values: Mapping[str, Value]) -> None:
        for field in fields:
            if field.first_version <= self.version <= field.last_version:
                self._value(field.kind, values.get(field.name, field.default))
        if self.is_flexible:
            self.writer.unsigned_varint(0)

    def _value(self, kind: Kind, value: Value) -> None:
        if isinstance(kind, Array):
            self._array(kind.item, cast("Sequence[Value] | None", value))
        elif kind is Primitive.UUID:
            self.writer.raw(cast(bytes, value) or bytes(16))
        elif kind in (Primitive.STRING, Primitive.NULLABLE_STRING):
            self._data(cast(str, value).encode() if value is not None else None, self.writer.int16)
        elif kind is Primitive.NULLABLE_BYTES:
            self._data(cast("bytes | None", value), self.writer.int32)
        else:
            self._integer(kind, cast(int, value))

    def _integer(self, kind: Primitive, value: int) -> None:
        match kind:
            case Primitive.INT16:
                self.writer.int16(value)
            case Primitive.INT32:
                self.writer.int32(value)
            case Primitive.INT64:
                self.writer.int64(value)
            case _:
                self.writer.int8(value)

    def _data(self, value: bytes | None, write_length: Callable[[int], None]) -> None:
        if self.is_flexible:
            self.writer.unsigned_varint(0 if value is None else len(value) + 1)
        else:
            write_length(-1 if value is None else len(value))
        self.writer.raw(value or b"")

    def _array(self, item: Primitive | tuple[Field, ...], values: Sequence[Value] | None) -> None:
        if self.is_flexible:
            self.writer.unsigned_varint(0 if values is None else len(values) + 1)
        else:
            self.writer.int32(-1 if values is None else len(values))
        for value in values or ():
            if isinstance(item, tuple):
                self.struct(item, cast("Mapping[str, Value]", value))
            else:
                self._value(item, value)


class Decoder:
    """Reads structs of one version."""

    def __init__(self, reader: RawReader, version: int, *, is_flexible: bool) -> None:
        self.reader = reader
        self.version = version
        self.is_flexible = is_flexible

    def struct(self, fields: tuple[Field, ...]) -> Struct:
        struct = Struct()
        for field in fields:
            if field.first_version <= self.version <= field.last_version:
                struct[field.name] = self._value(field.kind)
        if self.is_flexible:
            self._skip_tagged_fields()
        return struct

    def _skip_tagged_fields(self) -> None:
        for _ in range(self.reader.unsigned_varint()):
            self.reader.unsigned_varint()
            self.reader.take(self.reader.unsigned_varint())

    def _value(self, kind: Kind) -> Value:
        if isinstance(kind, Array):
            return self._array(kind.item)
        match kind:
            case Primitive.INT8:
                return self.reader.int8()
            case Primitive.INT16:
                return self.reader.int16()
            case Primitive.INT32:
                return self.reader.int32()
            case Primitive.INT64:
                return self.reader.int64()
            case Primitive.BOOLEAN:
                return self.reader.int8() != 0
            case Primitive.UUID:
                return self.reader.take(16)
            case Primitive.NULLABLE_BYTES:
                return self._data(self.reader.unsigned_varint() - 1 if self.is_flexible else self.reader.int32())
            case _:
                data = self._data(self.reader.unsigned_varint() - 1 if self.is_flexible else self.reader.int16())
                return None if data is None else data.decode("utf8", "replace")

    def _data(self, length: int) -> bytes | None:
        return None if length < 0 else self.reader.take(length)

    def _array(self, item: Primitive | tuple[Field, ...]) -> Value:
        length = self.reader.unsigned_varint() - 1 if self.is_flexible else self.reader.int32()
        if length < 0:
            return None
        return [self.struct(item) if isinstance(item, tuple) else self._value(item) for _ in range(length)]
