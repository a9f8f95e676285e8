"""Strict conversion between JSON and models.

An unknown field or an invalid value is an InvalidValueError; a model may declare a subclass of it as its `error_type`.
In a document of Python, bytes stand for `{"base64": "..."}` (json_bytes).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple, TypeVar, cast

import msgspec

from ..protocol.similar_names import suggestion
from .expected_types import FieldType, describe_type
from .json_bytes import as_json
from .json_syntax import describe_syntax_error
from .rule_error import InvalidValueError

T = TypeVar("T")

_PLACE = re.compile(r" - at `\$(.*)`$", re.DOTALL)
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
_UNKNOWN_FIELD = re.compile(r"Object contains unknown field `(.*)`$", re.DOTALL)
_MISSING_FIELD = re.compile(r"Object missing required field `(.*)`$", re.DOTALL)

Path = list[str | int]


class _Turns:
    """What a thread enters while it converts."""

    lock: AbstractContextManager[object] = nullcontext()


def convert_in_turns(lock: AbstractContextManager[object]) -> None:
    """Let one thread at a time convert, for a process with several brokers, each of which has a thread.

    msgspec 0.22 collects what a model has when it converts the first value to it, and crashes if another thread uses
    what is not complete yet.
    """
    _Turns.lock = lock


def encode(value: object) -> bytes:
    """Return the JSON of a model, or of lists and dicts of models."""
    return msgspec.json.encode(value)


def decode(data: bytes, model: type[T], ignored: Collection[str] = ()) -> T:
    """Return the JSON as the model. Raises InvalidValueError for any other document.

    ignored: top-level fields to skip, because responses have them in addition to the model.
    """
    if not data.strip():
        raise _missing_body(model)
    document = parse(data)
    if isinstance(document, dict):
        fields = cast("dict[str, object]", document)
        document = {name: value for name, value in fields.items() if name not in ignored}
    return convert(document, model)


def parse(data: bytes) -> object:
    """Return the JSON as Python's own types. Raises InvalidValueError for invalid JSON."""
    try:
        return cast("object", msgspec.json.decode(data))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        shown = data.decode("utf-8", "replace")
        message = f"the body is not JSON: {describe_syntax_error(data, str(error))}"
        raise InvalidValueError("", shown, "JSON in UTF-8", message) from None


def convert(value: object, model: type[T]) -> T:
    """Return a value of JSON's types, and Python's bytes, as the model. Raises InvalidValueError."""
    value = as_json(value)
    try:
        with _Turns.lock:
            return msgspec.convert(value, model)
    except msgspec.ValidationError as error:
        raise _invalid_value(str(error), value, model) from None


def check(instance: msgspec.Struct) -> None:
    """Raise its error_type if a model that was created in Python, and so not converted, has an invalid value."""
    try:
        document: object = msgspec.to_builtins(instance)
    except (TypeError, ValueError) as error:
        error_type = error_type_of(type(instance))
        raise error_type("", ascii(instance), "values of JSON's types, and bytes", f"invalid rule: {error}") from None
    convert(document, type(instance))


def decode_query(parameters: Mapping[str, str], model: type[T]) -> T:
    """Return query parameters as the model; numbers and booleans are read from text. Raises InvalidValueError."""
    try:
        with _Turns.lock:
            return msgspec.convert(dict(parameters), model, strict=False)
    except msgspec.ValidationError as error:
        raise _invalid_value(str(error), dict(parameters), model) from None


def error_type_of(model: type) -> type[InvalidValueError]:
    """Return the error of invalid values of a model."""
    return cast("type[InvalidValueError]", getattr(model, "error_type", InvalidValueError))


def _missing_body(model: type) -> InvalidValueError:
    """Return the error for an empty body: the first required field is missing, or else the first field."""
    field_type = FieldType.of(model)
    names = field_type.field_names(None)
    field = next(iter(field_type.required_names() or names))
    allowed = describe_type(field_type.child(field, None))
    message = f'"{field}" is missing: the request has no body; allowed: an object with {", ".join(names)}'
    return error_type_of(model)(field, None, allowed, message)


def _invalid_value(text: str, document: object, model: type) -> InvalidValueError:
    """Translate the text of a ValidationError, which holds the reason and the path."""
    return error_type_of(model)(*_invalid_field(text, document, FieldType.of(model)))


class _InvalidField(NamedTuple):
    """The arguments of an InvalidValueError."""

    field: str
    value: object
    allowed: str
    message: str


def _invalid_field(text: str, document: object, model: FieldType) -> _InvalidField:
    path = _path_of(text)
    what = _PLACE.sub("", text)
    value, field_type = _look_up(document, path, model)
    unknown = _UNKNOWN_FIELD.match(what)
    if unknown is not None:
        return _unknown_field(path, unknown[1], value, field_type)
    missing = _MISSING_FIELD.match(what)
    if missing is not None:
        field = _shown([*path, missing[1]])
        allowed = describe_type(field_type.child(missing[1], value))
        return _InvalidField(field, None, allowed, f'"{field}" is missing; allowed: {allowed}')
    field = _shown(path)
    allowed = describe_type(field_type)
    reason = f" ({what})" if what.startswith("Invalid base64") else ""
    hint = suggestion(value, field_type.literals)
    message = f"{field or 'the body'} cannot be {_quoted(value)}{reason}; allowed: {allowed}{hint}"
    return _InvalidField(field, value, allowed, message)


def _unknown_field(path: Path, name: str, value: object, model: FieldType) -> _InvalidField:
    field = _shown([*path, name])
    names = model.field_names(value)
    allowed = f"the fields {', '.join(names)}" if names else "no field"
    given = cast("Mapping[str, object]", value).get(name) if isinstance(value, dict) else None
    message = f"{field} is not a known field; allowed: {allowed}{suggestion(name, names)}"
    return _InvalidField(field, given, allowed, message)


def _path_of(text: str) -> Path:
    place = _PLACE.search(text)
    if place is None:
        return []
    return [name or int(index) for name, index in _STEP.findall(place[1])]


def _look_up(document: object, path: Path, model: FieldType) -> tuple[object, FieldType]:
    """Return the value at the path and its allowed type."""
    value, field_type = document, model
    for step in path:
        field_type = field_type.child(step, value)
        value = _child_of(value, step)
    return value, field_type


def _child_of(value: object, step: str | int) -> object:
    if isinstance(value, dict):
        return cast("dict[object, object]", value).get(step)
    if isinstance(value, list) and isinstance(step, int):
        items = cast("list[object]", value)
        return items[step] if step < len(items) else None
    return None


def _shown(path: Path) -> str:
    """Return a path as text, such as match.topic[1].regex."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def _quoted(value: object) -> str:
    # A document of Python may hold anything.
    try:
        shown = ascii(value) if isinstance(value, bytearray) else msgspec.json.encode(value, enc_hook=repr).decode()
    except (TypeError, ValueError, msgspec.MsgspecError, RecursionError):
        shown = ascii(value)
    return shown if len(shown) <= 80 else shown[:77] + "..."
