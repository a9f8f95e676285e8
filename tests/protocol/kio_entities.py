"""Hypothesis strategies for kio's entities, and their conversion to generated messages."""

from __future__ import annotations

import dataclasses
import datetime
import typing
import uuid
from types import NoneType, UnionType
from typing import Any, cast, get_args, get_origin

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from kio.schema.errors import ErrorCode
from kio.serial.readers import tz_aware_from_i64
from kio.static.primitive import i32Timedelta, i64, i64Timedelta

from fauxka.protocol.message import Message
from fauxka.protocol.primitives import ZERO_UUID
from tools.message_generator.kafka_4_4 import NEW_VERSIONS, NewVersion

from ..messages import is_message_class

MILLISECOND = datetime.timedelta(milliseconds=1)
EPOCH = datetime.datetime.fromtimestamp(0, datetime.UTC)
# The limits of Python's timedelta, and of exact milliseconds in its float seconds.
INT64_MILLISECONDS_MAX = 2**46
YEAR_2200_MS = 7_258_118_400_000
NO_TIMESTAMP = -1

# A message without a version that kio does not define.
UNCHANGED = NewVersion(number=0)

TEXTS = st.text(max_size=6)


def _timedeltas(parse: Any, milliseconds_max: int) -> SearchStrategy[Any]:
    return st.integers(-milliseconds_max - 1, milliseconds_max).map(lambda ms: parse(ms * MILLISECOND))


PRIMITIVES: dict[str, SearchStrategy[Any]] = {
    "bool": st.booleans(),
    "int8": st.integers(-(2**7), 2**7 - 1),
    "int16": st.integers(-(2**15), 2**15 - 1),
    "int32": st.integers(-(2**31), 2**31 - 1),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "uint16": st.integers(0, 2**16 - 1),
    "float64": st.floats(allow_nan=False),
    "uuid": st.uuids(),
    "string": TEXTS,
    "bytes": st.binary(max_size=6),
    "records": st.binary(max_size=6),
    "error_code": st.sampled_from(ErrorCode),
    "timedelta_i32": _timedeltas(i32Timedelta.parse, 2**31 - 1),
    "timedelta_i64": _timedeltas(i64Timedelta.parse, INT64_MILLISECONDS_MAX),
    "datetime_i64": st.integers(0, YEAR_2200_MS).map(lambda ms: tz_aware_from_i64(i64(ms))),
}


# Strategies are slow to build; all tests of a message share one.
STRATEGIES: dict[type[Any], SearchStrategy[Any]] = {}


def entities(entity_class: type[Any]) -> SearchStrategy[Any]:
    """Return a strategy for entities of one version with all fields drawn."""
    if entity_class not in STRATEGIES:
        values = {field.name: _field_values(field) for field in dataclasses.fields(entity_class)}
        STRATEGIES[entity_class] = st.builds(entity_class, **values)
    return STRATEGIES[entity_class]


def _field_values(field: dataclasses.Field[Any]) -> SearchStrategy[Any]:
    whole, is_nullable = _without_none(field.type)
    if get_origin(whole) is tuple:
        element, _ = _without_none(get_args(whole)[0])
        values = st.lists(_elements(field, element), max_size=2).map(tuple)
    else:
        values = _elements(field, whole)
    return st.none() | values if is_nullable else values


def _elements(field: dataclasses.Field[Any], element: object) -> SearchStrategy[Any]:
    if dataclasses.is_dataclass(element):
        return entities(cast("type[Any]", element))
    return PRIMITIVES[field.metadata["kafka_type"]]


def _without_none(annotation: object) -> tuple[object, bool]:
    if get_origin(annotation) is not UnionType:
        return annotation, False
    (inner,) = (argument for argument in get_args(annotation) if argument is not NoneType)
    return inner, True


def as_message(entity: Any, message_class: type[Message]) -> Message:
    """Return a generated message with the values of the entity, and defaults for fields of other versions."""
    types = typing.get_type_hints(message_class)
    renamed = NEW_VERSIONS.get(message_class.__name__, UNCHANGED).renamed
    values: dict[str, object] = {}
    for field in dataclasses.fields(entity):
        kafka_type = field.metadata.get("kafka_type", "")
        unit = "_ms" if kafka_type.startswith(("timedelta", "datetime")) else ""
        name = renamed.get(field.name, field.name) + unit
        value = getattr(entity, field.name)
        is_null_array = value is None and _is_array(types[name])
        values[name] = None if is_null_array else _our_value(value, kafka_type, _nested_class(types[name]))
    return message_class(**values)


def _is_array(annotation: object) -> bool:
    return get_origin(_without_none(annotation)[0]) is list


def _nested_class(annotation: object) -> type[Message] | None:
    inner, _ = _without_none(annotation)
    if get_origin(inner) is list:
        (inner,) = get_args(inner)
    return inner if is_message_class(inner) else None


def _our_value(value: Any, kafka_type: str, nested: type[Message] | None) -> object:
    if isinstance(value, tuple):
        return [_our_value(element, kafka_type, nested) for element in cast("tuple[object, ...]", value)]
    match value:
        case None if kafka_type == "uuid":
            return ZERO_UUID
        case None if kafka_type == "datetime_i64":
            return NO_TIMESTAMP
        case None:
            return None
        case uuid.UUID():
            return value.bytes
        case datetime.timedelta():
            return value // MILLISECOND
        case datetime.datetime():
            return (value - EPOCH) // MILLISECOND
        case _ if nested is not None:
            return as_message(value, nested)
        case _:
            return value
