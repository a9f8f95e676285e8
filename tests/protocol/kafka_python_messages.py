"""kafka-python's message classes, and the conversion of values between them and the generated messages."""

from __future__ import annotations

import importlib
import typing
import uuid
import warnings
from collections.abc import Iterator
from types import UnionType
from typing import Any, cast, get_args, get_origin

from fauxka.protocol.message import Message
from fauxka.protocol.primitives import ZERO_UUID

from ..messages import is_message_class
from .message_catalog import MESSAGE_VERSIONS, MessageVersion

# The packages that define the messages. Their import registers the classes.
PACKAGES = ("admin", "consumer", "metadata", "producer", "sasl")
# Fields that have another name in kafka-python, and are a set of bits there.
AUTHORIZED_OPERATIONS = {
    "MetadataResponse": "cluster_authorized_operations",
    "MetadataResponseTopic": "topic_authorized_operations",
    "DescribeClusterResponse": "cluster_authorized_operations",
    "DescribedGroup": "authorized_operations",
}
NO_OPERATIONS = -(2**31)


def _classes() -> dict[str, Any]:
    for package in PACKAGES:
        importlib.import_module(f"kafka.protocol.{package}")
    return {each.__name__: each for each in _message_classes(importlib.import_module("kafka.protocol.api_message"))}


def _message_classes(module: Any) -> Iterator[Any]:
    # The subclasses of a message class are its versions.
    return (each for each in module.ApiMessage.__subclasses__() if each._class_version is None)


with warnings.catch_warnings():
    # kafka-python reads its definitions with a function of importlib that Python 3.11 and 3.12 deprecate.
    warnings.simplefilter("ignore", DeprecationWarning)
    CLASSES = _classes()
    BIT_FIELD: Any = importlib.import_module("kafka.protocol.schemas.fields.codecs").BitField

KAFKA_PYTHON_VERSIONS = [
    message_version
    for message_version in MESSAGE_VERSIONS
    if message_version.name in CLASSES and message_version.version <= CLASSES[message_version.name].max_version
]


def encoded(message_version: MessageVersion, message: Message) -> bytes:
    """Return kafka-python's encoding of the values of a generated message."""
    kafka_python_class = CLASSES[message_version.name]
    values = _their_values(message, kafka_python_class._struct, message_version.version)
    return bytes(kafka_python_class(version=message_version.version, **values).encode())


def decoded(message_version: MessageVersion, data: bytes) -> Message:
    """Return a generated message with the values that kafka-python decodes."""
    container = CLASSES[message_version.name].decode(data, version=message_version.version)
    return _our_message(container, message_version.message_class, message_version.version)


def _their_values(message: Message, struct: Any, version: int) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for field in _fields(struct, version):
        value = getattr(message, _our_name(type(message), field.name))
        if not _is_default_tagged_struct(field, value):
            values[field.name] = _their_value(value, field, version)
    return values


def _fields(struct: Any, version: int) -> list[Any]:
    return [field for field in struct.fields.values() if field.for_version_q(version)]


def _our_name(message_class: type[Message], their_name: str) -> str:
    if their_name == "authorized_operations":
        return AUTHORIZED_OPERATIONS[message_class.__name__]
    return their_name


def _is_default_tagged_struct(field: Any, value: Any) -> bool:
    return bool(field.is_struct() and field.tag is not None and value == type(value)())


def _their_value(value: Any, field: Any, version: int) -> Any:
    if isinstance(value, list):
        element = field.array_of
        return [_their_value(each, element, version) for each in cast("list[object]", value)]
    if value is None:
        return None
    if field.is_struct():
        return field.data_class(version=version, **_their_values(value, field, version))
    match field.type_str:
        case "uuid":
            return uuid.UUID(bytes=value)
        case "bitfield":
            return BIT_FIELD.from_32_bit_field(value) if value != NO_OPERATIONS else None
        case _:
            return value


def _our_message(container: Any, message_class: type[Message], version: int) -> Message:
    types = typing.get_type_hints(message_class)
    values: dict[str, Any] = {}
    for field in _fields(container._struct, version):
        name = _our_name(message_class, field.name)
        value = getattr(container, field.name)
        if value is None and field.is_struct() and field.tag is not None:
            continue
        values[name] = _our_value(value, field, _nested_class(types[name]), version)
    return message_class(**values)


def _our_value(value: Any, field: Any, nested: type[Message] | None, version: int) -> Any:
    if isinstance(value, list):
        return [_our_value(each, field.array_of, nested, version) for each in cast("list[object]", value)]
    match field.type_str:
        case "uuid":
            return ZERO_UUID if value is None else value.bytes
        case "bitfield":
            return NO_OPERATIONS if value is None else _signed(BIT_FIELD.to_32_bit_field(value))
        case _:
            return _our_message(value, nested, version) if nested is not None and value is not None else value


def _signed(value: int) -> int:
    return value - 2**32 if value >= 2**31 else value


def _nested_class(annotation: object) -> type[Message] | None:
    if get_origin(annotation) is UnionType:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) is list:
        (annotation,) = get_args(annotation)
    return annotation if is_message_class(annotation) else None
