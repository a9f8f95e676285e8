"""Which fields of a key or a value are read as text, and by which schema.

The driver makes a source and reads its schema file. Workers open the source and request schemas from the registry. An
opened source caches schemas and failed lookups, so that it requests each id once.
"""

from __future__ import annotations

import base64
import binascii
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias, assert_never

from .. import schemas
from ..bad_option import BadOption
from .confluent_framing import split_header, split_message_indexes
from .field_path import FieldPath
from .schema_options import CONFLUENT_ID_BYTES, Format, SchemaIdBytes
from .schema_registry import RegisteredSchema, SchemaRegistry
from .undecodable_content import UndecodableContent

# The text of each field of a source; None for one that is null or not set.
Texts: TypeAlias = tuple[str | None, ...]

# More than a topic has; bytes that only look like ids must not fill the memory.
SCHEMAS_MAX = 1000
INSTALL: Final = "pip install 'fauxka[schemas]'"
_PACKAGES: Final[dict[Format, str]] = {"avro": "fastavro", "protobuf": "google.protobuf"}
SERIALIZED: Final = "serialized"


@dataclass(frozen=True, slots=True)
class SchemaFile:
    """The content of a schema file. message: the full name of a Protobuf message; None for the only one."""

    content: bytes
    message: str | None = None


@dataclass(frozen=True, slots=True)
class FieldSource:
    """The fields at paths of one content.

    is_framed: a header with a schema id is in front, as always with a registry. id_bytes: of that schema id.
    """

    form: Format
    paths: tuple[FieldPath, ...]
    schema: SchemaFile | SchemaRegistry
    is_framed: bool
    id_bytes: SchemaIdBytes = CONFLUENT_ID_BYTES


class Fields(Protocol):
    """Reads fields of contents of one schema."""

    def texts(self, content: bytes) -> Texts:
        """Return the text of each field; None for one that is null or not set. Raises UndecodableContent."""
        ...

    def json(self, content: bytes) -> str:
        """Return the whole content as JSON. Raises UndecodableContent."""
        ...


def check_package(form: Format) -> None:
    """Raise BadOption if the package that decodes the format is not installed for this Python."""
    package = find_missing_package(form)
    if package is not None:
        raise BadOption(f"event-id: {form} needs the package {package}; install it, also on workers: {INSTALL}")


def find_missing_package(form: Format) -> str | None:
    """Return the package that decodes the format if it is not installed for this Python."""
    try:
        importlib.import_module(_PACKAGES[form])
    except ImportError:
        return _PACKAGES[form].rpartition(".")[2]
    return None


def open_source(source: FieldSource) -> Callable[[bytes], Texts]:
    """Return a function that reads the fields of a content, which raises UndecodableContent.

    Raises BadOption if a schema file cannot be used. The function raises it if the registry fails.
    """
    check_package(source.form)
    match source.schema:
        case SchemaRegistry() as registry:
            return _RegistryReader(source, registry).texts
        case SchemaFile() as file:
            fields = fields_of_file(source.form, source.paths, file)
            return _FramedReader(source, fields).texts if source.is_framed else fields.texts
        case _:
            assert_never(source.schema)


def fields_of_file(form: Format, paths: tuple[FieldPath, ...], file: SchemaFile) -> Fields:
    """Return the reader of contents of a schema file. Raises BadOption."""
    # Both packages may be missing where the other format is read.
    match form:
        case "avro":
            try:
                return schemas.avro_fields.AvroFields(file.content.decode(), (), paths)
            except UnicodeDecodeError:
                raise BadOption("the Avro schema is invalid: it is not UTF-8") from None
        case "protobuf":
            protobuf = schemas.protobuf_fields
            message = protobuf.message_of_name(protobuf.parse_descriptor_set(file.content), file.message)
            return protobuf.ProtobufFields(message, paths)
        case _:
            assert_never(form)


class _FramedReader:
    """Reads contents with a header by one schema, whatever their schema id is."""

    def __init__(self, source: FieldSource, fields: Fields) -> None:
        self._form = source.form
        self._id_bytes: SchemaIdBytes = source.id_bytes
        self._fields = fields

    def texts(self, content: bytes) -> Texts:
        _, content = split_header(content, self._id_bytes)
        if self._form == "protobuf":
            _, content = split_message_indexes(content)
        return self._fields.texts(content)


class _RegistryReader:
    """Reads contents with a header by the schema of their schema id."""

    def __init__(self, source: FieldSource, registry: SchemaRegistry) -> None:
        self._form = source.form
        self._paths = source.paths
        self._id_bytes: SchemaIdBytes = source.id_bytes
        self._registry = registry
        self._fields: dict[tuple[int, tuple[int, ...]], Fields | UndecodableContent] = {}

    def texts(self, content: bytes) -> Texts:
        schema_id, content = split_header(content, self._id_bytes)
        indexes: tuple[int, ...] = ()
        if self._form == "protobuf":
            indexes, content = split_message_indexes(content)
        fields = self._fields.get((schema_id, indexes))
        if fields is None:
            fields = self._fields_of(schema_id, indexes)
        if isinstance(fields, UndecodableContent):
            raise fields
        return fields.texts(content)

    def _fields_of(self, schema_id: int, indexes: tuple[int, ...]) -> Fields | UndecodableContent:
        if len(self._fields) >= SCHEMAS_MAX:
            return UndecodableContent(f"it has another schema than the first {SCHEMAS_MAX}")
        try:
            fields = self._requested(schema_id, indexes)
        except UndecodableContent as error:
            fields = error
        self._fields[schema_id, indexes] = fields
        return fields

    def _requested(self, schema_id: int, indexes: tuple[int, ...]) -> Fields | UndecodableContent:
        schema = self._registry.schema_of(schema_id, SERIALIZED if self._form == "protobuf" else None)
        if schema.kind != self._form.upper():
            return UndecodableContent(f"schema id {schema_id} is {schema.kind}, not {self._form.upper()}")
        try:
            if self._form == "avro":
                return avro_fields(schema, self._paths)
            return protobuf_fields(schema, indexes, self._paths)
        except BadOption as error:
            # Other contents may have a schema with the field.
            return UndecodableContent(f"schema id {schema_id}: {error}")


def avro_fields(schema: RegisteredSchema, paths: tuple[FieldPath, ...]) -> Fields:
    """Return the reader of contents of a registered schema. Raises BadOption."""
    return schemas.avro_fields.AvroFields(schema.text, [one.text for one in schema.references], paths)


def protobuf_fields(schema: RegisteredSchema, indexes: tuple[int, ...], paths: tuple[FieldPath, ...]) -> Fields:
    """Return the reader of messages of a registered schema. Raises BadOption and UndecodableContent."""
    protobuf = schemas.protobuf_fields
    files = [protobuf.parse_file(_from_base64(one.text), one.name) for one in schema.references]
    files.append(protobuf.parse_file(_from_base64(schema.text), None))
    return protobuf.ProtobufFields(protobuf.message_of_indexes(files, indexes), paths)


def _from_base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise BadOption("the registry returns no serialized descriptors; set --value-schema") from None
