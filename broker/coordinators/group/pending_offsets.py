"""Offsets that were committed in a transaction, until it ends: a commit makes them count, an abort forgets them.

Source: OffsetMetadataManager (pendingTransactionalOffsets, openTransactions), Kafka 4.3.0.
"""

from __future__ import annotations

from .offset_store import CommittedOffset, OffsetPlace


class PendingOffsets:
    """Offsets by the transaction that they belong to: a producer's, in one partition of the coordinator's topic."""

    __slots__ = ("_open", "_transactions")

    def __init__(self) -> None:
        """Start without open transactions."""
        self._transactions: dict[tuple[int, int], dict[OffsetPlace, CommittedOffset]] = {}
        # For each place, the transactions that have an offset for it.
        self._open: dict[OffsetPlace, set[tuple[int, int]]] = {}

    def put(self, log_partition: int, producer_id: int, place: OffsetPlace, committed: CommittedOffset) -> None:
        """Keep an offset of the producer's transaction, in place of an earlier one.

        log_partition: the partition of the coordinator's topic that the group belongs to, which gets the marker.
        """
        transaction = (log_partition, producer_id)
        self._transactions.setdefault(transaction, {})[place] = committed
        self._open.setdefault(place, set()).add(transaction)

    def end(self, log_partition: int, producer_id: int) -> dict[OffsetPlace, CommittedOffset]:
        """Forget the producer's transaction in that partition, and return its offsets."""
        transaction = (log_partition, producer_id)
        offsets = self._transactions.pop(transaction, {})
        for place in offsets:
            self._leave(place, transaction)
        return offsets

    def is_pending(self, place: OffsetPlace) -> bool:
        """Return whether any transaction has an offset for the place."""
        return place in self._open

    def of_group(self, group_id: str) -> list[OffsetPlace]:
        """Return the places of the group that transactions have offsets for."""
        return [place for place in self._open if place.group_id == group_id]

    def of_topic(self, topic_name: str) -> list[tuple[OffsetPlace, CommittedOffset]]:
        """Return what transactions have for a topic of that name."""
        return [
            (place, committed)
            for offsets in self._transactions.values()
            for place, committed in offsets.items()
            if place.topic_name == topic_name
        ]

    def remove(self, place: OffsetPlace) -> None:
        """Forget the offsets that transactions have for the place."""
        for transaction in self._open.pop(place, set()):
            offsets = self._transactions[transaction]
            del offsets[place]
            if not offsets:
                del self._transactions[transaction]

    def _leave(self, place: OffsetPlace, transaction: tuple[int, int]) -> None:
        transactions = self._open[place]
        transactions.discard(transaction)
        if not transactions:
            del self._open[place]
