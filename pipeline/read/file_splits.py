"""Splits of segment files: one a file, or several of a large file, cut at the beginning of a batch.

A task reads its split in pieces of at most PIECE_BYTES, so the memory of a worker does not depend on the size of the
split. A piece ends behind a batch with a right CRC. From the first damaged batch on the rest of the split is cut by
split_segment, because what follows damage depends on all the bytes behind it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pyarrow as pa

from ...protocol.batches.message_sets import MAGIC_V0, MAGIC_V1, magic_of
from ...protocol.batches.record_batch import MAGIC_POSITION
from ..bad_option import BadOption
from ..decode.batch_table import BatchTable, read_batches
from ..decode.decoder import Decoder
from ..decode.row_source import RowSource
from ..decode.views import with_waits
from .committed import AbortedTransactions, remove_aborted
from .file_store import LocalFiles, OpenFile
from .ranges_ahead import read_ranges
from .segment_files import Segment
from .segment_walk import indexed_position, read_index, walk_headers
from .store_attempts import waits_of_process
from .stores import Store

# The bytes of a file that a worker has in memory at a time, beside the rows.
PIECE_BYTES = 32 * 1024 * 1024
# The same for messages of magic 0 and 1, which take twenty times their size when each becomes a batch.
OLD_PIECE_BYTES = 2 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class FileSplit:
    """A range of bytes for one task. source: the wanted offsets.

    aborted: the transactions to leave out; None with read_uncommitted. has_index: whether to look for an offset index.
    """

    source: RowSource
    path: str
    start: int
    end: int
    store: Store
    aborted: AbortedTransactions | None = None
    has_index: bool = True

    def read(self, decoder: Decoder) -> Iterator[pa.RecordBatch]:
        """Yield the rows that the file still has. Raises BadOption if it cannot be read."""
        reported = waits_of_process()
        for rows in self._rows(decoder):
            waits = waits_of_process().since(reported)
            if waits.count and rows.num_rows:
                reported = reported.plus(waits)
                rows = with_waits(rows, waits.count, round(waits.seconds * 1000))
            yield rows

    def _rows(self, decoder: Decoder) -> Iterator[pa.RecordBatch]:
        try:
            with self.store.open(self.path) as file:
                yield from decoder.decode_tables(self._wanted_tables(file))
        except FileNotFoundError:
            # Retention or cleaning has deleted the segment since it was listed, but not the log directory.
            log_directory = os.path.dirname(os.path.dirname(self.path))
            if isinstance(self.store, LocalFiles) and not os.path.isdir(log_directory):
                raise BadOption(f"path: a worker has no {log_directory}; all workers must read it") from None
            return
        except OSError as error:
            raise BadOption(f"path: {self.path} cannot be read: {error.strerror}") from None

    def _wanted_tables(self, file: OpenFile) -> Iterator[tuple[BatchTable, RowSource]]:
        for position, table in self._tables(file, min(self.end, file.size)):
            if self.aborted is not None:
                table = remove_aborted(table, self.aborted.overlapping(self.store, table))
            yield table, replace(self.source, position=position)

    def _segment(self, size: int) -> Segment:
        source = self.source
        return Segment(
            source.topic,
            source.partition,
            source.base_offset_min,
            self.path,
            size,
            store=self.store,
            neighbours=None if self.has_index else frozenset(),
        )

    def _tables(self, file: OpenFile, end: int) -> Iterator[tuple[int, BatchTable]]:
        """Yield the batches up to the position end in pieces, with the position of each piece."""
        position, rest = self.start, b""
        # The ranges of a store are small enough, and looking at the first message would be a request more.
        piece_bytes = PIECE_BYTES if self.store.ahead else _piece_bytes(file, position)
        for content in read_ranges(file, self.start, end, piece_bytes, self.store.ahead):
            data = rest + content if rest else content
            is_last = position + len(data) >= end
            table = self._table_of(data, may_be_cut_off=not is_last)
            if not is_last and not table.has_valid_crc.all():
                break
            read_bytes = int(table.stored_sizes.sum())
            if len(table):
                yield position, table
            position, rest = position + read_bytes, data[read_bytes:]
        else:
            if rest:
                # The file has become shorter since it was opened.
                yield position, self._table_of(rest)
            return
        for start, last in split_segment(self._segment(file.size), position, end, _piece_bytes(file, position)):
            yield start, self._table_of(file.read_at(start, last - start))

    def _table_of(self, content: bytes, *, may_be_cut_off: bool = False) -> BatchTable:
        data = memoryview(content)
        return read_batches(data, base_offset_min=self.source.base_offset_min, may_be_cut_off=may_be_cut_off)


def _piece_bytes(file: OpenFile, position: int) -> int:
    """Return the bytes of a piece. A log has no messages of magic 0 or 1 behind batches of magic 2."""
    magic = magic_of(file.read_at(position, MAGIC_POSITION + 1))
    return OLD_PIECE_BYTES if magic in (MAGIC_V0, MAGIC_V1) else PIECE_BYTES


def split_segment(segment: Segment, start: int, end: int, split_bytes: int) -> list[tuple[int, int]]:
    """Return ranges of about split_bytes from start, the beginning of a batch, to end. Each begins with a batch."""
    if end - start <= split_bytes:
        return [(start, end)] if end > start else []
    cuts = [start]
    index = read_index(segment)
    with segment.store.open(segment.path) as file:
        while end - cuts[-1] > split_bytes:
            goal = cuts[-1] + split_bytes
            cut = indexed_position(file, segment, index, goal)
            if cut is None or cut <= cuts[-1]:
                walk = walk_headers(file, segment, cuts[-1])
                cut = next((batch.position for batch in walk if batch.position >= goal), end)
            if cut >= end:
                break
            cuts.append(cut)
    return list(zip(cuts, [*cuts[1:], end], strict=True))
