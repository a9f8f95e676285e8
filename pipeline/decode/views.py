"""The views of a log: their columns and the types in which a column can be requested.

A row of the batches view is a batch. A row of the records view is a record or a damaged batch. The view id_hashes is
for the audit itself (id_hash_rows.py).
All views also have WAIT_COLUMNS, which are only returned if they are requested: they describe the reading and no row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import pyarrow as pa

from ..bad_option import BadOption
from . import batch_columns, id_hash_rows, record_rows
from .arrow_columns import HEADERS, TIMESTAMP, constant_column, text_column
from .arrow_types import ArrowArray, ArrowField, arrow
from .batch_columns import BatchRows
from .id_hash_rows import IdHashRows
from .record_rows import RecordRows

ViewName = Literal["records", "batches", "id_hashes"]

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
ID_HASH_COLUMNS = tuple(Column(name, kind) for name, kind in id_hash_rows.KINDS.items())
_COLUMNS: dict[ViewName, tuple[Column, ...]] = {
    "records": RECORD_COLUMNS,
    "batches": BATCH_COLUMNS,
    "id_hashes": ID_HASH_COLUMNS,
}

# The requests to a store that were sent again for the rows up to this one, since the last row that has a number. The
# decoder returns 0; with_waits sets them.
REPEATED_REQUESTS, WAITED_MS = "repeated_requests", "waited_ms"
WAIT_COLUMNS = (Column(REPEATED_REQUESTS, "int"), Column(WAITED_MS, "bigint"))


def columns_of(view: ViewName) -> tuple[Column, ...]:
    """Return all columns of a view, in order."""
    return _COLUMNS[view]


def schema_of(view: ViewName) -> str:
    """Return the schema of a view as a DDL string of Spark."""
    return ", ".join(f"{column.name} {column.kind}" for column in columns_of(view))


def check_columns(view: ViewName, wanted: Sequence[Column]) -> None:
    """Raise BadOption if the view has no such column, or not in that type."""
    kinds = {column.name: column.kind for column in columns_of(view)}
    waits = {column.name: column.kind for column in WAIT_COLUMNS}
    for column in wanted:
        kind = kinds.get(column.name) or waits.get(column.name)
        if kind is None:
            raise BadOption(f"schema: the view {view} has no column {column.name}; it has {', '.join(kinds)}")
        allowed = (kind, *_ALLOWED.get(kind, ()))
        if column.kind not in allowed:
            raise BadOption(f"schema: {column.name} must be {' or '.join(allowed)}, not {column.kind}")


def record_batch_of(rows: RecordRows | BatchRows | IdHashRows, wanted: Sequence[Column]) -> pa.RecordBatch:
    """Return rows with the wanted columns, which check_columns has validated."""
    arrays = [_converted(_column_of(rows, column.name), column) for column in wanted]
    schema = arrow.schema([column.field for column in wanted])
    record_batch: pa.RecordBatch = arrow.RecordBatch.from_arrays(arrays, schema=schema)
    return record_batch


def _column_of(rows: RecordRows | BatchRows | IdHashRows, name: str) -> ArrowArray:
    if name in (REPEATED_REQUESTS, WAITED_MS):
        return constant_column(0, pa.int64(), len(rows))
    match rows:
        case RecordRows():
            return record_rows.COLUMNS[name](rows)
        case BatchRows():
            return batch_columns.COLUMNS[name](rows)
        case IdHashRows():
            return rows.column(name)


def with_waits(rows: pa.RecordBatch, repeated_requests: int, waited_ms: int) -> pa.RecordBatch:
    """Return the rows with these values in the first of them, in the requested WAIT_COLUMNS. rows: at least one."""
    made: Any = rows
    arrays: list[ArrowArray] = list(made.columns)
    for name, value in ((REPEATED_REQUESTS, repeated_requests), (WAITED_MS, waited_ms)):
        at: int = made.schema.get_field_index(name)
        if at >= 0:
            arrays[at] = arrow.array([value, *[0] * (rows.num_rows - 1)], made.schema.field(at).type)
    return cast("pa.RecordBatch", arrow.RecordBatch.from_arrays(arrays, schema=made.schema))


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
