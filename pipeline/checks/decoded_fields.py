"""Fields of Avro and Protobuf that are parts of an event id, as a column of the records view.

They are decoded in Python, once for each record and content, in front of all else that reads the records. All other
parts of an event id are column expressions of Spark (event_id.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import StringType, StructField, StructType

from ..decode.arrow_types import arrow
from ..schemas.field_source import FieldSource, Texts, open_source
from ..schemas.schema_options import Content, SchemaOptions
from ..schemas.undecodable_content import UndecodableContent
from ..sessions.worker_process import freeze_imported_objects
from .event_id_parts import parse_row_id
from .event_id_schemas import field_sources

# The added column: a struct with a text for each decoded part, and the problem of a content that cannot be decoded.
DECODED = "decoded_fields"
PROBLEM = "problem"
# The length of a problem in a result.
_PROBLEM_CHARACTERS_MAX = 200


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


def _decoded_parts(text: str, content: Content) -> list[int]:
    """Return the indexes of the decoded parts of a content, in the order of the paths of its source."""
    parts = enumerate(parse_row_id(text))
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
