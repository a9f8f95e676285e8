"""The columns of the records view: what is a record's own, and what its batch says of all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from ..protocol.record_batch import COMPRESSION_MASK, CONTROL_BIT, TIMESTAMP_TYPE_BIT, TRANSACTIONAL_BIT
from .arrow_columns import (
    boolean_column,
    bytes_column,
    chosen_column,
    constant_column,
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
    """Records to be made rows of, a row each, and a row for each damaged batch."""

    table: BatchTable
    columns: RecordColumns
    source: RowSource

    def __len__(self) -> int:
        """Return how many rows there are."""
        return len(self.columns.batches)

    def of_batch(self, numbers: Longs) -> Longs:
        """Return for each row the number of its batch."""
        return numbers[self.columns.batches]

    @cached_property
    def is_no_record(self) -> Booleans | None:
        """Which rows are of damaged batches; None if there are none."""
        return None if self.columns.is_record.all() else ~self.columns.is_record

    @cached_property
    def has_no_header(self) -> Booleans | None:
        """Which rows are of bytes that are no batch; None if there are none."""
        return None if self.table.has_header.all() else ~self.table.has_header[self.columns.batches]

    @cached_property
    def offsets(self) -> Longs:
        """The offset of each row; a damaged batch has its base offset."""
        return self.of_batch(self.table.numbers("base_offset")) + self.columns.offset_deltas

    def numbers(self, name: str, kind: pa.DataType) -> ArrowArray:
        """Return a field of the batch's header for each row."""
        return number_column(self.of_batch(self.table.numbers(name)), kind, self.has_no_header)

    def bits(self, mask: int) -> ArrowArray:
        """Return for each row whether bits of its batch's attributes are set."""
        is_set = self.table.numbers("attributes") & mask != 0
        return boolean_column(is_set[self.columns.batches], self.has_no_header)


def _topic(rows: RecordRows) -> ArrowArray:
    return constant_column(rows.source.topic, pa.string(), len(rows))


def _partition(rows: RecordRows) -> ArrowArray:
    return constant_column(rows.source.partition, pa.int32(), len(rows))


def _offset(rows: RecordRows) -> ArrowArray:
    return number_column(rows.offsets, pa.int64(), rows.has_no_header)


def _timestamp(rows: RecordRows) -> ArrowArray:
    """Return the records' timestamps: the batch's greatest one for all records where the log's time counts."""
    table = rows.table
    milliseconds = rows.of_batch(table.numbers("base_timestamp")) + rows.columns.timestamp_deltas
    is_log_append_time = table.numbers("attributes") & TIMESTAMP_TYPE_BIT != 0
    if is_log_append_time.any():
        max_timestamps = rows.of_batch(table.numbers("max_timestamp"))
        milliseconds = np.where(is_log_append_time[rows.columns.batches], max_timestamps, milliseconds)
    return timestamp_column(milliseconds, rows.is_no_record)


def _timestamp_type(rows: RecordRows) -> ArrowArray:
    types = (rows.table.numbers("attributes") & TIMESTAMP_TYPE_BIT != 0).astype(np.int64)
    return number_column(rows.of_batch(types), pa.int32(), rows.has_no_header)


def _key(rows: RecordRows) -> ArrowArray:
    return bytes_column(rows.columns.data, rows.columns.keys)


def _value(rows: RecordRows) -> ArrowArray:
    return bytes_column(rows.columns.data, rows.columns.values)


def _headers(rows: RecordRows) -> ArrowArray:
    columns = rows.columns
    return headers_column(columns.data, columns.header_counts, columns.header_keys, columns.header_values)


def _field(name: str, kind: pa.DataType) -> Callable[[RecordRows], ArrowArray]:
    return lambda rows: rows.numbers(name, kind)


def _bit(mask: int) -> Callable[[RecordRows], ArrowArray]:
    return lambda rows: rows.bits(mask)


def _sequence(rows: RecordRows) -> ArrowArray:
    base_sequences = rows.of_batch(rows.table.numbers("base_sequence"))
    return number_column(sequences(base_sequences, rows.columns.offset_deltas), pa.int32(), rows.is_no_record)


def _codec(rows: RecordRows) -> ArrowArray:
    codecs = rows.of_batch(rows.table.numbers("attributes") & COMPRESSION_MASK)
    return chosen_column(CODEC_NAMES, codecs, rows.has_no_header)


def _valid_crc(rows: RecordRows) -> ArrowArray:
    return boolean_column(rows.table.has_valid_crc[rows.columns.batches])


def _damage(rows: RecordRows) -> ArrowArray:
    if rows.is_no_record is None:
        return constant_column(None, pa.string(), len(rows))
    return damage_column(rows.table, rows.columns.batches)


_MADE: dict[str, tuple[str, Callable[[RecordRows], ArrowArray]]] = {
    "topic": ("string", _topic),
    "partition": ("int", _partition),
    "offset": ("bigint", _offset),
    "timestamp": ("timestamp", _timestamp),
    "timestamp_type": ("int", _timestamp_type),
    "key": ("binary", _key),
    "value": ("binary", _value),
    "headers": ("array<struct<key:string,value:binary>>", _headers),
    "producer_id": ("bigint", _field("producer_id", pa.int64())),
    "producer_epoch": ("int", _field("producer_epoch", pa.int32())),
    "sequence": ("int", _sequence),
    "base_sequence": ("int", _field("base_sequence", pa.int32())),
    "batch_base_offset": ("bigint", _field("base_offset", pa.int64())),
    "is_transactional": ("boolean", _bit(TRANSACTIONAL_BIT)),
    "is_control": ("boolean", _bit(CONTROL_BIT)),
    "leader_epoch": ("int", _field("leader_epoch", pa.int32())),
    "codec": ("string", _codec),
    "valid_crc": ("boolean", _valid_crc),
    "damage": ("string", _damage),
}
KINDS = {name: kind for name, (kind, _) in _MADE.items()}
COLUMNS = {name: make for name, (_, make) in _MADE.items()}
