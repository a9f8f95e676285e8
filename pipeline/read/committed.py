"""Isolation level read_committed: removal of aborted transactions, and the end of reading at an open transaction.

A Fetch response lists the aborted transactions and the last stable offset. For segment files the transaction index
lists aborted transactions. Open transactions are found by a walk of the batches behind the newest producer snapshot.
Source: CompletedFetch.nextFetchedRecord and ProducerStateManager.firstUnstableOffset, Kafka 4.3.0.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...protocol.batches.record_batch import CONTROL_BIT, TRANSACTIONAL_BIT
from ...storage.corrupt_file import CorruptFileError
from ...storage.log_files import SNAPSHOT_SUFFIX, TRANSACTION_INDEX_SUFFIX, base_offset_of
from ...storage.producers.producer_snapshot import decode_snapshot
from ..decode.batch_table import BatchTable
from ..decode.row_source import OFFSET_MAX
from ..decode.varints import Booleans
from .segment_files import Segment
from .segment_walk import walk_headers
from .stores import Store

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


@dataclass(frozen=True, slots=True)
class AbortedTransactions:
    """The aborted transactions of a partition from a segment on, which its transaction indexes list.

    The segment of a marker has the entry, so those of all later segments are read too. files: the indexes if they were
    listed; None looks for them. A folder without transaction indexes has no aborted transactions.
    """

    folder: str
    base_offset: int
    files: tuple[str, ...] | None = None

    def overlapping(self, store: Store, table: BatchTable) -> list[AbortedTransaction]:
        """Return those that overlap the batches of a table. Reads the indexes if a batch is of a transaction."""
        is_part = table.has_valid_crc & (table.numbers("attributes") & TRANSACTIONAL_BIT != 0)
        if not is_part.any():
            return []
        bases = table.numbers("base_offset")[is_part]
        found: list[AbortedTransaction] = []
        for name in self.files if self.files is not None else self._names_in_folder():
            content = store.read(f"{self.folder}/{name}")
            entries = np.frombuffer(content, _INDEX_ENTRY, count=len(content) // _INDEX_ENTRY.itemsize)
            is_near = (entries["last_offset"] >= int(bases.min())) & (entries["first_offset"] <= int(bases.max()))
            names = ("producer_id", "first_offset", "last_offset")
            found += [AbortedTransaction(*(int(one[name]) for name in names)) for one in entries[is_near]]
        return found

    def _names_in_folder(self) -> list[str]:
        return transaction_indexes(os.listdir(self.folder), self.base_offset)


def aborted_from(segment: Segment) -> AbortedTransactions:
    """Return the aborted transactions from a segment on. Reads nothing."""
    listed = segment.neighbours
    files = None if listed is None else tuple(transaction_indexes(listed, segment.base_offset))
    return AbortedTransactions(segment.folder, segment.base_offset, files)


def transaction_indexes(names: Iterable[str], base_offset: int) -> list[str]:
    """Return the names of the transaction indexes from the segment at base_offset on."""
    bases = ((base_offset_of(name, TRANSACTION_INDEX_SUFFIX), name) for name in names)
    return sorted(name for base, name in bases if base is not None and base >= base_offset)


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
        with segment.store.open(segment.path) as file:
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
    if not segment.may_have(SNAPSHOT_SUFFIX):
        return None
    try:
        entries = decode_snapshot(segment.store.read(segment.path_of(SNAPSHOT_SUFFIX)))
    except (OSError, CorruptFileError):
        return None
    return [entry.current_txn_first_offset for entry in entries if entry.current_txn_first_offset is not None]
