"""What a walk through a log's batches, in order, has seen of its transactions: which are aborted, which markers may go.

A marker is needed while a record of its transaction is in the log: consumers tell aborted records from others by it.
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
    """The transactions that are open where the walk has come to.

    retained: the aborted transactions of which batches were met, in the order of their markers; whoever writes the
    batches to a new segment writes these to its transaction index, and takes them from here.
    """

    __slots__ = ("_aborts", "_aborts_added", "_ongoing_aborts", "_ongoing_commits", "retained")

    def __init__(self) -> None:
        """Start before the first batch."""
        # A heap by first offset; the second number is a different one for each, as transactions have no order.
        self._aborts: list[tuple[int, int, AbortedTransaction]] = []
        self._aborts_added = 0
        self._ongoing_aborts: dict[int, _OngoingAbort] = {}
        self._ongoing_commits: set[int] = set()
        self.retained: list[AbortedTransaction] = []

    def add_aborts(self, aborts: Iterable[AbortedTransaction]) -> None:
        """Take in the aborted transactions of the batches that come next; one may be given more than once."""
        for abort in aborts:
            heappush(self._aborts, (abort.first_offset, self._aborts_added, abort))
            self._aborts_added += 1

    def is_aborted(self, header: BatchHeader) -> bool:
        """Take in a batch of records, and return whether its transaction is aborted, so that the records may go."""
        self._begin_aborts_up_to(header.last_offset)
        if not header.is_transactional:
            return False
        ongoing = self._ongoing_aborts.get(header.producer_id)
        if ongoing is None:
            self._ongoing_commits.add(header.producer_id)
            return False
        ongoing.has_batches = True
        return True

    def is_marker_without_records(self, header: BatchHeader, batch: memoryview) -> bool:
        """Take in a control batch, and return whether no batch of the transaction that it ends has been met."""
        self._begin_aborts_up_to(header.last_offset)
        if not header.records_count:
            # It was emptied by an earlier cleaning.
            return True
        marker = decode_marker(header, batch)
        if marker is None:
            return False
        if marker.is_commit:
            is_known = header.producer_id in self._ongoing_commits
            self._ongoing_commits.discard(header.producer_id)
            return not is_known
        ongoing = self._ongoing_aborts.pop(header.producer_id, None)
        if ongoing is None or not ongoing.has_batches:
            return True
        self.retained.append(ongoing.transaction)
        return False

    def _begin_aborts_up_to(self, offset: int) -> None:
        while self._aborts and self._aborts[0][0] <= offset:
            _, _, abort = heappop(self._aborts)
            self._ongoing_aborts.setdefault(abort.producer_id, _OngoingAbort(abort))
