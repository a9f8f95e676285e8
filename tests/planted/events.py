"""What a planted log is made of: partitions, events, senders, responses, stored batches, and expected findings."""

from collections.abc import Sequence
from dataclasses import dataclass

from fauxka.storage.log_files import PartitionName

# The log start offsets of the partitions. Retention has deleted records of the partitions with a later start.
STARTS = {
    PartitionName("orders", 0): 0,
    PartitionName("orders", 1): 40,
    PartitionName("orders", 2): 0,
    PartitionName("payments", 0): 7,
    PartitionName("payments", 1): 0,
    PartitionName("clicks.eu", 0): 0,
}
# Of topics with faults that concern the whole topic.
COMPACTED = PartitionName("accounts", 0)
REPEATING = PartitionName("measurements", 0)
# Of faults that concern the whole partition.
REELECTED = PartitionName("elections", 0)

HEADER = "event-id"
EVENTS_MAX = 4
START_MS = 1_700_000_000_000

NO_PRODUCER = -1


@dataclass(frozen=True)
class Found:
    """The columns of a finding that are compared."""

    check: str
    kind: str
    cause: str | None
    topic: str
    partition: int | None
    offset: int | None
    other_offset: int | None = None
    event_id: str | None = None
    count: int = 1


@dataclass(frozen=True)
class Event:
    """An event of the application. Events with the same key must be stored in the order of their ordinals."""

    event_id: str
    partition: PartitionName
    ordinal: int
    key: str


@dataclass(frozen=True)
class Answer:
    """The response to a Produce request in the journal.

    request: its number; default: the next one. base_offset: default: where the batch is stored.
    """

    request: int | None = None
    error: str | None = None
    base_offset: int | None = None
    is_recorded: bool = True


WRITTEN = Answer()


@dataclass(frozen=True)
class Sender:
    """The producer of a batch. sequence, timestamp_ms: default to the next ones. leader_epoch: of another leader."""

    producer_id: int = NO_PRODUCER
    sequence: int | None = None
    is_transactional: bool = False
    timestamp_ms: int | None = None
    has_event_ids: bool = True
    leader_epoch: int | None = None
    answer: Answer = WRITTEN


@dataclass(frozen=True)
class Stored:
    """An appended batch of an application."""

    partition: PartitionName
    events: Sequence[Event]
    base_offset: int
    producer_id: int
    epoch: int
    sequence: int

    def event_in_journal(self, delta: int) -> str:
        """Return the id that an audit gives a record without help of the application."""
        place = f"{self.partition.topic_name}-{self.partition.partition}"
        if self.producer_id == NO_PRODUCER:
            return f"{place} offset {self.base_offset + delta}"
        return f"{place} producer {self.producer_id}/{self.epoch} sequence {self.sequence + delta}"
