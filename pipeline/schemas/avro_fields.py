"""Fields of Avro contents as text, decoded with fastavro.

| type | text |
|---|---|
| int, long | decimal; also of dates and times, which stay the numbers that are stored |
| string, enum | as it is |
| boolean | true or false |
| uuid | 36 characters in lower case |
| bytes, fixed | 0x and hexadecimal digits |
| decimal | digits without an exponent |
| null | none |
"""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from importlib import import_module
from typing import Any, TypeAlias, cast
from uuid import UUID

import fastavro
from fastavro.schema import SchemaParseException, UnknownType
from fastavro.types import Schema

from ..bad_option import BadOption
from .field_path import FieldPath, text_of_path
from .undecodable_content import UndecodableContent

# The JSON of a schema. A record is a dict, a union a list, a reference to a named type a string.
AvroJson: TypeAlias = "str | list[Any] | dict[str, Any]"

# The content as the only field of a record has the same bytes. Without the record fastavro would parse a schema that
# is a union again for each content.
_WHOLE = "fauxka_content"
# Where a schema has others in it.
_NESTED = frozenset({"type", "fields", "items", "values"})
_LOGICAL_TYPES = frozenset({"uuid", "decimal"})
_TEXT_TYPES = frozenset({"null", "boolean", "int", "long", "string", "bytes", "fixed", "enum"})
# fastavro raises any of these for bytes that are not of the schema.
_DECODE_ERRORS = (
    *(ArithmeticError, EOFError, LookupError, MemoryError, RecursionError, TypeError, ValueError),
    struct.error,
)
# And any of these for JSON that is no schema.
_PARSE_ERRORS = (
    *(AttributeError, LookupError, RecursionError, TypeError, ValueError),
    SchemaParseException,
    UnknownType,
)


_Read: TypeAlias = Callable[[io.BytesIO, Schema, None], Any]


class AvroFields:
    """Reads fields of contents that were written with one schema."""

    def __init__(self, schema: str, referenced: Sequence[str], paths: Sequence[FieldPath]) -> None:
        """Parse a schema. referenced: schemas of its named types, dependencies first.

        Raises BadOption if a schema is invalid or has no scalar field at a path.
        """
        named: dict[str, dict[Any, Any]] = {}
        try:
            for text in referenced:
                fastavro.parse_schema(_decoded(text), named)
            fields = [{"name": _WHOLE, "type": _decoded(schema)}]
            self._schema: Schema = fastavro.parse_schema({"type": "record", "name": _WHOLE, "fields": fields}, named)
        except _PARSE_ERRORS as error:
            raise BadOption(f"the Avro schema is invalid: {' '.join(str(error).split())}") from None
        for path in paths:
            _check_path(named[_WHOLE]["fields"][0]["type"], path, named)
        self._paths = paths
        self._read: _Read = fastavro.schemaless_reader  # pyright: ignore[reportUnknownMemberType]
        if any(_reaches_itself(name, named) for name in named):
            # The compiled reader ends the process if values nest deeper than its stack; this one raises RecursionError.
            self._read = import_module("fastavro._read_py").schemaless_reader

    def texts(self, content: bytes) -> tuple[str | None, ...]:
        """Return the text of each field; None for null. Raises UndecodableContent."""
        whole = self._whole(content)
        return tuple(_text(_value_at(whole, path)) for path in self._paths)

    def json(self, content: bytes) -> str:
        """Return the content as JSON; what JSON does not have as its text. Raises UndecodableContent."""
        return json.dumps(self._whole(content), ensure_ascii=False, default=_text)

    def _whole(self, content: bytes) -> Any:
        file = io.BytesIO(content)
        try:
            whole = self._read(file, self._schema, None)
        except _DECODE_ERRORS:
            raise UndecodableContent("its bytes are not of the Avro schema") from None
        if file.tell() != len(content):
            raise UndecodableContent("it has more bytes than the Avro schema describes")
        return whole[_WHOLE]


def _decoded(text: str) -> AvroJson:
    return _without_logical_types(json.loads(text))


def _without_logical_types(schema: AvroJson) -> AvroJson:
    """Return the schema with the logical types that change the text of a value, so that others stay numbers."""
    if isinstance(schema, str):
        return schema
    if isinstance(schema, list):
        return [_without_logical_types(one) for one in schema]
    is_kept = schema.get("logicalType") in _LOGICAL_TYPES
    kept = {name: value for name, value in schema.items() if name != "logicalType" or is_kept}
    return {name: _without_logical_types(value) if name in _NESTED else value for name, value in kept.items()}


def _check_path(schema: AvroJson, path: FieldPath, named: Mapping[str, dict[str, Any]]) -> None:
    """Raise BadOption unless one of the types at the path, at least, is a scalar and none is anything else."""
    types = _branches(schema, named)
    for depth, name in enumerate(path):
        fields = [field for one in types if one["type"] == "record" for field in one["fields"]]
        found = [field["type"] for field in fields if field["name"] == name]
        if not found:
            names = ", ".join(dict.fromkeys(str(field["name"]) for field in fields)) or "none"
            raise BadOption(f"the Avro schema has no field {text_of_path(path[: depth + 1])}; fields there are {names}")
        types = [branch for one in found for branch in _branches(one, named)]
    for one in types:
        if one["type"] not in _TEXT_TYPES:
            raise BadOption(f"{text_of_path(path) or 'the content'} is {_article(one['type'])}, which is no event id")


def _branches(schema: AvroJson, named: Mapping[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the types of a union, or the only type, as dicts."""
    if isinstance(schema, list):
        return [branch for one in schema for branch in _branches(one, named)]
    if isinstance(schema, str):
        return [named.get(schema, {"type": schema})]
    if not isinstance(schema["type"], str) or schema["type"] in named:
        return _branches(schema["type"], named)
    return [schema]


def _reaches_itself(name: str, named: Mapping[str, AvroJson]) -> bool:
    """Whether a value of a named type can have another value of that type in it."""
    seen: set[str] = set()
    waiting = list(_names_in(named[name], named))
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            waiting += _names_in(named[one], named)
    return name in seen


def _names_in(schema: AvroJson, named: Mapping[str, AvroJson]) -> Iterator[str]:
    """Yield the named types that a schema refers to."""
    if isinstance(schema, str):
        if schema in named:
            yield schema
        return
    parts = schema if isinstance(schema, list) else [schema[key] for key in _NESTED & schema.keys()]
    for part in parts:
        yield from _names_in(part, named)


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def _value_at(value: Any, path: FieldPath) -> Any:
    for name in path:
        # A union may have null or another record here.
        if not isinstance(value, dict):
            return None
        value = cast(dict[str, Any], value).get(name)
    return value


def _text(value: Any) -> str | None:
    match value:
        case None | str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | UUID():
            return str(value)
        case bytes():
            return f"0x{value.hex()}"
        case Decimal():
            return format(value, "f")
        case _:
            raise UndecodableContent("the field has no text")
