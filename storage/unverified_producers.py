"""Producers whose first batch of a transaction came, and was not appended yet: with what it began.

A batch that was sent before and comes after may not overtake it: while the producer is known here, none is taken that
begins behind the lowest sequence that was seen.
Source: VerificationStateEntry and ProducerAppendInfo.checkSequence, Kafka 4.3.0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..protocol.record_batch import BatchHeader
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


class UnverifiedProducers(dict[int, UnverifiedProducer]):
    """The producers by their ids; there are some only between a first batch and its append."""

    def begin(self, producer_id: int, seen: UnverifiedProducer) -> None:
        """Take note of a first batch; one of an older epoch than was seen before changes nothing."""
        before = self.setdefault(producer_id, seen)
        if seen.producer_epoch > before.producer_epoch or (
            seen.producer_epoch == before.producer_epoch and seen.lowest_sequence < before.lowest_sequence
        ):
            # Kafka sets epoch and sequence alone.
            self[producer_id] = replace(
                before, producer_epoch=seen.producer_epoch, lowest_sequence=seen.lowest_sequence
            )

    def appended(self, header: BatchHeader) -> None:
        """Forget the producer of a transactional batch or a marker that is in the log now.

        A marker of the epoch that was seen is that of the transaction before, where markers raise the epoch.
        """
        seen = self.get(header.producer_id)
        if seen is None or not header.is_transactional:
            return
        if header.is_control and seen.joins_by_itself and seen.producer_epoch == header.producer_epoch:
            return
        del self[header.producer_id]

    def remove_expired(self, now_ms: int, expiration_ms: int) -> None:
        """Forget those that came expiration_ms ago or more."""
        for producer_id, seen in list(self.items()):
            if now_ms - seen.created_ms >= expiration_ms:
                del self[producer_id]
