"""Batches, a ledger and a journal, built event by event, and the expected findings of an audit."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random

from fauxka.protocol.batches.control_records import EndTransactionMarker, build_marker_batch
from fauxka.protocol.batches.record_batch import Compression, stamped_prefix
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.storage.log_files import PartitionName

from .events import EVENTS_MAX, HEADER, NO_PRODUCER, START_MS, STARTS, WRITTEN, Answer, Event, Found, Sender, Stored

# Greater ids are of producers that send once or twice.
NEW_ID = 100


@dataclass
class PlantedLog:
    """A log, a ledger and a journal, all valid except for the planted faults.

    tails: bytes behind the last batch of a partition. uncut: the batches in front of which no segment may begin.
    cleaned: the ends of the cleaned parts. leader_epochs: with their start offsets; default: one epoch of 0.
    cut_off_events: the number of events in each tail. reached: what says that a log reached further than its end, and
    to which offset.
    """

    random: Random
    batches: dict[PartitionName, list[bytes]] = field(default_factory=lambda: {name: [] for name in STARTS})
    ledger: list[dict[str, object]] = field(default_factory=list[dict[str, object]])
    journal: list[dict[str, object]] = field(default_factory=list[dict[str, object]])
    tails: dict[PartitionName, bytes] = field(default_factory=dict[PartitionName, bytes])
    uncut: set[tuple[PartitionName, int]] = field(default_factory=set[tuple[PartitionName, int]])
    cleaned: dict[PartitionName, int] = field(default_factory=dict[PartitionName, int])
    leader_epochs: dict[PartitionName, list[tuple[int, int]]] = field(
        default_factory=dict[PartitionName, list[tuple[int, int]]]
    )
    cut_off_events: dict[PartitionName, int] = field(default_factory=dict[PartitionName, int])
    reached: dict[PartitionName, tuple[str, int]] = field(default_factory=dict[PartitionName, tuple[str, int]])
    offsets: dict[PartitionName, int] = field(default_factory=STARTS.copy)
    epochs: dict[int, int] = field(default_factory=dict[int, int])
    sequences: dict[tuple[int, int, PartitionName], int] = field(
        default_factory=dict[tuple[int, int, PartitionName], int]
    )
    event_count: int = 0
    batch_count: int = 0
    producer_count: int = 0
    request_count: int = 0
    _expected: Counter[Found] = field(default_factory=Counter[Found])
    _of_partitions: dict[tuple[str, PartitionName], Found] = field(
        default_factory=dict[tuple[str, PartitionName], Found]
    )

    @property
    def expected(self) -> Counter[Found]:
        """The findings that an audit must have, and no others."""
        return self._expected + Counter(self._of_partitions.values())

    def new_events(self, partition: PartitionName, count: int | None = None, key: str | None = None) -> list[Event]:
        """Return events that are sent next. key: default: the same for all events of the partition."""
        count = count or self.random.randint(1, EVENTS_MAX)
        first = self.event_count
        self.event_count += count
        key = key or f"key-{partition.topic_name}-{partition.partition}"
        return [Event(f"event-{number}", partition, number, key) for number in range(first, first + count)]

    def any_partition(self) -> PartitionName:
        return self.random.choice(list(STARTS))

    def new_producer(self) -> int:
        self.producer_count += 1
        return NEW_ID + self.producer_count

    def new_request(self) -> int:
        self.request_count += 1
        return self.request_count

    @property
    def next_timestamp_ms(self) -> int:
        """The timestamp of the next batch."""
        return START_MS + self.batch_count

    def place(self, partition: PartitionName, events: Sequence[Event], sender: Sender) -> Stored:
        """Return where the next batch would be stored, and take its sequences."""
        epoch = self.epochs.get(sender.producer_id, 0)
        key = (sender.producer_id, epoch, partition)
        sequence = self.sequences.get(key, 0) if sender.sequence is None else sender.sequence
        self.sequences[key] = max(self.sequences.get(key, 0), sequence + len(events))
        return Stored(partition, events, self.offsets[partition], sender.producer_id, epoch, sequence)

    def append(self, partition: PartitionName, events: Sequence[Event], sender: Sender) -> Stored:
        """Append a batch, each in the next codec, and its request to the journal."""
        stored = self.place(partition, events, sender)
        timestamp_ms = self.next_timestamp_ms if sender.timestamp_ms is None else sender.timestamp_ms
        records = [self.record_of(event, timestamp_ms, has_id=sender.has_event_ids) for event in events]
        self.store(partition, build_batch(records, self.options_of(stored, sender)), len(events))
        self.respond(stored, sender.answer)
        return stored

    def leader_epoch(self, partition: PartitionName) -> int:
        """Return the epoch of the partition's leader."""
        return self.leader_epochs[partition][-1][0] if partition in self.leader_epochs else 0

    def options_of(self, stored: Stored, sender: Sender) -> BatchOptions:
        """Return the fields of a batch header."""
        epoch = self.leader_epoch(stored.partition) if sender.leader_epoch is None else sender.leader_epoch
        has_producer = stored.producer_id != NO_PRODUCER
        return BatchOptions(
            producer_id=stored.producer_id,
            producer_epoch=stored.epoch if has_producer else -1,
            base_sequence=stored.sequence if has_producer else -1,
            compression=list(Compression)[self.batch_count % len(Compression)],
            is_transactional=sender.is_transactional,
            base_offset=stored.base_offset,
            partition_leader_epoch=epoch,
        )

    @staticmethod
    def record_of(event: Event, timestamp_ms: int, *, has_id: bool = True) -> Record:
        """Return the record of an event."""
        event_id = event.event_id.encode()
        headers = ((HEADER, event_id),) if has_id else ()
        return Record(b"value of " + event_id, event.key.encode(), timestamp_ms, headers)

    def end_transaction(self, partition: PartitionName, producer_id: int, *, is_commit: bool) -> int:
        """Append a marker and return its offset."""
        built = build_marker_batch(
            EndTransactionMarker(is_commit, 0),
            producer_id=producer_id,
            producer_epoch=self.epochs.get(producer_id, 0),
            timestamp=self.next_timestamp_ms,
        )
        offset = self.offsets[partition]
        self.store(partition, stamped_prefix(offset, len(built) - 12, 0) + built[16:], 1)
        return offset

    def store(self, partition: PartitionName, content: bytes, offsets: int) -> None:
        """Append bytes to a partition. offsets: the number of offsets that they take."""
        self.batches[partition].append(content)
        self.offsets[partition] += offsets
        self.batch_count += 1

    def keep_in_segment(self, partition: PartitionName) -> None:
        """Let no segment begin with the next batch."""
        self.uncut.add((partition, len(self.batches[partition])))

    def respond(self, stored: Stored, answer: Answer = WRITTEN) -> None:
        """Add the Produce request of a batch and its response to the journal."""
        if not answer.is_recorded:
            return
        batch: dict[str, object] = {
            "topic": stored.partition.topic_name,
            "partition": stored.partition.partition,
            "producer_id": stored.producer_id,
            "producer_epoch": -1 if stored.producer_id == NO_PRODUCER else stored.epoch,
            "base_sequence": -1 if stored.producer_id == NO_PRODUCER else stored.sequence,
            "records": len(stored.events),
            "decision": "appended",
            "error": answer.error,
            "base_offset": stored.base_offset if answer.base_offset is None else answer.base_offset,
        }
        self.journal.append(
            {
                "id": self.new_request() if answer.request is None else answer.request,
                "node": 0,
                "connection": 1,
                "api": "Produce",
                "answer": "written",
                "error": answer.error,
                "batches": [batch],
            }
        )

    def acknowledge(self, stored: Stored, base_offset: int | None = None) -> None:
        """Add acknowledged events to the ledger. base_offset: default: where they are stored."""
        first = stored.base_offset if base_offset is None else base_offset
        for delta, event in enumerate(stored.events):
            place = {"partition": stored.partition.partition, "offset": first + delta}
            self.ledger.append(self._line(event) | {"topic": stored.partition.topic_name} | place)

    def fail(self, events: Sequence[Event], error: str) -> None:
        """Add events that failed to the ledger."""
        self.ledger.extend(
            self._line(event) | {"topic": event.partition.topic_name, "error": error} for event in events
        )

    @staticmethod
    def _line(event: Event) -> dict[str, object]:
        return {"event_id": event.event_id, "key": event.key, "ordinal": event.ordinal}

    def expect(self, found: Found) -> None:
        self._expected[found] += 1

    def expect_in_partition(self, found: Found, partition: PartitionName) -> None:
        """Expect one finding of its kind in a partition: the first one, with the counts of all."""
        first = self._of_partitions.setdefault((found.kind, partition), replace(found, count=0))
        self._of_partitions[found.kind, partition] = replace(first, count=first.count + found.count)

    def expect_in_ledgers(self, kind: str, stored: Stored, *, cause: str | None = None) -> None:
        """Expect a finding for each event of a batch, by the ledger and by the journal."""
        for delta, event in enumerate(stored.events):
            self.expect_of_ledger(kind, event, stored.base_offset + delta, cause=cause)
        self.expect_of_journal(kind, stored, cause=cause)

    def expect_of_ledger(
        self, kind: str, event: Event, offset: int, *, other: int | None = None, cause: str | None = None
    ) -> None:
        self.expect(Found("ledger", kind, cause, *event.partition, offset, other, event.event_id))

    def expect_of_journal(
        self, kind: str, stored: Stored, *, other: int | None = None, cause: str | None = None
    ) -> None:
        """Expect a finding for each record. other: of the first record of the batch."""
        for delta in range(len(stored.events)):
            offset, event_id = stored.base_offset + delta, stored.event_in_journal(delta)
            other_offset = None if other is None else other + delta
            self.expect(Found("ledger", kind, cause, *stored.partition, offset, other_offset, event_id))
