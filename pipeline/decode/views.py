"""The two views of a log: their columns, how each is made, and in which types it may be had.

A row of the batches view is a batch; one of the records view is a record, or a damaged batch.
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
# The types a column may be had in, beside its own.
_ALLOWED: dict[str, tuple[str, ...]] = {"int": ("bigint",), "binary": ("string",), "timestamp": ("bigint",)}


@dataclass(frozen=True, slots=True)
class Column:
    """One column as it is wanted: kind is the type in Spark's words."""

    name: str
    kind: str
    is_nullable: bool = True

    @property
    def field(self) -> ArrowField:
        """The column in a schema of Arrow."""
        return pa.field(self.name, _TYPES[self.kind], self.is_nullable)


RECORD_COLUMNS = tuple(Column(name, kind) for name, kind in record_rows.KINDS.items())
BATCH_COLUMNS = tuple(Column(name, kind) for name, kind in batch_columns.KINDS.items())


def columns_of(view: ViewName) -> tuple[Column, ...]:
    """Return all columns of a view, in order."""
    return RECORD_COLUMNS if view == "records" else BATCH_COLUMNS


def schema_of(view: ViewName) -> str:
    """Return the schema of a view as Spark reads it."""
    return ", ".join(f"{column.name} {column.kind}" for column in columns_of(view))


def check_columns(view: ViewName, wanted: Sequence[Column]) -> None:
    """Raise BadOption if a column is none of the view's, or wanted in a type that it cannot be had in."""
    kinds = {column.name: column.kind for column in columns_of(view)}
    for column in wanted:
        kind = kinds.get(column.name)
        if kind is None:
            raise BadOption(f"schema: the view {view} has no column {column.name}; it has {', '.join(kinds)}")
        allowed = (kind, *_ALLOWED.get(kind, ()))
        if column.kind not in allowed:
            raise BadOption(f"schema: {column.name} is {' or '.join(allowed)}, not {column.kind}")


def record_batch_of(rows: RecordRows | BatchRows, wanted: Sequence[Column]) -> pa.RecordBatch:
    """Return rows with the columns wanted; they have been checked."""
    if isinstance(rows, RecordRows):
        made = [_converted(record_rows.COLUMNS[column.name](rows), column) for column in wanted]
    else:
        made = [_converted(batch_columns.COLUMNS[column.name](rows), column) for column in wanted]
    rows_made: pa.RecordBatch = arrow.RecordBatch.from_arrays(made, schema=arrow.schema([one.field for one in wanted]))
    return rows_made


def _converted(values: ArrowArray, column: Column) -> ArrowArray:
    kind = _TYPES[column.kind]
    if values.type.equals(kind):
        return values
    if pa.types.is_binary(values.type):
        return text_column(values)
    if pa.types.is_timestamp(values.type):
        # Milliseconds, as Kafka has them.
        return values.cast(pa.timestamp("ms", "UTC")).cast(kind)
    return values.cast(kind)
