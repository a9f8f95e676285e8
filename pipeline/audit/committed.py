"""What readers of committed records see: no records of aborted transactions, and nothing behind an open one's begin.

A broker says with each answer which transactions were aborted, and where the last stable offset is. Beside a segment
file that is in its transaction index; where the last stable offset is, the batches behind the newest producer snapshot
tell.
Source: CompletedFetch.nextFetchedRecord and ProducerStateManager.firstUnstableOffset, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...protocol.batches.record_batch import CONTROL_BIT, TRANSACTIONAL_BIT
from ...storage.corrupt_file import CorruptFileError
from ...storage.log_files import LOG_SUFFIX, SNAPSHOT_SUFFIX, TRANSACTION_INDEX_SUFFIX, base_offset_of
from ...storage.producers.producer_snapshot import decode_snapshot
from ..decode.batch_table import BatchTable
from ..decode.row_source import OFFSET_MAX
from ..decode.varints import Booleans
from ..source.segment_files import Segment
from ..source.segment_walk import walk_headers

_INDEX_ENTRY = np.dtype(
    [
        ("version", ">i2"),
        ("producer_id", ">i8"),
        ("first_offset", ">i8"),
        ("last_offset", ">i8"),
        ("last_stable_offset", ">i8"),
    ]
)


class Aborted(NamedTuple):
    """An aborted transaction of a partition: its producer, the offset of its first batch, and its marker's if known."""

    producer_id: int
    first_offset: int
    last_offset: int = OFFSET_MAX


def without_aborted(table: BatchTable, aborted: Sequence[Aborted]) -> BatchTable:
    """Return the batches of a piece of log, in order, that are in none of these transactions; markers stay.

    A transaction reaches up to its producer's next marker, or beyond the piece if there is none in it.
    """
    if not aborted or not len(table):
        return table
    base_offsets, producer_ids = table.numbers("base_offset"), table.numbers("producer_id")
    attributes = table.numbers("attributes")
    is_marker = table.has_valid_crc & (attributes & CONTROL_BIT != 0)
    is_part = table.has_valid_crc & (attributes & TRANSACTIONAL_BIT != 0) & ~is_marker
    is_aborted: Booleans = np.zeros(len(table), np.bool_)
    for producer_id, first_offset, last_offset in aborted:
        its = (producer_ids == producer_id) & (base_offsets >= first_offset) & (base_offsets <= last_offset)
        ends = base_offsets[its & is_marker]
        if len(ends):
            its &= base_offsets < ends[0]
        is_aborted |= its & is_part
    return table.chosen(~is_aborted) if is_aborted.any() else table


def aborted_in_files(path: str, table: BatchTable) -> list[Aborted]:
    """Return the aborted transactions that the batches of a segment file may be of.

    They stand in the index of the segment that has the marker, which is this one or a later one. Of a folder without
    indexes none are known.
    """
    if not len(table):
        return []
    segment = Path(path)
    base_offset = base_offset_of(segment.name, LOG_SUFFIX)
    assert base_offset is not None, "a segment file has the name of one"
    bases = table.numbers("base_offset")[table.has_valid_crc]
    if not len(bases):
        return []
    found: list[Aborted] = []
    for index in sorted(segment.parent.glob(f"*{TRANSACTION_INDEX_SUFFIX}")):
        if (base_offset_of(index.name, TRANSACTION_INDEX_SUFFIX) or 0) >= base_offset:
            content = index.read_bytes()
            entries = np.frombuffer(content, _INDEX_ENTRY, count=len(content) // _INDEX_ENTRY.itemsize)
            is_near = (entries["last_offset"] >= int(bases.min())) & (entries["first_offset"] <= int(bases.max()))
            names = ("producer_id", "first_offset", "last_offset")
            found += [Aborted(*(int(one[name]) for name in names)) for one in entries[is_near]]
    return found


class FirstBatch(NamedTuple):
    """Where a transaction begins: an offset, and the batch's place in the files."""

    offset: int
    segment: int
    position: int


@dataclass(slots=True)
class OpenTransactions:
    """The transactions of a partition's files that no marker has ended yet; it goes on where it was."""

    begun: dict[int, FirstBatch] = field(default_factory=dict[int, FirstBatch])
    # The segment and the position in it up to which was looked.
    segment: int = -1
    position: int = 0

    def look(self, segments: Sequence[Segment]) -> FirstBatch | None:
        """Look through what is new, and return where the earliest open transaction begins."""
        for segment in self._new(segments):
            start = self.position if segment.base_offset == self.segment else 0
            self._walk(segment, start)
        return min(self.begun.values(), default=None)

    def _new(self, segments: Sequence[Segment]) -> Sequence[Segment]:
        if self.segment < 0:
            return segments[_first_to_walk(segments) :]
        return [segment for segment in segments if segment.base_offset >= self.segment]

    def _walk(self, segment: Segment, start: int) -> None:
        self.segment, self.position = segment.base_offset, start
        with open(segment.path, "rb") as file:
            for batch in walk_headers(file, segment, start):
                header = batch.header
                if header.is_control:
                    self.begun.pop(header.producer_id, None)
                elif header.is_transactional:
                    begin = FirstBatch(header.base_offset, segment.base_offset, batch.position)
                    self.begun.setdefault(header.producer_id, begin)
                self.position = batch.position + header.size


def _first_to_walk(segments: Sequence[Segment]) -> int:
    """Return the number of the first segment from which on all open transactions are seen to begin.

    A snapshot at the beginning of a segment says which were open there.
    """
    for number in range(len(segments) - 1, 0, -1):
        opened = _open_at(segments[number])
        if opened is None:
            continue
        earliest = min(opened, default=segments[number].base_offset)
        return max(at for at in range(number + 1) if at == 0 or segments[at].base_offset <= earliest)
    return 0


def _open_at(segment: Segment) -> Iterable[int] | None:
    """Return the first offsets of the transactions that were open where a segment begins; None if nothing tells."""
    snapshot = Path(segment.path.removesuffix(LOG_SUFFIX) + SNAPSHOT_SUFFIX)
    try:
        entries = decode_snapshot(snapshot.read_bytes())
    except (OSError, CorruptFileError):
        return None
    return [entry.current_txn_first_offset for entry in entries if entry.current_txn_first_offset is not None]
