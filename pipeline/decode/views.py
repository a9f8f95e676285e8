"""The two views of a log: their columns and the types in which a column can be requested.

A row of the batches view is a batch. A row of the records view is a record or a damaged batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from ..bad_option import BadOption
from . import batch_columns, record_rows
from .arrow_columns import HEADERS, TIMESTAMP, text_column
from .arrow_types import ArrowArray, ArrowField, arrow
from .batch_columns import BatchRows
from .record_rows import RecordRows

ViewName = Literal["records", "batches"]

HEADERS_TYPE = "array<struct<key:string,value:binary>>"
_TYPES: dict[str, pa.DataType] = {
    "string": pa.string(),
    "binary": pa.binary(),
    "boolean": pa.bool_(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "timestamp": TIMESTAMP,
    HEADERS_TYPE: HEADERS,
}
# The other types in which a column of a type can be requested.
_ALLOWED: dict[str, tuple[str, ...]] = {"int": ("bigint",), "binary": ("string",), "timestamp": ("bigint",)}


@dataclass(frozen=True, slots=True)
class Column:
    """One requested column. kind: the name of its Spark type."""

    name: str
    kind: str
    is_nullable: bool = True

    @property
    def field(self) -> ArrowField:
        """The field of an Arrow schema."""
        return pa.field(self.name, _TYPES[self.kind], self.is_nullable)


RECORD_COLUMNS = tuple(Column(name, kind) for name, kind in record_rows.KINDS.items())
BATCH_COLUMNS = tuple(Column(name, kind) for name, kind in batch_columns.KINDS.items())


def columns_of(view: ViewName) -> tuple[Column, ...]:
    """Return all columns of a view, in order."""
    return RECORD_COLUMNS if view == "records" else BATCH_COLUMNS


def schema_of(view: ViewName) -> str:
    """Return the schema of a view as a DDL string of Spark."""
    return ", ".join(f"{column.name} {column.kind}" for column in columns_of(view))


def check_columns(view: ViewName, wanted: Sequence[Column]) -> None:
    """Raise BadOption if the view has no such column, or not in that type."""
    kinds = {column.name: column.kind for column in columns_of(view)}
    for column in wanted:
        kind = kinds.get(column.name)
        if kind is None:
            raise BadOption(f"schema: the view {view} has no column {column.name}; it has {', '.join(kinds)}")
        allowed = (kind, *_ALLOWED.get(kind, ()))
        if column.kind not in allowed:
            raise BadOption(f"schema: {column.name} must be {' or '.join(allowed)}, not {column.kind}")


def record_batch_of(rows: RecordRows | BatchRows, wanted: Sequence[Column]) -> pa.RecordBatch:
    """Return rows with the wanted columns, which check_columns has validated."""
    if isinstance(rows, RecordRows):
        arrays = [_converted(record_rows.COLUMNS[column.name](rows), column) for column in wanted]
    else:
        arrays = [_converted(batch_columns.COLUMNS[column.name](rows), column) for column in wanted]
    schema = arrow.schema([column.field for column in wanted])
    record_batch: pa.RecordBatch = arrow.RecordBatch.from_arrays(arrays, schema=schema)
    return record_batch


def _converted(values: ArrowArray, column: Column) -> ArrowArray:
    kind = _TYPES[column.kind]
    if values.type.equals(kind):
        return values
    if pa.types.is_binary(values.type):
        return text_column(values)
    if pa.types.is_timestamp(values.type):
        # Kafka's unit is milliseconds.
        return values.cast(pa.timestamp("ms", "UTC")).cast(kind)
    return values.cast(kind)
