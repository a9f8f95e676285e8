"""All producers of a partition: look up, commit, expire, describe.

Entries are kept until they expire, whatever becomes of their batches: retention and DeleteRecords do not touch them.
Source: ProducerStateManager, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, ValuesView

from ...protocol.batches.record_batch import NO_PRODUCER_ID
from .producer_state_entry import ProducerStateEntry
from .unverified_producers import UnverifiedProducers


class ProducerStateManager:
    """The producer entries of one partition; replaced one by one, never changed."""

    def __init__(self, expiration_ms: int) -> None:
        """Start without producers.

        expiration_ms: producer.id.expiration.ms; may be set anew at any time.
        """
        self.expiration_ms = expiration_ms
        self._entries: dict[int, ProducerStateEntry] = {}
        # Returns what is known of a producer by its id; the dictionary's own method, because every batch asks it.
        self.find: Callable[[int], ProducerStateEntry | None] = self._entries.get
        self.unverified = UnverifiedProducers()
        # The open transactions by producer id. Their first offsets only grow, so the first one is the earliest.
        self._open_transactions: dict[int, int] = {}
        # Ended ones whose marker readers may not see yet: where they began, and where the marker is.
        self._unseen_ends: list[tuple[int, int]] = []

    def commit(self, entry: ProducerStateEntry) -> None:
        """Make entry what is known of its producer, now that the log has its newest batch."""
        self._entries[entry.producer_id] = entry
        if entry.current_txn_first_offset is not None:
            self._open_transactions.setdefault(entry.producer_id, entry.current_txn_first_offset)
            if self.unverified.is_any:
                self.unverified.forget(entry.producer_id)
        elif self._open_transactions:
            self._open_transactions.pop(entry.producer_id, None)

    def forget(self, producer_id: int) -> None:
        """Know the producer no longer; its open transaction, if there is one, no longer holds readers back."""
        self._entries.pop(producer_id, None)
        self.unverified.forget(producer_id)
        self._open_transactions.pop(producer_id, None)

    @property
    def first_unstable_offset(self) -> int | None:
        """Where the earliest open transaction begins."""
        return next(iter(self._open_transactions.values()), None)

    def first_unstable_without(self, producer_id: int) -> int | None:
        """Return where the earliest open transaction of another producer begins."""
        transactions = self._open_transactions.items()
        return next((first_offset for owner, first_offset in transactions if owner != producer_id), None)

    def hold_back(self, before: ProducerStateEntry | None, after: ProducerStateEntry, marker_offset: int) -> None:
        """Have a transaction that was open before, and is not after, be unstable until readers see its marker."""
        if (
            before is not None
            and before.current_txn_first_offset is not None
            and after.current_txn_first_offset is None
        ):
            self._unseen_ends.append((before.current_txn_first_offset, marker_offset))

    def stable_before(self, high_watermark: int) -> int:
        """Return up to where every transaction is decided, and the marker that says so is below high_watermark."""
        if self._unseen_ends:
            self._unseen_ends = [end for end in self._unseen_ends if end[1] >= high_watermark]
            high_watermark = min([high_watermark, *(first_offset for first_offset, _ in self._unseen_ends)])
        unstable = self.first_unstable_offset
        return high_watermark if unstable is None else min(unstable, high_watermark)

    @property
    def highest_producer_id(self) -> int:
        """The greatest producer id known; -1 if there is none."""
        return max(self._entries, default=NO_PRODUCER_ID)

    def active_producers(self) -> ValuesView[ProducerStateEntry]:
        """Return the entries of all producers known."""
        return self._entries.values()

    def reload(self, entries: Iterable[ProducerStateEntry], now_ms: int) -> None:
        """Know these producers and no others, without those that are past their time at now_ms.

        Source: ProducerStateManager.loadFromSnapshot, Kafka 4.3.0.
        """
        self.replace_all([entry for entry in entries if not self._is_expired(entry, now_ms)])

    def replace_all(self, kept: Sequence[ProducerStateEntry]) -> None:
        """Know these producers and no others, whatever their time."""
        self._entries.clear()
        self._entries.update((entry.producer_id, entry) for entry in kept)
        first_offsets = [
            (entry.current_txn_first_offset, entry.producer_id)
            for entry in kept
            if entry.current_txn_first_offset is not None
        ]
        self._open_transactions = {producer_id: first_offset for first_offset, producer_id in sorted(first_offsets)}

    def remove_expired(self, now_ms: int) -> int:
        """Forget the producers that wrote nothing for expiration_ms, and return how many they were.

        A producer's time is that of its newest batch, so old timestamps make it old. One with an open transaction
        stays.
        Source: ProducerStateManager.isProducerExpired, Kafka 4.3.0.
        """
        expired = [producer_id for producer_id, entry in self._entries.items() if self._is_expired(entry, now_ms)]
        for producer_id in expired:
            del self._entries[producer_id]
        self.unverified.remove_expired(now_ms, self.expiration_ms)
        return len(expired)

    def _is_expired(self, entry: ProducerStateEntry, now_ms: int) -> bool:
        return entry.current_txn_first_offset is None and now_ms - entry.last_timestamp >= self.expiration_ms
