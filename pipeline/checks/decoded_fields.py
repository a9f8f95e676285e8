"""Fields of Avro and Protobuf that are parts of an event id, as a column of the records view.

They are decoded in Python, once for each record and content, in front of all else that reads the records. All other
parts of an event id are column expressions of Spark (event_id.py).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import StringType, StructField, StructType

from ...storage.file_systems.path_problems import find_path_problem
from ..bad_option import BadOption
from ..decode.arrow_types import arrow
from ..read.worker_process import freeze_imported_objects
from ..schemas.field_source import FieldSource, SchemaFile, Texts, check_package, open_source
from ..schemas.schema_options import Content, SchemaOptions
from ..schemas.schema_registry import SchemaRegistry, parse_registry
from ..schemas.undecodable_content import UndecodableContent
from .event_id_parts import EventIdPart, parse_event_id

# The added column: a struct with a text for each decoded part, and the problem of a content that cannot be decoded.
DECODED = "decoded_fields"
PROBLEM = "problem"
# The length of a problem in a result.
_PROBLEM_CHARACTERS_MAX = 200
_CONTENTS: tuple[Content, ...] = ("key", "value")


def check_event_id(text: str, schemas: SchemaOptions) -> None:
    """Check an event id and its schemas before a job, without Spark. Raises BadOption."""
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


def with_decoded_fields(records: DataFrame, text: str, schemas: SchemaOptions) -> DataFrame:
    """Return the records with the column DECODED if the event id has decoded parts, otherwise unchanged.

    records: the records view with the contents of the parts. Raises BadOption.
    """
    sources = field_sources(text, schemas)
    if not sources:
        return records
    names = [*(name_of(index) for content in sources for index in _decoded_parts(text, content)), PROBLEM]
    kind = StructType([StructField(name, StringType()) for name in names])
    schema = StructType([*records.schema.fields, StructField(DECODED, kind)])
    return records.mapInArrow(_decoder(sources, names), schema)


def name_of(index: int) -> str:
    """Return the name in DECODED of a decoded part. index: of the part in the event id."""
    return f"part_{index}"


def describe_schemas(text: str, schemas: SchemaOptions) -> str | None:
    """Return what the texts of the decoded parts depend on, for a checkpoint; None without such a part.

    A schema file is named by its content, which may have moved. Raises BadOption.
    """
    described: list[str] = []
    for content, source in field_sources(text, schemas).items():
        if isinstance(source.schema, SchemaRegistry):
            described.append(f"{content} by {source.schema.url}")
            continue
        digest = hashlib.sha256(source.schema.content).hexdigest()
        message = f" message {source.schema.message}" if source.schema.message else ""
        framed = " behind Confluent's header" if source.is_framed else ""
        described.append(f"{content} by schema {digest[:16]}{message}{framed}")
    return ", ".join(described) or None


def field_sources(text: str, schemas: SchemaOptions) -> dict[Content, FieldSource]:
    """Return how each content with decoded parts is read. Reads schema files. Raises BadOption."""
    parts = parse_event_id(text)
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
    path = schemas.file_of(content)
    if path is not None:
        return FieldSource(form, paths, _schema_file(path, content, schemas), schemas.is_framed)
    if registry is None:
        raise BadOption(f"event-id: {parts[0].text} needs --{content}-schema or --schema-registry")
    return FieldSource(form, paths, registry, is_framed=True)


def _schema_file(path: str, content: Content, schemas: SchemaOptions) -> SchemaFile:
    try:
        return SchemaFile(Path(path).read_bytes(), schemas.message_of(content))
    except OSError as error:
        problem = find_path_problem(path, error) or f"{path} cannot be read: {error.strerror}"
        raise BadOption(f"{content}-schema: {problem}") from None


def _check_used(sources: dict[Content, FieldSource], schemas: SchemaOptions) -> None:
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
    if schemas.schema_registry is None and schemas.schema_registry_user is not None and sources:
        raise BadOption("schema-registry-user: needs --schema-registry")
    if schemas.is_framed and not any(by_file):
        raise BadOption("confluent-header: is for a schema file; with a registry the header is always read")


def _decoded_parts(text: str, content: Content) -> list[int]:
    """Return the indexes of the decoded parts of a content, in the order of the paths of its source."""
    parts = enumerate(parse_event_id(text))
    return [index for index, part in parts if part.is_decoded and part.content == content]


def _decoder(
    sources: Mapping[Content, FieldSource], names: Sequence[str]
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function for mapInArrow that appends the column DECODED. names: of its fields."""

    def decode(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        freeze_imported_objects()
        opened = {content: (open_source(source), len(source.paths)) for content, source in sources.items()}
        for batch in batches:
            columns: list[list[str | None]] = []
            problems: list[str | None] = [None] * batch.num_rows
            for content, (read, size) in opened.items():
                values = cast("list[bytes | None]", batch.column(content).to_pylist())
                columns += _texts(read, size, values, problems)
            fields = [arrow.array(column, arrow.string()) for column in (*columns, problems)]
            decoded = arrow.StructArray.from_arrays(fields, names=list(names))
            yield _with_column(batch, decoded)

    return decode


def _with_column(batch: Any, column: Any) -> pa.RecordBatch:
    added: pa.RecordBatch = arrow.RecordBatch.from_arrays([*batch.columns, column], [*batch.schema.names, DECODED])
    return added


def _texts(
    read: Callable[[bytes], Texts], size: int, contents: Sequence[bytes | None], problems: list[str | None]
) -> list[list[str | None]]:
    """Return a column of texts for each field, and set the problem of each content that cannot be decoded."""
    columns: list[list[str | None]] = [[] for _ in range(size)]
    nothing: Texts = (None,) * size
    for row, content in enumerate(contents):
        texts = nothing
        if content is not None:
            try:
                texts = read(content)
            except UndecodableContent as error:
                problems[row] = str(error)[:_PROBLEM_CHARACTERS_MAX]
        for column, text in zip(columns, texts, strict=True):
            column.append(text)
    return columns
