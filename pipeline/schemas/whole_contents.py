"""Whole keys and values as JSON, by the schema of their schema id, or by a schema file.

The registry is asked once for each schema id. A JSON schema is not applied: the content is JSON already.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..bad_option import BadOption
from .confluent_framing import split_header, split_message_indexes
from .field_source import (
    INSTALL,
    SCHEMAS_MAX,
    SERIALIZED,
    Fields,
    SchemaFile,
    avro_fields,
    fields_of_file,
    find_missing_package,
    protobuf_fields,
)
from .schema_options import Content, Format, SchemaIdBytes, SchemaOptions
from .schema_registry import SchemaRegistry, parse_registry
from .undecodable_content import UndecodableContent

CONTENTS: tuple[Content, ...] = ("key", "value")
FORMATS: tuple[Format, ...] = ("avro", "protobuf")


@dataclass(frozen=True, slots=True)
class WholeContent:
    """A decoded content. kind: avro, protobuf or json. schema_id: None with a schema file that needs none."""

    kind: str
    schema_id: int | None
    json: str


class WholeContents:
    """Decodes the keys and values of records."""

    def __init__(self, options: SchemaOptions) -> None:
        """Read the schema files. Raises BadOption."""
        self._is_framed = options.is_framed
        self._id_bytes: SchemaIdBytes = options.schema_id_bytes
        self._registry: SchemaRegistry | None = None
        if options.schema_registry is not None:
            self._registry = parse_registry(options.schema_registry, options.schema_registry_user)
            for form in FORMATS:
                _check_package(form, "schema-registry")
        self._files: dict[Content, tuple[Format, Fields]] = {}
        for content in CONTENTS:
            path = options.file_of(content)
            if path is not None:
                self._files[content] = _open_file(path, content, options.message_of(content))
        # By schema id and message indexes; the error of a failed lookup.
        self._known: dict[tuple[int, tuple[int, ...]], Fields | UndecodableContent] = {}
        # The kind of each schema by its id.
        self._kinds: dict[int, str] = {}

    def decode(self, content: Content, data: bytes) -> WholeContent | None:
        """Return a key or value as JSON; None if no schema is for it.

        Raises UndecodableContent, and BadOption if the registry fails.
        """
        file = self._files.get(content)
        if file is not None:
            form, fields = file
            schema_id = None
            if self._is_framed:
                schema_id, data = split_header(data, self._id_bytes)
                data = split_message_indexes(data)[1] if form == "protobuf" else data
            return WholeContent(form, schema_id, fields.json(data))
        if self._registry is None:
            return None
        schema_id, data = split_header(data, self._id_bytes)
        kind = self._kind_of(schema_id, self._registry)
        if kind == "JSON":
            return WholeContent("json", schema_id, _text_of(data))
        indexes: tuple[int, ...] = ()
        if kind == "PROTOBUF":
            indexes, data = split_message_indexes(data)
        fields = self._fields_of(schema_id, kind, indexes, self._registry)
        return WholeContent(kind.lower(), schema_id, fields.json(data))

    def _kind_of(self, schema_id: int, registry: SchemaRegistry) -> str:
        kind = self._kinds.get(schema_id)
        if kind is None:
            if len(self._kinds) >= SCHEMAS_MAX:
                raise UndecodableContent(f"it has another schema than the first {SCHEMAS_MAX}")
            kind = self._kinds[schema_id] = registry.schema_of(schema_id).kind
        return kind

    def _fields_of(self, schema_id: int, kind: str, indexes: tuple[int, ...], registry: SchemaRegistry) -> Fields:
        known = self._known.get((schema_id, indexes))
        if known is None:
            try:
                if kind == "AVRO":
                    known = avro_fields(registry.schema_of(schema_id), ())
                elif kind == "PROTOBUF":
                    known = protobuf_fields(registry.schema_of(schema_id, SERIALIZED), indexes, ())
                else:
                    known = UndecodableContent(f"schema id {schema_id} is {kind}, not AVRO, PROTOBUF or JSON")
            except UndecodableContent as error:
                known = error
            if len(self._known) < SCHEMAS_MAX:
                self._known[schema_id, indexes] = known
        if isinstance(known, UndecodableContent):
            raise known
        return known


def _open_file(path: str, content: Content, message: str | None) -> tuple[Format, Fields]:
    """Return the format and the reader of a schema file: an Avro schema is JSON. Raises BadOption."""
    try:
        file = SchemaFile(Path(path).read_bytes(), message)
    except OSError as error:
        raise BadOption(f"--{content}-schema: {path} cannot be read: {error.strerror}") from None
    form: Format = "avro" if file.content.lstrip()[:1] in (b"{", b"[", b'"') else "protobuf"
    _check_package(form, f"{content}-schema")
    try:
        return form, fields_of_file(form, (), file)
    except BadOption as error:
        raise BadOption(f"--{content}-schema: {path}: {error}") from None


def _check_package(form: Format, option: str) -> None:
    package = find_missing_package(form)
    if package is not None:
        raise BadOption(f"--{option}: {form} needs the package {package}; install it: {INSTALL}")


def _text_of(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise UndecodableContent("it is no JSON: its bytes are not UTF-8") from None


def open_contents(options: SchemaOptions) -> WholeContents:
    """Return what decodes keys and values. Raises BadOption, also if the registry does not respond."""
    contents = WholeContents(options)
    if options.schema_registry is not None:
        parse_registry(options.schema_registry, options.schema_registry_user).check()
    return contents
