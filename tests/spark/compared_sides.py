"""A topic with transactions, and what arrived of it on the other side, with a known set of faults."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from fauxka.protocol.batches.control_records import EndTransactionMarker, build_marker_batch
from fauxka.protocol.batches.record_batch import stamped_prefix
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.storage.log_files import partition_folder

TOPIC = "orders"
PARTITIONS = 3
KEYS = 40
BATCHES = 400
RECORDS_MAX = 4
START_MS = 1_767_225_600_000
# The time from a record to its arrival, and that of a late one.
USUAL_MS, LATE_MS = 1_000, 7_200_000
# Every so many batches one is of a transaction that is aborted.
ABORTED_EVERY = 20
TRANSACTIONAL, IDEMPOTENT = 900, 7
HEADER = "id"


@dataclass(frozen=True)
class Sent:
    """A record of the topic, or one that arrived: then the place is where it came from, and the time of its arrival."""

    partition: int
    offset: int
    key: str
    event_id: str
    value: str
    timestamp_ms: int

    @property
    def place(self) -> tuple[int, int]:
        return self.partition, self.offset


@dataclass
class Source:
    """The topic: its committed records in the order in which they were sent, and its batches."""

    random: Random
    records: list[Sent] = field(default_factory=list[Sent])
    aborted: list[Sent] = field(default_factory=list[Sent])
    batches: dict[int, list[bytes]] = field(default_factory=lambda: {number: [] for number in range(PARTITIONS)})
    offsets: list[int] = field(default_factory=lambda: [0] * PARTITIONS)
    sequences: list[int] = field(default_factory=lambda: [0] * PARTITIONS)

    def write(self, folder: Path, topic: str = TOPIC) -> None:
        write_topic(folder, topic, self.batches)


def make_source(random: Random) -> Source:
    source = Source(random)
    for number in range(BATCHES):
        partition = random.randrange(PARTITIONS)
        is_aborted = number % ABORTED_EVERY == 1
        sent = [_record(source, partition, number, index) for index in range(random.randint(1, RECORDS_MAX))]
        producer, sequence = (TRANSACTIONAL, number) if is_aborted else (IDEMPOTENT, source.sequences[partition])
        options = BatchOptions(
            base_offset=source.offsets[partition],
            producer_id=producer,
            producer_epoch=0,
            base_sequence=sequence,
            is_transactional=is_aborted,
        )
        source.batches[partition].append(build_batch([_content(one) for one in sent], options))
        source.offsets[partition] += len(sent)
        if is_aborted:
            _abort(source, partition, START_MS + number)
            source.aborted += sent
        else:
            source.sequences[partition] += len(sent)
            source.records += sent
    return source


def _record(source: Source, partition: int, batch: int, index: int) -> Sent:
    # Each key is in one partition.
    key = f"key-{source.random.randrange(KEYS) * PARTITIONS + partition}"
    event_id = f"event-{batch}-{index}"
    timestamp_ms = START_MS + batch * 10 + index
    return Sent(partition, source.offsets[partition] + index, key, event_id, f"value of {event_id}", timestamp_ms)


def _content(sent: Sent) -> Record:
    return Record(sent.value.encode(), sent.key.encode(), sent.timestamp_ms, ((HEADER, sent.event_id.encode()),))


def _abort(source: Source, partition: int, timestamp_ms: int) -> None:
    marker = EndTransactionMarker(False, 0)
    built = build_marker_batch(marker, producer_id=TRANSACTIONAL, producer_epoch=0, timestamp=timestamp_ms)
    offset = source.offsets[partition]
    source.batches[partition].append(stamped_prefix(offset, len(built) - 12, 0) + built[16:])
    source.offsets[partition] += 1


@dataclass
class Planted:
    """What arrived, in order, and the expected findings: the kind, and the place or the event id of an extra record."""

    arrived: list[Sent]
    expected: Counter[tuple[str, object]] = field(default_factory=Counter[tuple[str, object]])

    def expect(self, kind: str, what: object) -> None:
        self.expected[kind, what] += 1

    def at(self, record: Sent) -> int:
        """Return the index of the first arrival of a record."""
        return next(index for index, one in enumerate(self.arrived) if one.event_id == record.event_id)


def clean(source: Source) -> Planted:
    """Return what arrives without a fault."""
    return Planted([replace(one, timestamp_ms=one.timestamp_ms + USUAL_MS) for one in source.records])


def plant(source: Source, each: int) -> Planted:
    """Return what arrived with so many faults of each kind, none of them next to another one of the same key."""
    planted = clean(source)
    chosen = Chosen(source)
    for record in chosen.take(each):
        del planted.arrived[planted.at(record)]
        planted.expect("lost", record.place)
    for record in chosen.take(each):
        at = planted.at(record)
        copy_at = source.random.randint(at + 1, len(planted.arrived))
        planted.arrived.insert(copy_at, replace(planted.arrived[at]))
        planted.expect("duplicated", record.place)
    for number, record in enumerate(chosen.take(each)):
        at = planted.at(record)
        key = record.key if number % 2 else f"extra-key-{number}"
        origin = source.aborted[number * len(source.aborted) // each]
        extra = replace(origin, key=key, event_id=f"extra-{number}", value=f"extra {number}")
        planted.arrived.insert(at + 1, replace(extra, timestamp_ms=record.timestamp_ms + USUAL_MS))
        planted.expect("extra", extra.event_id)
    for record in chosen.take(each):
        at = planted.at(record)
        planted.arrived[at] = replace(planted.arrived[at], value="another value")
        planted.expect("changed", record.place)
    for record in chosen.take(each):
        at = planted.at(record)
        planted.arrived[at] = replace(planted.arrived[at], timestamp_ms=record.timestamp_ms + LATE_MS)
        planted.expect("late", record.place)
    for record in chosen.take(each):
        at, next_at = planted.at(record), planted.at(chosen.next_of(record))
        planted.arrived[at], planted.arrived[next_at] = planted.arrived[next_at], planted.arrived[at]
        planted.expect("reordered", record.place)
    return planted


class Chosen:
    """Records for faults. The records of the same key in front of and behind each are not chosen."""

    def __init__(self, source: Source) -> None:
        self._random = source.random
        self._of_key: dict[str, list[Sent]] = {}
        for record in source.records:
            self._of_key.setdefault(record.key, []).append(record)
        last = {record.partition: record for record in source.records}
        # Without the last record of a partition everything behind the one before would be pending.
        self._taken = {record.event_id for record in last.values()}

    def take(self, count: int) -> list[Sent]:
        taken: list[Sent] = []
        while len(taken) < count:
            of_key = self._of_key[self._random.choice(sorted(self._of_key))]
            if len(of_key) < 3:
                continue
            at = self._random.randrange(1, len(of_key) - 1)
            near = of_key[at - 1 : at + 2]
            if not self._taken & {record.event_id for record in near}:
                self._taken |= {record.event_id for record in near}
                taken.append(of_key[at])
        return taken

    def next_of(self, record: Sent) -> Sent:
        of_key = self._of_key[record.key]
        return of_key[of_key.index(record) + 1]


def write_arrived(folder: Path, topic: str, arrived: Iterable[Sent], partitions: int = 2) -> None:
    """Write what arrived as a topic with other partitions and offsets, whose clock is that of the arrival."""
    batches: dict[int, list[bytes]] = {number: [] for number in range(partitions)}
    for sent in arrived:
        number = sum(sent.key.encode()) % partitions
        at = len(batches[number])
        options = BatchOptions(base_offset=at, producer_id=IDEMPOTENT, producer_epoch=0, base_sequence=at)
        batches[number].append(build_batch([_content(sent)], options))
    write_topic(folder, topic, batches)


def write_topic(folder: Path, topic: str, batches: dict[int, list[bytes]], base_offset: int = 0) -> None:
    for number, stored in batches.items():
        path = folder / partition_folder(topic, number) / f"{base_offset:020d}.log"
        path.parent.mkdir(parents=True)
        path.write_bytes(b"".join(stored))


# The columns of a sink, in the order of rows_of.
SINK_SCHEMA = (
    "topic string, partition int, offset bigint, id string, customer string, payload string, written_at timestamp,"
    " row_number bigint"
)


def rows_of(arrived: Sequence[Sent], topic: str = TOPIC) -> list[tuple[object, ...]]:
    """Return the rows of a sink; written_at in milliseconds."""
    return [
        (topic, one.partition, one.offset, one.event_id, one.key, one.value, one.timestamp_ms, number)
        for number, one in enumerate(arrived)
    ]
