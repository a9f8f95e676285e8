"""Segment files and a ledger, built event by event, and the expected findings of an audit."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from fauxka.protocol.batches.control_records import EndTransactionMarker, build_marker_batch
from fauxka.protocol.batches.record_batch import Compression, stamped_prefix
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch

from .logs_on_disk import write_segment

TOPIC = "t"
PARTITIONS = 2
# The log start offsets of the partitions; retention has deleted records of one.
STARTS = (0, 40)
HEADER = "event-id"
EVENTS_MAX = 4
SEGMENTS_MAX = 3
START_MS = 1_700_000_000_000

NO_PRODUCER = -1
# Greater ids are of producers that send once or twice.
NEW_ID = 100


@dataclass(frozen=True)
class Found:
    """The columns of a finding that are compared."""

    check: str
    kind: str
    cause: str | None
    partition: int | None
    offset: int | None
    other_offset: int | None = None
    event_id: str | None = None
    count: int = 1


@dataclass(frozen=True)
class Event:
    """An event of the application. All events of a partition have the same key, so their order counts."""

    event_id: str
    partition: int
    ordinal: int

    @property
    def key(self) -> str:
        return f"key-{self.partition}"


@dataclass(frozen=True)
class Sender:
    """The producer of a batch. sequence, timestamp_ms: default to the next ones."""

    producer_id: int
    sequence: int | None = None
    is_transactional: bool = False
    timestamp_ms: int | None = None


@dataclass
class PlantedLog:
    """A log and its ledger, both valid except for the planted faults."""

    random: Random
    expected: Counter[Found] = field(default_factory=Counter[Found])
    ledger: list[dict[str, object]] = field(default_factory=list[dict[str, object]])
    batches: list[list[bytes]] = field(default_factory=lambda: [[] for _ in range(PARTITIONS)])
    offsets: list[int] = field(default_factory=lambda: list(STARTS))
    epochs: dict[int, int] = field(default_factory=dict[int, int])
    sequences: dict[tuple[int, int, int], int] = field(default_factory=dict[tuple[int, int, int], int])
    event_count: int = 0
    batch_count: int = 0
    producer_count: int = 0

    def write(self, folder: Path) -> str:
        """Write the partitions' folders, each in several segments, and the ledger; return the ledger's path."""
        for partition, batches in enumerate(self.batches):
            cuts = sorted(self.random.sample(range(1, len(batches)), min(SEGMENTS_MAX, len(batches)) - 1))
            for first, end in zip([0, *cuts], [*cuts, len(batches)], strict=True):
                write_segment(folder / f"{TOPIC}-{partition}", batches[first:end])
        ledger = folder / "sent.jsonl"
        ledger.write_text("".join(json.dumps(line) + "\n" for line in self.ledger))
        return str(ledger)

    def new_events(self, partition: int, count: int | None = None) -> list[Event]:
        count = count or self.random.randint(1, EVENTS_MAX)
        first = self.event_count
        self.event_count += count
        return [Event(f"event-{number}", partition, number) for number in range(first, first + count)]

    def any_partition(self) -> int:
        return self.random.randrange(PARTITIONS)

    def new_producer(self) -> int:
        self.producer_count += 1
        return NEW_ID + self.producer_count

    @property
    def next_timestamp_ms(self) -> int:
        """The timestamp of the next batch."""
        return START_MS + self.batch_count

    def append(self, partition: int, events: Sequence[Event], sender: Sender) -> int:
        """Append a batch, each in the next codec, and return its base offset."""
        producer_id = sender.producer_id
        epoch = self.epochs.get(producer_id, 0)
        place = (producer_id, epoch, partition)
        sequence = self.sequences.get(place, 0) if sender.sequence is None else sender.sequence
        self.sequences[place] = max(self.sequences.get(place, 0), sequence + len(events))
        base_offset = self.offsets[partition]
        has_producer = producer_id != NO_PRODUCER
        options = BatchOptions(
            producer_id=producer_id,
            producer_epoch=epoch if has_producer else -1,
            base_sequence=sequence if has_producer else -1,
            compression=list(Compression)[self.batch_count % len(Compression)],
            is_transactional=sender.is_transactional,
            base_offset=base_offset,
        )
        timestamp = self.next_timestamp_ms if sender.timestamp_ms is None else sender.timestamp_ms
        records = [
            Record(
                b"value of " + event.event_id.encode(),
                event.key.encode(),
                timestamp,
                ((HEADER, event.event_id.encode()),),
            )
            for event in events
        ]
        self._store(partition, build_batch(records, options), len(events))
        return base_offset

    def end_transaction(self, partition: int, producer_id: int, *, is_commit: bool) -> int:
        """Append a marker and return its offset."""
        built = build_marker_batch(
            EndTransactionMarker(is_commit, 0),
            producer_id=producer_id,
            producer_epoch=self.epochs.get(producer_id, 0),
            timestamp=self.next_timestamp_ms,
        )
        offset = self.offsets[partition]
        self._store(partition, stamped_prefix(offset, len(built) - 12, 0) + built[16:], 1)
        return offset

    def _store(self, partition: int, batch: bytes, count: int) -> None:
        self.batches[partition].append(batch)
        self.offsets[partition] += count
        self.batch_count += 1

    def acknowledge(self, events: Sequence[Event], partition: int, base_offset: int) -> None:
        for delta, event in enumerate(events):
            self.ledger.append(
                self._line(event) | {"topic": TOPIC, "partition": partition, "offset": base_offset + delta}
            )

    def fail(self, events: Sequence[Event], error: str) -> None:
        self.ledger.extend(self._line(event) | {"error": error} for event in events)

    @staticmethod
    def _line(event: Event) -> dict[str, object]:
        return {"event_id": event.event_id, "key": event.key, "ordinal": event.ordinal}

    def expect(self, found: Found) -> None:
        self.expected[found] += 1

    def expect_ledger_finding(
        self, kind: str, event: Event, offset: int, *, other: int | None = None, cause: str | None = None
    ) -> None:
        self.expect(Found("ledger", kind, cause, event.partition, offset, other, event.event_id))
