"""Isolation level read_committed: removal of aborted transactions, and the end of reading at an open transaction.

A Fetch response lists the aborted transactions and the last stable offset. For segment files the transaction index
lists aborted transactions. Open transactions are found by a walk of the batches behind the newest producer snapshot.
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
from .segment_files import Segment
from .segment_walk import walk_headers

_INDEX_ENTRY = np.dtype(
    [
        ("version", ">i2"),
        ("producer_id", ">i8"),
        ("first_offset", ">i8"),
        ("last_offset", ">i8"),
        ("last_stable_offset", ">i8"),
    ]
)


class AbortedTransaction(NamedTuple):
    """An aborted transaction of a partition. last_offset: of its marker, if known."""

    producer_id: int
    first_offset: int
    last_offset: int = OFFSET_MAX


def remove_aborted(table: BatchTable, aborted: Sequence[AbortedTransaction]) -> BatchTable:
    """Return the batches of a table that are in none of the transactions. Keeps their order and all markers.

    A transaction ends at its producer's next marker, or behind the table if the table has none.
    """
    if not aborted or not len(table):
        return table
    base_offsets, producer_ids = table.numbers("base_offset"), table.numbers("producer_id")
    attributes = table.numbers("attributes")
    is_marker = table.has_valid_crc & (attributes & CONTROL_BIT != 0)
    is_part = table.has_valid_crc & (attributes & TRANSACTIONAL_BIT != 0) & ~is_marker
    is_aborted: Booleans = np.zeros(len(table), np.bool_)
    for producer_id, first_offset, last_offset in aborted:
        in_range = (producer_ids == producer_id) & (base_offsets >= first_offset) & (base_offsets <= last_offset)
        marker_offsets = base_offsets[in_range & is_marker]
        if len(marker_offsets):
            in_range &= base_offsets < marker_offsets[0]
        is_aborted |= in_range & is_part
    return table.filter(~is_aborted) if is_aborted.any() else table


def read_aborted_transactions(path: str, table: BatchTable) -> list[AbortedTransaction]:
    """Return the aborted transactions that overlap the batches of a segment file.

    Reads the transaction indexes of this and all later segments, because the segment of the marker has the entry.
    Returns none for a folder without transaction indexes.
    """
    if not len(table):
        return []
    segment = Path(path)
    base_offset = base_offset_of(segment.name, LOG_SUFFIX)
    assert base_offset is not None, "path is a segment file"
    bases = table.numbers("base_offset")[table.has_valid_crc]
    if not len(bases):
        return []
    found: list[AbortedTransaction] = []
    for index in sorted(segment.parent.glob(f"*{TRANSACTION_INDEX_SUFFIX}")):
        if (base_offset_of(index.name, TRANSACTION_INDEX_SUFFIX) or 0) >= base_offset:
            content = index.read_bytes()
            entries = np.frombuffer(content, _INDEX_ENTRY, count=len(content) // _INDEX_ENTRY.itemsize)
            is_near = (entries["last_offset"] >= int(bases.min())) & (entries["first_offset"] <= int(bases.max()))
            names = ("producer_id", "first_offset", "last_offset")
            found += [AbortedTransaction(*(int(one[name]) for name in names)) for one in entries[is_near]]
    return found


class FirstBatch(NamedTuple):
    """The first batch of a transaction. segment: base offset of its file. position: in bytes."""

    offset: int
    segment: int
    position: int


@dataclass(slots=True)
class OpenTransactions:
    """The open transactions of a partition's files, by producer id. Each update reads only the new batches."""

    begun: dict[int, FirstBatch] = field(default_factory=dict[int, FirstBatch])
    # The end of the last update: base offset of the segment, and position in it.
    segment: int = -1
    position: int = 0

    def update(self, segments: Sequence[Segment]) -> FirstBatch | None:
        """Read the new batches and return the first batch of the earliest open transaction."""
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
    """Return the index of the last segment behind which no open transaction begins unseen.

    A producer snapshot lists the transactions that were open at the beginning of its segment.
    """
    for number in range(len(segments) - 1, 0, -1):
        opened = _open_at(segments[number])
        if opened is None:
            continue
        earliest = min(opened, default=segments[number].base_offset)
        return max(at for at in range(number + 1) if at == 0 or segments[at].base_offset <= earliest)
    return 0


def _open_at(segment: Segment) -> Iterable[int] | None:
    """Return the first offsets of the transactions open at the beginning of a segment; None without a snapshot."""
    snapshot = Path(segment.path.removesuffix(LOG_SUFFIX) + SNAPSHOT_SUFFIX)
    try:
        entries = decode_snapshot(snapshot.read_bytes())
    except (OSError, CorruptFileError):
        return None
    return [entry.current_txn_first_offset for entry in entries if entry.current_txn_first_offset is not None]
