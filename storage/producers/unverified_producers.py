"""Producers whose first batch of a transaction came, and was not appended yet: with what it began.

A batch that was sent before and comes after may not overtake it: while the producer is known here, none is taken that
begins behind the lowest sequence that was seen.
Source: VerificationStateEntry and ProducerAppendInfo.checkSequence, Kafka 4.3.0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...protocol.batches.record_batch import BatchHeader
from .producer_state_entry import ProducerStateEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class UnverifiedProducer:
    """One producer's beginning of a transaction.

    joins_by_itself: whether the request made the partition join the transaction (Produce from version 12 on).
    """

    producer_epoch: int
    lowest_sequence: int
    joins_by_itself: bool
    created_ms: int

    def refuses(self, entry: ProducerStateEntry | None, header: BatchHeader) -> bool:
        """Whether the batch is out of order for it; entry: what the partition knows of the producer."""
        sequence = header.base_sequence
        return (self.joins_by_itself and entry is None and sequence != 0) or sequence > self.lowest_sequence


class UnverifiedProducers:
    """The producers by their ids; there are some only between a first batch and its append."""

    __slots__ = ("_seen", "is_any")

    def __init__(self) -> None:
        """Start without any."""
        self._seen: dict[int, UnverifiedProducer] = {}
        # Whether there is one; an attribute, because every batch asks.
        self.is_any = False

    def find(self, producer_id: int) -> UnverifiedProducer | None:
        """Return what was seen of the producer."""
        return self._seen.get(producer_id)

    def begin(self, producer_id: int, seen: UnverifiedProducer) -> None:
        """Take note of a first batch; one of an older epoch than was seen before changes nothing."""
        before = self._seen.setdefault(producer_id, seen)
        self.is_any = True
        if seen.producer_epoch > before.producer_epoch or (
            seen.producer_epoch == before.producer_epoch and seen.lowest_sequence < before.lowest_sequence
        ):
            # Kafka sets epoch and sequence alone.
            self._seen[producer_id] = replace(
                before, producer_epoch=seen.producer_epoch, lowest_sequence=seen.lowest_sequence
            )

    def forget(self, producer_id: int) -> None:
        """Forget the producer: a batch of its transaction is in the log now."""
        self._seen.pop(producer_id, None)
        self.is_any = bool(self._seen)

    def ended(self, marker: BatchHeader) -> None:
        """Forget the producer whose transaction the marker ends.

        One of the epoch that was seen ended the transaction before, where markers raise the epoch.
        """
        seen = self._seen.get(marker.producer_id)
        if seen is not None and not (seen.joins_by_itself and seen.producer_epoch == marker.producer_epoch):
            self.forget(marker.producer_id)

    def remove_expired(self, now_ms: int, expiration_ms: int) -> None:
        """Forget those that came expiration_ms ago or more."""
        self._seen = {
            producer_id: seen for producer_id, seen in self._seen.items() if now_ms - seen.created_ms < expiration_ms
        }
        self.is_any = bool(self._seen)
