"""Splits of segment files: one a file, or several of a large file, cut at the beginning of a batch.

A task reads its split in pieces of PIECE_BYTES, so the memory of a worker does not depend on the size of the split.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pyarrow as pa

from ..bad_option import BadOption
from ..decode.batch_table import read_batches
from ..decode.decoder import Decoder
from ..decode.row_source import RowSource
from .committed import AbortedTransactions, remove_aborted
from .file_store import OpenFile
from .segment_files import Segment
from .segment_walk import indexed_position, read_index, walk_headers
from .stores import Store

# The bytes of a file that a worker has in memory at a time, beside the rows.
PIECE_BYTES = 32 * 1024 * 1024


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
        try:
            with self.store.open(self.path) as file:
                for start, end in split_segment(self._segment(file.size), self.start, self.end, PIECE_BYTES):
                    yield from self._read_piece(file, decoder, start, end)
        except FileNotFoundError:
            # Retention or cleaning has deleted the segment since it was listed.
            return
        except OSError as error:
            raise BadOption(f"path: {self.path} cannot be read: {error.strerror}") from None

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

    def _read_piece(self, file: OpenFile, decoder: Decoder, start: int, end: int) -> Iterator[pa.RecordBatch]:
        source = replace(self.source, position=start)
        data = memoryview(file.read_at(start, end - start))
        table = read_batches(data, base_offset_min=source.base_offset_min)
        if self.aborted is not None:
            table = remove_aborted(table, self.aborted.overlapping(self.store, table))
        yield from decoder.decode_table(table, source)


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
