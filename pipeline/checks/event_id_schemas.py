"""The schemas of an event id with fields of Avro and Protobuf: checks before a job. This module does not use Spark."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from ...storage.file_systems.path_problems import find_path_problem
from ..bad_option import BadOption
from ..schemas.field_source import FieldSource, SchemaFile, check_package, open_source
from ..schemas.schema_options import CONFLUENT_ID_BYTES, Content, SchemaOptions
from ..schemas.schema_registry import SchemaRegistry, parse_registry
from .event_id_parts import EventIdPart, parse_event_id, parse_row_id

_CONTENTS: tuple[Content, ...] = ("key", "value")


def check_event_id(text: str, schemas: SchemaOptions) -> None:
    """Check an event id of a log and its schemas before a job. Raises BadOption."""
    parse_event_id(text)
    check_row_id(text, schemas)


def check_row_id(text: str, schemas: SchemaOptions) -> None:
    """Check an event id of a table in the same way. Raises BadOption."""
    sources = field_sources(text, schemas)
    for content, source in sources.items():
        check_package(source.form)
        if isinstance(source.schema, SchemaRegistry):
            source.schema.check()
            continue
        try:
            open_source(source)
        except BadOption as error:
            file = schemas.file_of(content)
            raise BadOption(f"{content}-schema: {file}: {error}") from None


def describe_schemas(text: str, schemas: SchemaOptions) -> str | None:
    """Return what the texts of the decoded parts depend on, for a checkpoint; None without such a part.

    A schema file is named by its content, which may have moved. Raises BadOption.
    """
    described: list[str] = []
    for content, source in field_sources(text, schemas).items():
        id_bytes = "" if source.id_bytes == CONFLUENT_ID_BYTES else f" with schema ids of {source.id_bytes} bytes"
        if isinstance(source.schema, SchemaRegistry):
            described.append(f"{content} by {source.schema.url}{id_bytes}")
            continue
        digest = hashlib.sha256(source.schema.content).hexdigest()
        message = f" message {source.schema.message}" if source.schema.message else ""
        framed = " behind Confluent's header" if source.is_framed else ""
        described.append(f"{content} by schema {digest[:16]}{message}{framed}{id_bytes}")
    return ", ".join(described) or None


def field_sources(text: str, schemas: SchemaOptions) -> dict[Content, FieldSource]:
    """Return how each content with decoded parts is read. Reads schema files. Raises BadOption."""
    parts = parse_row_id(text)
    registry = None
    if schemas.schema_registry is not None:
        registry = parse_registry(schemas.schema_registry, schemas.schema_registry_user)
    sources: dict[Content, FieldSource] = {}
    for content in _CONTENTS:
        decoded = [part for part in parts if part.is_decoded and part.content == content]
        if decoded:
            sources[content] = _source_of(decoded, content, schemas, registry)
    _check_used(sources, schemas)
    return sources


def _source_of(
    parts: Sequence[EventIdPart], content: Content, schemas: SchemaOptions, registry: SchemaRegistry | None
) -> FieldSource:
    form = parts[0].format
    if any(part.format != form for part in parts):
        raise BadOption(f"event-id: the {content} is either Avro or Protobuf, not both")
    paths = tuple(part.path for part in parts)
    id_bytes = schemas.schema_id_bytes
    if id_bytes != CONFLUENT_ID_BYTES and form == "protobuf":
        raise BadOption(f"schema-id-bytes: {id_bytes} is for Avro; in front of Protobuf Apicurio writes another header")
    path = schemas.file_of(content)
    if path is not None:
        return FieldSource(form, paths, _schema_file(path, content, schemas), schemas.is_framed, id_bytes)
    if registry is None:
        raise BadOption(f"event-id: {parts[0].text} needs --{content}-schema or --schema-registry")
    return FieldSource(form, paths, registry, is_framed=True, id_bytes=id_bytes)


def _schema_file(path: str, content: Content, schemas: SchemaOptions) -> SchemaFile:
    try:
        return SchemaFile(Path(path).read_bytes(), schemas.message_of(content))
    except OSError as error:
        problem = find_path_problem(path, error) or f"{path} cannot be read: {error.strerror}"
        raise BadOption(f"{content}-schema: {problem}") from None


def _check_used(sources: Mapping[Content, FieldSource], schemas: SchemaOptions) -> None:
    """Raise BadOption for an option that has no effect, which is a mistake."""
    for content in _CONTENTS:
        source = sources.get(content)
        if source is None and schemas.file_of(content) is not None:
            raise BadOption(f"{content}-schema: no part of --event-id is a field of the {content}")
        has_message = source is not None and source.form == "protobuf" and isinstance(source.schema, SchemaFile)
        if schemas.message_of(content) is not None and not has_message:
            raise BadOption(f"{content}-message: is for a field of Protobuf with --{content}-schema")
    by_file = [isinstance(source.schema, SchemaFile) for source in sources.values()]
    if schemas.schema_registry is not None and all(by_file):
        raise BadOption("schema-registry: no part of --event-id is a field that needs it")
    if schemas.is_framed and not any(by_file):
        raise BadOption("confluent-header: is for a schema file; with a registry the header is always read")
    if schemas.schema_id_bytes != CONFLUENT_ID_BYTES and not any(source.is_framed for source in sources.values()):
        raise BadOption("schema-id-bytes: is for contents with a schema id: --confluent-header or --schema-registry")
