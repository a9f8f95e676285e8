"""Transactions whose first batch was received but is not in the log yet (Kafka: transaction verification).

A later batch of the transaction must not be appended before the first one. While the producer is listed, a batch above
the lowest received sequence is refused.
Source: VerificationStateEntry and ProducerAppendInfo.checkSequence, Kafka 4.3.0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...protocol.batches.record_batch import BatchHeader
from .producer_state_entry import ProducerStateEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class UnverifiedProducer:
    """The start of one producer's transaction.

    supports_epoch_bump: whether the request added the partition to the transaction (Produce from version 12 on).
    starts_at_zero: whether the first sequence of a producer without an entry must be 0 (so from Kafka 4.1 on, for a
    request that adds the partition).
    """

    producer_epoch: int
    lowest_sequence: int
    supports_epoch_bump: bool
    starts_at_zero: bool
    created_ms: int

    def refuses(self, entry: ProducerStateEntry | None, header: BatchHeader) -> bool:
        """Whether the batch is out of order; entry: the producer's entry in the partition."""
        sequence = header.base_sequence
        return (self.starts_at_zero and entry is None and sequence != 0) or sequence > self.lowest_sequence


class UnverifiedProducers:
    """The unverified producers of a partition, by producer id."""

    __slots__ = ("_producers", "is_any")

    def __init__(self) -> None:
        """Start without producers."""
        self._producers: dict[int, UnverifiedProducer] = {}
        # Whether the dictionary has entries; an attribute, because every batch reads it.
        self.is_any = False

    def find(self, producer_id: int) -> UnverifiedProducer | None:
        """Return the entry of a producer."""
        return self._producers.get(producer_id)

    def add(self, producer_id: int, received: UnverifiedProducer) -> None:
        """Add a received first batch, or update the entry to a later epoch or a lower sequence."""
        before = self._producers.setdefault(producer_id, received)
        self.is_any = True
        if received.producer_epoch > before.producer_epoch or (
            received.producer_epoch == before.producer_epoch and received.lowest_sequence < before.lowest_sequence
        ):
            # Kafka updates only epoch and sequence.
            self._producers[producer_id] = replace(
                before, producer_epoch=received.producer_epoch, lowest_sequence=received.lowest_sequence
            )

    def discard(self, producer_id: int) -> None:
        """Remove the producer, because a batch of its transaction is in the log."""
        self._producers.pop(producer_id, None)
        self.is_any = bool(self._producers)

    def discard_ended(self, marker: BatchHeader) -> None:
        """Remove the producer whose transaction the marker ends.

        With epoch bumps, a marker of the same epoch ended an earlier transaction; the producer then stays.
        """
        found = self._producers.get(marker.producer_id)
        if found is not None and not (found.supports_epoch_bump and found.producer_epoch == marker.producer_epoch):
            self.discard(marker.producer_id)

    def remove_expired(self, now_ms: int, expiration_ms: int) -> None:
        """Remove the producers that were added at least expiration_ms ago."""
        self._producers = {
            producer_id: producer
            for producer_id, producer in self._producers.items()
            if now_ms - producer.created_ms < expiration_ms
        }
        self.is_any = bool(self._producers)
