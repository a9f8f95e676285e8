"""Decoding of log bytes to Arrow record batches, for segment files and Fetch responses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from .arrow_columns import ConstantColumns
from .batch_columns import BatchRows
from .batch_table import BatchTable, read_batches
from .id_hash_rows import IdHashRows, are_events
from .id_hashes import HashedId, HashSet, hash_rows
from .record_columns import RECORDS_TOGETHER, read_records
from .record_rows import RecordRows
from .row_source import RowSource
from .varints import Booleans
from .views import Column, ViewName, record_batch_of

# The rows of an Arrow batch; bounds the memory of Spark's column vectors.
ROWS_MAX = 64 * 1024
# The event ids whose hashes make rows together: 8 bytes each, and a row for each task that gets some of them.
_HASHES_TOGETHER = 4_000_000


@dataclass(frozen=True, slots=True)
class Decoder:
    """Decodes bytes to rows of a view.

    columns: the wanted ones, validated by views.check_columns. hashed: the event id of the view id_hashes and of
    wanted. wanted: the records view has only events whose hash is in it; None for all rows.
    """

    view: ViewName
    columns: Sequence[Column]
    hashed: HashedId | None = None
    wanted: HashSet | None = None

    def decode(self, data: memoryview, source: RowSource) -> Iterator[pa.RecordBatch]:
        """Yield the rows of data, a piece of a segment file that begins with a batch."""
        yield from self.decode_table(read_batches(data, base_offset_min=source.base_offset_min), source)

    def decode_table(self, table: BatchTable, source: RowSource) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a table from read_batches."""
        yield from self.decode_tables([(table, source)])

    def decode_tables(self, tables: Iterable[tuple[BatchTable, RowSource]]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of tables of one partition, with their sources. The view id_hashes has few for many tables."""
        wanted = (
            (_wanted_batches(table, source, are_records_wanted=self.view != "batches"), source)
            for table, source in tables
        )
        match self.view:
            case "batches":
                for table, source in wanted:
                    yield from _in_parts(record_batch_of(BatchRows(table, source), self.columns))
            case "records":
                for table, source in wanted:
                    yield from self._records(table, source)
            case "id_hashes":
                yield from self._id_hashes(wanted)

    def _records(self, table: BatchTable, source: RowSource) -> Iterator[pa.RecordBatch]:
        for rows in _record_rows(table, source):
            is_wanted = _are_wanted(rows, source)
            if self.wanted is not None and self.hashed is not None:
                hashes = hash_rows(rows.columns, self.hashed, source.topic)
                is_chosen = hashes.has_id & self.wanted.are_there(hashes.hashes) & are_events(rows)
                is_wanted = is_chosen if is_wanted is None else is_chosen & is_wanted
                if not is_wanted.any():
                    continue
            made = record_batch_of(rows, self.columns)
            yield from _in_parts(made if is_wanted is None else made.filter(pa.array(is_wanted)))

    def _id_hashes(self, tables: Iterable[tuple[BatchTable, RowSource]]) -> Iterator[pa.RecordBatch]:
        assert self.hashed is not None, "the options of the view name an event id"
        found: IdHashRows | None = None
        for table, source in tables:
            found = IdHashRows(self.hashed, source) if found is None else found
            for rows in _record_rows(table, source):
                found.add(rows, _are_wanted(rows, source))
            if found.with_id >= _HASHES_TOGETHER:
                yield record_batch_of(found, self.columns)
                found = None
        if found is not None:
            yield record_batch_of(found, self.columns)


def _record_rows(table: BatchTable, source: RowSource) -> Iterator[RecordRows]:
    constants = ConstantColumns(RECORDS_TOGETHER)
    for columns in read_records(table):
        yield RecordRows(table, columns, source, constants)


def _wanted_batches(table: BatchTable, source: RowSource, *, are_records_wanted: bool) -> BatchTable:
    """Return the batches within the offsets of source, and all bytes that are not a batch.

    A piece of a file is cut by position, so a damaged batch in it is wanted whatever offset its header has.
    """
    if source.is_whole:
        return table
    base_offsets = table.numbers("base_offset")
    reached = base_offsets
    if are_records_wanted or source.is_first:
        reached = base_offsets + np.maximum(table.numbers("last_offset_delta"), 0)
    is_wanted = (reached >= source.start_offset) & (base_offsets < source.end_offset)
    is_damaged = ~table.has_header if source.file is None else ~table.has_valid_crc
    return table.filter(is_wanted | is_damaged)


def _are_wanted(rows: RecordRows, source: RowSource) -> Booleans | None:
    """Return which rows are within the offsets of source; None for all."""
    if source.is_whole:
        return None
    is_wanted = (rows.offsets >= source.start_offset) & (rows.offsets < source.end_offset)
    if is_wanted.all():
        return None
    # A damaged batch is also wanted if it begins before the range and reaches into it.
    if rows.is_no_record is not None:
        is_wanted |= rows.is_no_record & ((rows.offsets < source.start_offset) & source.is_first)
        if rows.has_no_header is not None:
            is_wanted |= rows.has_no_header
        if source.file is not None:
            is_wanted |= ~rows.table.has_valid_crc[rows.batches][rows.batch_of_row]
    return is_wanted


def _in_parts(rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    for start in range(0, rows.num_rows, ROWS_MAX):
        yield rows.slice(start, ROWS_MAX)
