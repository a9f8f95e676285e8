"""Names for the batches of journal requests, which have none: from the logs, or from the order of arrival."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from .journal_requests import JournalBatch, JournalRequest
from .stored_log import StoredBatch

# Partition, producer id, epoch, first and last sequence.
Identity = tuple[int, int, int, int, int]
# Partition, first and last sequence.
Sequences = tuple[int, int, int]


def identity_of(batch: JournalBatch) -> Identity:
    """Return the fields that are the same in every attempt to send a batch."""
    return (batch.partition, batch.producer_id, batch.producer_epoch, batch.base_sequence, batch.last_sequence)


@dataclass(slots=True)
class BatchNames:
    """Batch names from four sources.

    sent_alone: by request id, of requests with one batch. stored: by partition and offset, from the logs.
    arrived: by identity, from the order of arrival. planned: by sequences, from the raw client.
    """

    sent_alone: dict[int, str] = field(default_factory=dict[int, str])
    stored: dict[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])
    arrived: dict[Identity, str] = field(default_factory=dict[Identity, str])
    planned: dict[Sequences, str] = field(default_factory=dict[Sequences, str])

    def name_of(self, batch: JournalBatch, request_id: int) -> str:
        """Return the name of a batch; "" if it is not a batch of the scenario."""
        if request_id in self.sent_alone:
            return self.sent_alone[request_id]
        if batch.base_offset >= 0:
            return self.stored.get((batch.partition, batch.base_offset), "")
        if batch.base_sequence < 0:
            return ""
        known = self.arrived.get(identity_of(batch))
        return known or self.planned.get((batch.partition, batch.base_sequence, batch.last_sequence), "")

    def add_stored(self, stored: Iterable[StoredBatch], requests: Iterable[JournalRequest]) -> None:
        """Add the names in the logs; they also apply to earlier refused attempts of a batch."""
        self.stored.update({(batch.partition, batch.base_offset): batch.name for batch in stored})
        for request in requests:
            for batch in request.batches:
                if batch.base_offset >= 0 and batch.base_sequence >= 0:
                    self.arrived[identity_of(batch)] = self.name_of(batch, request.id)

    def add_sent_alone(self, name: str, client_id: str, requests: Iterable[JournalRequest]) -> None:
        """Give the name to the requests of a client that have one batch."""
        for request in requests:
            if request.client_id == client_id and len(request.batches) == 1:
                self.sent_alone[request.id] = name

    def add_arrived(self, name: str, requests: Iterable[JournalRequest]) -> None:
        """Give the name to the batches without one; the batch of this name has just arrived."""
        for request in requests:
            for batch in request.batches:
                if batch.base_sequence >= 0:
                    self.arrived.setdefault(identity_of(batch), name)
