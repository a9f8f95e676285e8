"""Splits of segment files: one a file, or several of a large file, cut at the beginning of a batch.

A task reads its split in pieces of PIECE_BYTES, so the memory of a worker does not depend on the size of the split.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pyarrow as pa

from ..bad_option import BadOption
from ..decode.batch_table import read_batches
from ..decode.decoder import Decoder
from ..decode.row_source import RowSource
from .committed import read_aborted_transactions, remove_aborted
from .segment_files import Segment
from .segment_walk import indexed_position, read_index, walk_headers

# The bytes of a file that a worker has in memory at a time, beside the rows.
PIECE_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class FileSplit:
    """A range of bytes for one task. source: the wanted offsets. is_committed: leave out aborted transactions."""

    source: RowSource
    path: str
    start: int
    end: int
    is_committed: bool = False

    def read(self, decoder: Decoder) -> Iterator[pa.RecordBatch]:
        """Yield the rows that the file still has. Raises BadOption if it cannot be read."""
        try:
            pieces = split_segment(self._segment(), self.start, self.end, PIECE_BYTES)
            for start, end in pieces:
                yield from self._read_piece(decoder, start, end)
        except FileNotFoundError:
            # Retention or cleaning has deleted the segment since it was listed.
            return
        except OSError as error:
            raise BadOption(f"path: {self.path} cannot be read: {error.strerror}") from None

    def _segment(self) -> Segment:
        source = self.source
        return Segment(source.topic, source.partition, source.base_offset_min, self.path, os.path.getsize(self.path))

    def _read_piece(self, decoder: Decoder, start: int, end: int) -> Iterator[pa.RecordBatch]:
        source = replace(self.source, position=start)
        with open(self.path, "rb") as file:
            file.seek(start)
            data = memoryview(file.read(end - start))
        table = read_batches(data, base_offset_min=source.base_offset_min)
        if self.is_committed:
            table = remove_aborted(table, read_aborted_transactions(self.path, table))
        yield from decoder.decode_table(table, source)


def split_segment(segment: Segment, start: int, end: int, split_bytes: int) -> list[tuple[int, int]]:
    """Return ranges of about split_bytes from start, the beginning of a batch, to end. Each begins with a batch."""
    if end - start <= split_bytes:
        return [(start, end)] if end > start else []
    cuts = [start]
    index = read_index(segment)
    with open(segment.path, "rb") as file:
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
