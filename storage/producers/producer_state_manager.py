"""The producer entries of a partition, and the offset before which every transaction has ended.

Entries stay until they expire; retention and DeleteRecords do not remove them, except in releases before 2.4.
Source: ProducerStateManager, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, ValuesView

from ...protocol.batches.record_batch import NO_PRODUCER_ID
from ..segments.moved_timestamps import on_brokers_clock
from .producer_state_entry import ProducerStateEntry
from .unverified_producers import UnverifiedProducers


class ProducerStateManager:
    """The producer entries of one partition."""

    def __init__(self, expiration_ms: int) -> None:
        """expiration_ms: producer.id.expiration.ms; may be changed at any time."""
        self.expiration_ms = expiration_ms
        # How far the broker's clock may have been ahead of the timestamps of stored batches.
        self._stored_ahead_ms = 0
        # Whether there may be batches whose timestamps are not on the broker's clock (moved_timestamps).
        self._is_ahead = False
        # From then on: the time of the newest appended batch on the broker's clock, by producer id.
        self._active_at_ms: dict[int, int] = {}
        self._entries: dict[int, ProducerStateEntry] = {}
        self.unverified = UnverifiedProducers()
        # The first offsets of open transactions, by producer id. They only grow, so the first one is the earliest.
        self._open_transactions: dict[int, int] = {}
        # (first offset, marker offset) of ended transactions whose marker may be above the high watermark.
        self._invisible_ends: list[tuple[int, int]] = []

    def find(self, producer_id: int) -> ProducerStateEntry | None:
        """Return the entry of a producer id."""
        return self._entries.get(producer_id)

    def assume_ahead(self, ahead_ms: int) -> None:
        """Note that stored batches may have been appended while the broker's clock was ahead_ms ahead of theirs."""
        self._stored_ahead_ms = ahead_ms
        self._is_ahead = ahead_ms != 0

    def new_for_replay(self) -> ProducerStateManager:
        """Return the producers of the same log without entries, to replay its stored batches."""
        new = ProducerStateManager(self.expiration_ms)
        new.assume_ahead(self._stored_ahead_ms)
        return new

    def commit(self, entry: ProducerStateEntry, ahead_ms: int | None = None) -> None:
        """Replace the producer's entry, after its batch was written.

        ahead_ms: how far the broker's clock is ahead of the batch's timestamp, for the expiry; None for a stored batch.
        """
        producer_id, txn_first_offset = entry.producer_id, entry.current_txn_first_offset
        self._entries[producer_id] = entry
        if ahead_ms or self._is_ahead:
            self._note_ahead(entry, ahead_ms)
        if txn_first_offset is not None:
            self._open_transactions.setdefault(producer_id, txn_first_offset)
            if self.unverified.is_any:
                self.unverified.discard(producer_id)
        elif self._open_transactions:
            self._open_transactions.pop(producer_id, None)

    def _note_ahead(self, entry: ProducerStateEntry, ahead_ms: int | None) -> None:
        if ahead_ms is not None:
            self._is_ahead = True
            self._active_at_ms[entry.producer_id] = on_brokers_clock(entry.last_timestamp, ahead_ms)

    def remove(self, producer_id: int) -> None:
        """Remove the producer and its open transaction, which then no longer limits the last stable offset."""
        self._entries.pop(producer_id, None)
        self._active_at_ms.pop(producer_id, None)
        self.unverified.discard(producer_id)
        self._open_transactions.pop(producer_id, None)

    def remove_before(self, offset: int) -> None:
        """Remove the batches before offset, and the producers that have no batch from there on.

        Source: ProducerStateManager.evictUnretainedProducers, Kafka 2.1.1.
        """
        for producer_id, entry in list(self._entries.items()):
            kept = tuple(batch for batch in entry.batches if batch.last_offset >= offset)
            if not kept:
                self.remove(producer_id)
            elif len(kept) < len(entry.batches):
                self._entries[producer_id] = entry.with_batches(kept)

    @property
    def first_unstable_offset(self) -> int | None:
        """The first offset of the earliest open transaction."""
        return next(iter(self._open_transactions.values()), None)

    @property
    def first_open_producer(self) -> int | None:
        """The producer of the first open transaction; None without one."""
        return next(iter(self._open_transactions), None)

    def open_transactions(self) -> list[ProducerStateEntry]:
        """Return the producers with an open transaction, by its first offset."""
        return [self._entries[producer_id] for producer_id in self._open_transactions]

    def first_unstable_offset_of_others(self, producer_id: int) -> int | None:
        """Return the first offset of the earliest open transaction of another producer."""
        transactions = self._open_transactions.items()
        return next((first_offset for owner, first_offset in transactions if owner != producer_id), None)

    def delay_stable_offset(self, first_offset: int, marker_offset: int) -> None:
        """Keep an ended transaction unstable until the high watermark is above its marker."""
        self._invisible_ends.append((first_offset, marker_offset))

    def last_stable_offset(self, high_watermark: int) -> int:
        """Return the offset before which every transaction has ended, with its marker below high_watermark."""
        if self._invisible_ends:
            self._invisible_ends = [end for end in self._invisible_ends if end[1] >= high_watermark]
            high_watermark = min([high_watermark, *(first_offset for first_offset, _ in self._invisible_ends)])
        unstable = self.first_unstable_offset
        return high_watermark if unstable is None else min(unstable, high_watermark)

    @property
    def highest_producer_id(self) -> int:
        """The greatest producer id; -1 without producers."""
        return max(self._entries, default=NO_PRODUCER_ID)

    def active_producers(self) -> ValuesView[ProducerStateEntry]:
        """Return all entries."""
        return self._entries.values()

    def reload(self, entries: Iterable[ProducerStateEntry], now_ms: int) -> None:
        """Replace all entries by those that are not expired at now_ms.

        A transaction that has ended does not hold back the last stable offset after a load, even if its marker is above
        the high watermark (failover_stable_offsets-4.3.0.jsonl).
        Source: ProducerStateManager.loadFromSnapshot, Kafka 4.3.0.
        """
        self.replace_all([entry for entry in entries if not self._is_expired(entry, now_ms)])

    def replace_all(self, kept: Sequence[ProducerStateEntry]) -> None:
        """Replace all entries, without an expiry check."""
        self._entries.clear()
        self._entries.update((entry.producer_id, entry) for entry in kept)
        first_offsets = [
            (entry.current_txn_first_offset, entry.producer_id)
            for entry in kept
            if entry.current_txn_first_offset is not None
        ]
        self._open_transactions = {producer_id: first_offset for first_offset, producer_id in sorted(first_offsets)}

    def remove_expired(self, now_ms: int) -> int:
        """Remove the producers whose newest batch is expiration_ms old, by its timestamp, and return their number.

        The timestamp counts on the broker's clock.

        A producer with an open transaction stays.
        Source: ProducerStateManager.isProducerExpired, Kafka 4.3.0.
        """
        expired = [producer_id for producer_id, entry in self._entries.items() if self._is_expired(entry, now_ms)]
        for producer_id in expired:
            del self._entries[producer_id]
            self._active_at_ms.pop(producer_id, None)
        self.unverified.remove_expired(now_ms, self.expiration_ms)
        return len(expired)

    def _is_expired(self, entry: ProducerStateEntry, now_ms: int) -> bool:
        if entry.current_txn_first_offset is not None:
            return False
        active_at_ms = entry.last_timestamp
        if self._is_ahead:
            stored_ms = on_brokers_clock(entry.last_timestamp, self._stored_ahead_ms)
            active_at_ms = self._active_at_ms.get(entry.producer_id, stored_ms)
        return now_ms - active_at_ms >= self.expiration_ms
