"""The columns of the records view: fields of the record, and fields of its batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from ...protocol.batches.record_batch import COMPRESSION_MASK, CONTROL_BIT, TIMESTAMP_TYPE_BIT, TRANSACTIONAL_BIT
from ...protocol.sequences import NO_SEQUENCE
from .arrow_columns import (
    HEADERS,
    ConstantColumns,
    boolean_column,
    bytes_column,
    chosen_column,
    headers_column,
    number_column,
    timestamp_column,
)
from .arrow_types import ArrowArray
from .batch_columns import CODEC_NAMES, damage_column, sequences
from .batch_table import BatchTable
from .record_columns import RecordColumns
from .row_source import RowSource
from .varints import Booleans, Longs


@dataclass
class RecordRows:
    """The rows of the records view: one for each record and each damaged batch."""

    table: BatchTable
    columns: RecordColumns
    source: RowSource
    constants: ConstantColumns

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.columns.batches)

    @cached_property
    def batches(self) -> slice:
        """The range of the rows' batches in the table."""
        batches = self.columns.batches
        return slice(int(batches[0]), int(batches[-1]) + 1) if len(batches) else slice(0, 0)

    @cached_property
    def batch_of_row(self) -> Longs:
        """The index of each row's batch within batches."""
        first: int = self.batches.start
        return self.columns.batches - first

    @cached_property
    def is_no_record(self) -> Booleans | None:
        """Whether each row is for a damaged batch; None if no row is."""
        return None if self.columns.is_record.all() else ~self.columns.is_record

    @cached_property
    def has_no_header(self) -> Booleans | None:
        """Whether each row is for bytes that are not a batch; None if no row is."""
        has_header = self.table.has_header[self.batches]
        return None if has_header.all() else ~has_header[self.batch_of_row]

    @cached_property
    def offsets(self) -> Longs:
        """The offset of each row; the base offset for a damaged batch."""
        return self.of_batch("base_offset")[self.batch_of_row] + self.columns.offset_deltas

    def of_batch(self, name: str) -> Longs:
        """Return a header field of each batch."""
        return self.table.headers[name][self.batches].astype(np.int64)

    def constant(self, name: str, value: str | int | None, kind: pa.DataType) -> ArrowArray:
        """Return a column of equal values."""
        return self.constants.column(name, value, kind, len(self))

    def spread(self, name: str, values: Longs | Booleans, kind: pa.DataType) -> ArrowArray:
        """Return a column of a batch field. values: one a batch, mostly all equal."""
        if self.has_no_header is None and len(values) and (values == values[0]).all():
            return self.constant(name, values[0].item(), kind)
        return number_column(values[self.batch_of_row], kind, self.has_no_header)


def _timestamp(rows: RecordRows) -> ArrowArray:
    """Return the timestamp of each record: with LogAppendTime the max_timestamp of its batch."""
    batch_of_row = rows.batch_of_row
    milliseconds = rows.of_batch("base_timestamp")[batch_of_row] + rows.columns.timestamp_deltas
    is_log_append_time = rows.of_batch("attributes") & TIMESTAMP_TYPE_BIT != 0
    if is_log_append_time.any():
        max_timestamps = rows.of_batch("max_timestamp")[batch_of_row]
        milliseconds = np.where(is_log_append_time[batch_of_row], max_timestamps, milliseconds)
    return timestamp_column(milliseconds, rows.is_no_record)


def _timestamp_type(rows: RecordRows) -> ArrowArray:
    types = (rows.of_batch("attributes") & TIMESTAMP_TYPE_BIT != 0).astype(np.int64)
    return rows.spread("timestamp_type", types, pa.int32())


def _headers(rows: RecordRows) -> ArrowArray:
    columns = rows.columns
    if not len(columns.header_keys.starts):
        return rows.constant("headers", None, HEADERS)
    return headers_column(columns.data, columns.header_counts, columns.header_keys, columns.header_values)


def _field(name: str, kind: pa.DataType, header_name: str | None = None) -> Callable[[RecordRows], ArrowArray]:
    return lambda rows: rows.spread(name, rows.of_batch(header_name or name), kind)


def _bit(name: str, mask: int) -> Callable[[RecordRows], ArrowArray]:
    return lambda rows: rows.spread(name, rows.of_batch("attributes") & mask != 0, pa.bool_())


def _sequence(rows: RecordRows) -> ArrowArray:
    base_sequences = rows.of_batch("base_sequence")
    if rows.is_no_record is None and (base_sequences == NO_SEQUENCE).all():
        return rows.constant("sequence", NO_SEQUENCE, pa.int32())
    made = sequences(base_sequences[rows.batch_of_row], rows.columns.offset_deltas)
    return number_column(made, pa.int32(), rows.is_no_record)


def _codec(rows: RecordRows) -> ArrowArray:
    codecs = rows.of_batch("attributes") & COMPRESSION_MASK
    if rows.has_no_header is None and len(codecs) and (codecs == codecs[0]).all():
        return rows.constant("codec", CODEC_NAMES[int(codecs[0])], pa.string())
    return chosen_column(CODEC_NAMES, codecs[rows.batch_of_row], rows.has_no_header)


def _valid_crc(rows: RecordRows) -> ArrowArray:
    has_valid_crc = rows.table.has_valid_crc[rows.batches]
    if has_valid_crc.all():
        return rows.constant("valid_crc", True, pa.bool_())
    return boolean_column(has_valid_crc[rows.batch_of_row])


def _damage(rows: RecordRows) -> ArrowArray:
    if rows.is_no_record is None:
        return rows.constant("damage", None, pa.string())
    return damage_column(rows.table, rows.columns.batches)


_COLUMNS: dict[str, tuple[str, Callable[[RecordRows], ArrowArray]]] = {
    "topic": ("string", lambda rows: rows.constant("topic", rows.source.topic, pa.string())),
    "partition": ("int", lambda rows: rows.constant("partition", rows.source.partition, pa.int32())),
    "offset": ("bigint", lambda rows: number_column(rows.offsets, pa.int64(), rows.has_no_header)),
    "timestamp": ("timestamp", _timestamp),
    "timestamp_type": ("int", _timestamp_type),
    "key": ("binary", lambda rows: bytes_column(rows.columns.data, rows.columns.keys)),
    "value": ("binary", lambda rows: bytes_column(rows.columns.data, rows.columns.values)),
    "headers": ("array<struct<key:string,value:binary>>", _headers),
    "producer_id": ("bigint", _field("producer_id", pa.int64())),
    "producer_epoch": ("int", _field("producer_epoch", pa.int32())),
    "sequence": ("int", _sequence),
    "base_sequence": ("int", _field("base_sequence", pa.int32())),
    "batch_base_offset": ("bigint", _field("batch_base_offset", pa.int64(), "base_offset")),
    "is_transactional": ("boolean", _bit("is_transactional", TRANSACTIONAL_BIT)),
    "is_control": ("boolean", _bit("is_control", CONTROL_BIT)),
    "leader_epoch": ("int", _field("leader_epoch", pa.int32())),
    "codec": ("string", _codec),
    "valid_crc": ("boolean", _valid_crc),
    "damage": ("string", _damage),
}
KINDS = {name: kind for name, (kind, _) in _COLUMNS.items()}
COLUMNS = {name: make for name, (_, make) in _COLUMNS.items()}
