"""Which batch of the scenario one on the wire is: requests do not say, but logs do, and the order of arrival."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from .seen_requests import SeenBatch, SeenRequest
from .stored_log import StoredBatch

# Partition, producer id, epoch, first and last sequence.
Identity = tuple[int, int, int, int, int]
# Partition, first and last sequence.
Sequences = tuple[int, int, int]


def identity_of(batch: SeenBatch) -> Identity:
    """Return what is the same each time that a producer sends a batch."""
    return (batch.partition, batch.producer_id, batch.producer_epoch, batch.base_sequence, batch.last_sequence)


@dataclass(slots=True)
class BatchNames:
    """Names by what is known of a batch.

    stored: by partition and offset, as read from the logs. arrived: by what came first after the batch was sent.
    planned: by what the raw client sends.
    """

    stored: dict[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])
    arrived: dict[Identity, str] = field(default_factory=dict[Identity, str])
    planned: dict[Sequences, str] = field(default_factory=dict[Sequences, str])

    def name_of(self, batch: SeenBatch) -> str:
        """Return its name, "" where it is none of the scenario's."""
        if batch.base_offset >= 0:
            return self.stored.get((batch.partition, batch.base_offset), "")
        if batch.base_sequence < 0:
            return ""
        known = self.arrived.get(identity_of(batch))
        return known or self.planned.get((batch.partition, batch.base_sequence, batch.last_sequence), "")

    def learn_stored(self, stored: Iterable[StoredBatch], requests: Iterable[SeenRequest]) -> None:
        """Take the names in the logs; a batch that was refused before it was appended has the same one then."""
        self.stored.update({(batch.partition, batch.base_offset): batch.name for batch in stored})
        for request in requests:
            for batch in request.batches:
                if batch.base_offset >= 0 and batch.base_sequence >= 0:
                    self.arrived[identity_of(batch)] = self.name_of(batch)

    def learn_arrived(self, name: str, requests: Iterable[SeenRequest]) -> None:
        """Name what came and has no name: the batch of this name has just come."""
        for request in requests:
            for batch in request.batches:
                if batch.base_sequence >= 0:
                    self.arrived.setdefault(identity_of(batch), name)
