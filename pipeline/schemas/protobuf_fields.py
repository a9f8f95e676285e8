"""Fields of Protobuf messages as text, decoded with the package protobuf.

| type | text |
|---|---|
| int32 and all other integers | decimal |
| string | as it is |
| bool | true or false |
| enum | the name of the value; its number if the schema has none |
| bytes | 0x and hexadecimal digits |

A field with presence (`optional`, proto2, messages, oneof) that is not set has no text. Another field of proto3 that is
not set has its default value: 0, false or no characters.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from google.protobuf import json_format, message_factory
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError, Message

from ..bad_option import BadOption
from .field_path import FieldPath
from .undecodable_content import UndecodableContent

_WELL_KNOWN = "google/protobuf/"
_NO_TEXT: Final = {FieldDescriptor.TYPE_FLOAT: "a float", FieldDescriptor.TYPE_DOUBLE: "a double"}


class ProtobufFields:
    """Reads fields of messages of one type."""

    def __init__(self, message: Descriptor, paths: Sequence[FieldPath]) -> None:
        """Raises BadOption if the message has no scalar field at a path."""
        self._fields = [_fields_at(message, path) for path in paths]
        self._class = message_factory.GetMessageClass(message)

    def texts(self, content: bytes) -> tuple[str | None, ...]:
        """Return the text of each field; None for one that is not set. Raises UndecodableContent."""
        message = self._message(content)
        return tuple(_text_at(message, fields) for fields in self._fields)

    def json(self, content: bytes) -> str:
        """Return the message as JSON, with the field names of the schema. Raises UndecodableContent."""
        message = self._message(content)
        try:
            return json_format.MessageToJson(message, preserving_proto_field_name=True, indent=None)
        except (json_format.SerializeToJsonError, TypeError) as error:
            raise UndecodableContent(f"it has no JSON: {' '.join(str(error).split())}") from None

    def _message(self, content: bytes) -> Message:
        try:
            return self._class.FromString(content)
        except DecodeError:
            raise UndecodableContent("its bytes are no Protobuf message") from None


def parse_descriptor_set(content: bytes) -> list[FileDescriptorProto]:
    """Return the files of a descriptor set, as `protoc --descriptor_set_out` writes it. Raises BadOption."""
    files = FileDescriptorSet()
    try:
        files.ParseFromString(content)
    except DecodeError:
        files.Clear()
    if not files.file:
        raise BadOption("it is no descriptor set, as protoc --descriptor_set_out writes it")
    return list(files.file)


def parse_file(content: bytes, name: str | None) -> FileDescriptorProto:
    """Return the descriptor of one file. name: by which others import it; None keeps its own. Raises BadOption."""
    file = FileDescriptorProto()
    try:
        file.ParseFromString(content)
    except DecodeError:
        raise BadOption("the registry returns no descriptor of a Protobuf schema") from None
    # A registry need not store the name of a file.
    file.name = name or file.name or "main.proto"
    return file


def message_of_name(files: Sequence[FileDescriptorProto], name: str | None) -> Descriptor:
    """Return a message by its full name; None stands for the only message of the last file. Raises BadOption."""
    pool = _pool_of(files)
    names = [f"{file.package}.{one.name}".lstrip(".") for file in files for one in file.message_type]
    if name is None:
        if len(files[-1].message_type) != 1:
            raise BadOption(f"set the message to read; the schema has {', '.join(names) or 'none'}")
        name = f"{files[-1].package}.{files[-1].message_type[0].name}".lstrip(".")
    try:
        return pool.FindMessageTypeByName(name)
    except KeyError:
        raise BadOption(f"the schema has no message {name}; it has {', '.join(names) or 'none'}") from None


def message_of_indexes(files: Sequence[FileDescriptorProto], indexes: Sequence[int]) -> Descriptor:
    """Return a message of the last file. indexes: see confluent_framing. Raises BadOption, UndecodableContent."""
    messages = files[-1].message_type
    names = [files[-1].package] if files[-1].package else []
    for index in indexes:
        if index >= len(messages):
            raise UndecodableContent(f"its schema has no message {', '.join(map(str, indexes))}")
        names.append(messages[index].name)
        messages = messages[index].nested_type
    return _pool_of(files).FindMessageTypeByName(".".join(names))


def _pool_of(files: Sequence[FileDescriptorProto]) -> DescriptorPool:
    """Return a pool of the files and their imports. Raises BadOption."""
    pool = DescriptorPool()
    given = {file.name: file for file in files}
    added: set[str] = set()
    try:
        for file in files:
            _add(pool, file, given, added)
    except TypeError as error:
        raise BadOption(f"the Protobuf schema is invalid: {' '.join(str(error).split())}") from None
    return pool


def _add(
    pool: DescriptorPool, file: FileDescriptorProto, given: Mapping[str, FileDescriptorProto], added: set[str]
) -> None:
    """Add a file after its imports. added: the names of the files in the pool."""
    if file.name in added:
        return
    added.add(file.name)
    for name in file.dependency:
        _add(pool, given.get(name) or _well_known(name), given, added)
    pool.Add(file)


def _well_known(name: str) -> FileDescriptorProto:
    """Return a file of the package protobuf, such as google/protobuf/timestamp.proto. Raises BadOption."""
    if name.startswith(_WELL_KNOWN):
        with suppress(ImportError):
            module: Any = importlib.import_module(f"{name.removesuffix('.proto').replace('/', '.')}_pb2")
            file = FileDescriptorProto()
            module.DESCRIPTOR.CopyToProto(file)
            return file
    raise BadOption(f"the schema imports {name} and does not contain it; protoc --include_imports adds it")


def _fields_at(message: Descriptor, path: FieldPath) -> list[FieldDescriptor]:
    """Return the fields of a path, the last of them a scalar. Raises BadOption."""
    fields: list[FieldDescriptor] = []
    inner: Descriptor | None = message
    for name in path:
        if inner is None:
            raise BadOption(f"{fields[-1].full_name} is no message, so it has no field {name}")
        field = inner.fields_by_name.get(name)
        if field is None:
            names = ", ".join(inner.fields_by_name) or "none"
            raise BadOption(f"{inner.full_name} has no field {name}; fields there are {names}")
        if field.is_repeated:
            raise BadOption(f"{field.full_name} is repeated, which is no event id")
        fields.append(field)
        inner = field.message_type
    kind = "a message" if inner is not None else _NO_TEXT.get(fields[-1].type)
    if kind is not None:
        raise BadOption(f"{fields[-1].full_name} is {kind}, which is no event id")
    return fields


def _text_at(message: Message, fields: Sequence[FieldDescriptor]) -> str | None:
    value: Any = message
    for field in fields:
        if field.has_presence and not value.HasField(field.name):
            return None
        value = getattr(value, field.name)
    return _text(value, fields[-1])


def _text(value: bool | int | str | bytes, field: FieldDescriptor) -> str:
    if field.enum_type is not None:
        named = field.enum_type.values_by_number.get(int(value))
        return str(value) if named is None else named.name
    match value:
        case bool():
            return "true" if value else "false"
        case bytes():
            return f"0x{value.hex()}"
        case _:
            return str(value)
