"""The columns of the batches view: the fields of a header and values derived from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from ...protocol.batches.control_records import decode_marker
from ...protocol.batches.record_batch import (
    COMPRESSION_MASK,
    CONTROL_BIT,
    DELETE_HORIZON_BIT,
    TIMESTAMP_TYPE_BIT,
    TRANSACTIONAL_BIT,
    parse_header,
)
from ...protocol.sequences import MAX_SEQUENCE, NO_SEQUENCE
from .arrow_columns import boolean_column, chosen_column, constant_column, number_column, timestamp_column
from .arrow_types import ArrowArray
from .batch_table import BatchTable
from .row_source import RowSource
from .varints import Booleans, Longs

# Kafka's names by codec number. The three bits can hold more numbers than there are codecs.
CODEC_NAMES: list[str | None] = ["none", "gzip", "snappy", "lz4", "zstd", None, None, None]


@dataclass
class BatchRows:
    """The rows of the batches view: one for each batch."""

    table: BatchTable
    source: RowSource

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.table)

    @cached_property
    def has_no_header(self) -> Booleans | None:
        """Whether each row is for bytes that are not a batch; None if no row is."""
        return None if self.table.has_header.all() else ~self.table.has_header

    @cached_property
    def attributes(self) -> Longs:
        """The attributes of each batch."""
        return self.table.numbers("attributes")


def sequences(base_sequences: Longs, deltas: Longs) -> Longs:
    """Return base sequence + delta, where 2147483647 is followed by 0; NO_SEQUENCE for a batch without a producer."""
    return np.where(base_sequences >= 0, (base_sequences + deltas) & MAX_SEQUENCE, NO_SEQUENCE)


def _markers(rows: BatchRows) -> list[tuple[str, int] | None]:
    """Return `commit` or `abort` and the coordinator epoch of each transaction marker; None for other batches."""
    table = rows.table
    markers: list[tuple[str, int] | None] = [None] * len(table)
    is_marker = (rows.attributes & CONTROL_BIT != 0) & table.has_valid_crc & table.has_header
    for index in np.flatnonzero(is_marker).tolist():
        position = int(table.positions[index])
        batch = table.data[position : position + int(table.sizes[index])]
        marker = decode_marker(parse_header(batch), batch)
        if marker is not None:
            markers[index] = ("commit" if marker.is_commit else "abort", marker.coordinator_epoch)
    return markers


def damage_column(table: BatchTable, batches: Longs) -> ArrowArray:
    """Return the damage of the batch of each row. batches: indices in the table."""
    if not table.damage:
        return constant_column(None, pa.string(), len(batches))
    return pa.array([table.damage.get(index) for index in batches.tolist()], pa.string())


def _codec(rows: BatchRows) -> ArrowArray:
    return chosen_column(CODEC_NAMES, rows.attributes & COMPRESSION_MASK, rows.has_no_header)


def _timestamp_type(rows: BatchRows) -> ArrowArray:
    return number_column((rows.attributes & TIMESTAMP_TYPE_BIT != 0).astype(np.int64), pa.int32(), rows.has_no_header)


def _marker_column(field: int, kind: pa.DataType) -> Callable[[BatchRows], ArrowArray]:
    return lambda rows: pa.array([None if marker is None else marker[field] for marker in _markers(rows)], kind)


def _position(rows: BatchRows) -> ArrowArray:
    if rows.source.file is None:
        return constant_column(None, pa.int64(), len(rows))
    return number_column(rows.table.stored_positions + rows.source.position, pa.int64())


def _timestamp(name: str) -> Callable[[BatchRows], ArrowArray]:
    return lambda rows: timestamp_column(rows.table.numbers(name), rows.has_no_header)


def _field(name: str, kind: pa.DataType) -> Callable[[BatchRows], ArrowArray]:
    return lambda rows: number_column(rows.table.numbers(name), kind, rows.has_no_header)


def _bit(mask: int) -> Callable[[BatchRows], ArrowArray]:
    return lambda rows: boolean_column(rows.attributes & mask != 0, rows.has_no_header)


def _last(base_name: str, kind: pa.DataType, add: Callable[[Longs, Longs], Longs]) -> Callable[[BatchRows], ArrowArray]:
    return lambda rows: number_column(
        add(rows.table.numbers(base_name), rows.table.numbers("last_offset_delta")), kind, rows.has_no_header
    )


_COLUMNS: dict[str, tuple[str, Callable[[BatchRows], ArrowArray]]] = {
    "topic": ("string", lambda rows: constant_column(rows.source.topic, pa.string(), len(rows))),
    "partition": ("int", lambda rows: constant_column(rows.source.partition, pa.int32(), len(rows))),
    "base_offset": ("bigint", _field("base_offset", pa.int64())),
    "last_offset": ("bigint", _last("base_offset", pa.int64(), np.add)),
    "leader_epoch": ("int", _field("leader_epoch", pa.int32())),
    "magic": ("int", _field("magic", pa.int32())),
    "crc": ("bigint", _field("crc", pa.int64())),
    "attributes": ("int", _field("attributes", pa.int32())),
    "codec": ("string", _codec),
    "timestamp_type": ("int", _timestamp_type),
    "is_transactional": ("boolean", _bit(TRANSACTIONAL_BIT)),
    "is_control": ("boolean", _bit(CONTROL_BIT)),
    "has_delete_horizon": ("boolean", _bit(DELETE_HORIZON_BIT)),
    "last_offset_delta": ("int", _field("last_offset_delta", pa.int32())),
    "base_timestamp": ("timestamp", _timestamp("base_timestamp")),
    "max_timestamp": ("timestamp", _timestamp("max_timestamp")),
    "producer_id": ("bigint", _field("producer_id", pa.int64())),
    "producer_epoch": ("int", _field("producer_epoch", pa.int32())),
    "base_sequence": ("int", _field("base_sequence", pa.int32())),
    "last_sequence": ("int", _last("base_sequence", pa.int32(), sequences)),
    "records_count": ("int", _field("records_count", pa.int32())),
    "control_type": ("string", _marker_column(0, pa.string())),
    "coordinator_epoch": ("int", _marker_column(1, pa.int32())),
    "batch_bytes": ("bigint", lambda rows: number_column(rows.table.stored_sizes, pa.int64())),
    "valid_crc": ("boolean", lambda rows: boolean_column(rows.table.has_valid_crc)),
    "damage": ("string", lambda rows: damage_column(rows.table, np.arange(len(rows)))),
    "file": ("string", lambda rows: constant_column(rows.source.file, pa.string(), len(rows))),
    "position": ("bigint", _position),
}
KINDS = {name: kind for name, (kind, _) in _COLUMNS.items()}
COLUMNS = {name: make for name, (_, make) in _COLUMNS.items()}
