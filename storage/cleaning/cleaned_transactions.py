"""Transaction state during a cleaning's scan of a log: aborted batches, and markers that are no longer needed.

A marker must stay as long as a record of its transaction is in the log, because consumers need it.
Source: CleanedTransactionMetadata, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heappop, heappush

from ...protocol.batches.control_records import decode_marker
from ...protocol.batches.record_batch import BatchHeader
from ..segments.transaction_index import AbortedTransaction


@dataclass(slots=True)
class _OngoingAbort:
    transaction: AbortedTransaction
    has_batches: bool = False


class CleanedTransactions:
    """The open transactions at the current offset of the scan.

    retained: the aborted transactions with batches, in the order of their markers, for the transaction index of the
    cleaned segment; the caller removes them.
    """

    __slots__ = ("_aborts", "_aborts_added", "_ongoing_aborts", "_ongoing_commits", "retained")

    def __init__(self) -> None:
        """Start before the first batch."""
        # A heap of (first offset, unique number, transaction); the number avoids comparing transactions.
        self._aborts: list[tuple[int, int, AbortedTransaction]] = []
        self._aborts_added = 0
        self._ongoing_aborts: dict[int, _OngoingAbort] = {}
        self._ongoing_commits: set[int] = set()
        self.retained: list[AbortedTransaction] = []

    def add_aborts(self, aborts: Iterable[AbortedTransaction]) -> None:
        """Add aborted transactions of later batches; duplicates are allowed."""
        for abort in aborts:
            heappush(self._aborts, (abort.first_offset, self._aborts_added, abort))
            self._aborts_added += 1

    def on_batch_read(self, header: BatchHeader) -> bool:
        """Advance to a batch of records, and return whether its transaction is aborted."""
        self._begin_aborts_up_to(header.last_offset)
        if not header.is_transactional:
            return False
        ongoing = self._ongoing_aborts.get(header.producer_id)
        if ongoing is None:
            self._ongoing_commits.add(header.producer_id)
            return False
        ongoing.has_batches = True
        return True

    def on_control_batch_read(self, header: BatchHeader, batch: memoryview) -> bool:
        """Advance to a control batch, and return whether it is a marker of a transaction without batches."""
        self._begin_aborts_up_to(header.last_offset)
        if not header.records_count:
            # An earlier cleaning emptied it.
            return True
        marker = decode_marker(header, batch)
        if marker is None:
            return False
        if marker.is_commit:
            has_batches = header.producer_id in self._ongoing_commits
            self._ongoing_commits.discard(header.producer_id)
            return not has_batches
        ongoing = self._ongoing_aborts.pop(header.producer_id, None)
        if ongoing is None or not ongoing.has_batches:
            return True
        self.retained.append(ongoing.transaction)
        return False

    def _begin_aborts_up_to(self, offset: int) -> None:
        while self._aborts and self._aborts[0][0] <= offset:
            _, _, abort = heappop(self._aborts)
            self._ongoing_aborts.setdefault(abort.producer_id, _OngoingAbort(abort))
