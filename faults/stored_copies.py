"""Finds the records that a log has more than once: by what they are, and by the event id that a test names.

By what they are, only copies of doubtful batches are looked for: a client sends a batch again until it is told that the
batch is there, and not after. So each batch that was not acknowledged leads to its next copy, up to one that was.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..protocol.records import Record
from .batch_content import contents_of
from .doubtful_batches import DoubtfulBatch
from .stored_batches import StoredBatch, TopicLogs, records_in

# What an event id may be in: the key of a record, or the header of this name.
KEY = "key"
HEADER_PREFIX = "header:"


@dataclass(slots=True)
class Copies:
    """Records of one batch that another one has too.

    original: the first of the two in the log. offsets: of each record, in both.
    doubtful: why it came again, if the client was not told. event_id: of the first record, if it was found by that.
    """

    original: StoredBatch
    copy: StoredBatch
    offsets: list[tuple[int, int]]
    doubtful: DoubtfulBatch | None = None
    event_id: bytes | None = None


@dataclass(slots=True)
class FoundCopies:
    """All copies in a topic.

    acknowledged: first offsets of doubtful batches, by partition, of which a later copy was acknowledged, or that are
    copies themselves.
    """

    copies: list[Copies] = field(default_factory=list[Copies])
    acknowledged: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])


class _Occurrence(NamedTuple):
    """A record in a log."""

    offset: int
    batch: StoredBatch


class _PartitionSearch:
    """The search for copies of the doubtful batches of one partition."""

    def __init__(self, logs: TopicLogs, doubts: Sequence[DoubtfulBatch], found: FoundCopies) -> None:
        self._doubts = {doubt.base_offset: doubt for doubt in doubts}
        self._found = found
        self._occurrences: dict[int, list[_Occurrence]] = {}
        # Of each doubtful batch that is still there: its numbers, and content and offset of each record.
        self._contents: dict[int, tuple[StoredBatch, list[tuple[int, int]]]] = {}
        # Offsets of records, and of batches, that are already told of.
        self._taken: set[int] = set()
        self._followed: set[int] = set()
        topic, partition = doubts[0].topic, doubts[0].partition
        for doubt in doubts:
            self._read_doubtful(logs, doubt)
        for batch, records in records_in(logs, topic, partition, min(doubt.search_offset for doubt in doubts)):
            for content, record in zip(contents_of(records), records, strict=True):
                if content in self._occurrences:
                    self._occurrences[content].append(_Occurrence(record.offset, batch))

    def _read_doubtful(self, logs: TopicLogs, doubt: DoubtfulBatch) -> None:
        first = next(records_in(logs, doubt.topic, doubt.partition, doubt.base_offset), None)
        if first is None or first[0].base_offset != doubt.base_offset:
            return  # Deleted since, by retention or by a client.
        batch, records = first
        contents = contents_of(records)
        self._contents[doubt.base_offset] = (batch, [(c, r.offset) for c, r in zip(contents, records, strict=True)])
        for content in contents:
            self._occurrences.setdefault(content, [])

    def run(self) -> None:
        for base_offset, doubt in self._doubts.items():
            if base_offset in self._contents and base_offset not in self._followed:
                self._follow(doubt)

    def _follow(self, doubt: DoubtfulBatch) -> None:
        """Go from copy to copy, up to one that was acknowledged."""
        batch, contents = self._contents[doubt.base_offset]
        sendings: list[dict[int, _Occurrence]] = [{}]
        from_offset = doubt.search_offset
        self._taken.update(offset for _, offset in contents)
        while sending := self._next_sending(batch, contents, from_offset):
            sendings.append(sending)
            batches = {each.batch.base_offset for each in sending.values()}
            from_offset = max(*batches, doubt.base_offset) + 1
            doubtful = batches & self._doubts.keys()
            self._taken.update(each.offset for each in sending.values())
            self._followed |= doubtful
            self._found.acknowledged |= {(doubt.partition, base_offset) for base_offset in doubtful}
            if not doubtful:
                if len(sending) == len(contents):
                    self._found.acknowledged.add((doubt.partition, doubt.base_offset))
                break
        self._tell(doubt, sendings[1:])

    def _next_sending(
        self, batch: StoredBatch, contents: list[tuple[int, int]], from_offset: int
    ) -> dict[int, _Occurrence]:
        """Return where the records of the batch are next, by their offsets in it; they may be in several batches."""
        sending: dict[int, _Occurrence] = {}
        for content, offset in contents:
            for occurrence in self._occurrences[content]:
                copy = occurrence.batch
                if (
                    copy.base_offset >= from_offset
                    and copy.base_offset != batch.base_offset
                    and occurrence.offset not in self._taken
                    and copy.may_repeat(batch.producer_id, batch.producer_epoch, batch.base_sequence)
                ):
                    sending[offset] = occurrence
                    break
        return sending

    def _tell(self, doubt: DoubtfulBatch, sendings: list[dict[int, _Occurrence]]) -> None:
        batch, _ = self._contents[doubt.base_offset]
        for sending in sendings:
            by_copy: dict[StoredBatch, list[tuple[int, int]]] = {}
            for offset, occurrence in sending.items():
                by_copy.setdefault(occurrence.batch, []).append((offset, occurrence.offset))
            for copy, offsets in by_copy.items():
                if copy.base_offset > batch.base_offset:
                    self._found.copies.append(Copies(batch, copy, offsets, doubt))
                else:
                    turned = [(there, here) for here, there in offsets]
                    self._found.copies.append(Copies(copy, batch, turned, doubt))


def find_copies_of_doubtful(logs: TopicLogs, doubts: Sequence[DoubtfulBatch]) -> FoundCopies:
    """Return the copies of the doubtful batches of one topic, within their partitions."""
    found = FoundCopies()
    by_partition: dict[int, list[DoubtfulBatch]] = {}
    for doubt in doubts:
        by_partition.setdefault(doubt.partition, []).append(doubt)
    for each in by_partition.values():
        _PartitionSearch(logs, each, found).run()
    return found


class _Event(NamedTuple):
    """A record with an event id; in this order, the first one is taken for the original."""

    timestamp: int
    partition: int
    offset: int


def find_copies_of_events(logs: TopicLogs, topic: str, event_id: str, known: set[tuple[int, int]]) -> Iterator[Copies]:
    """Yield the records of the topic that have the event id of another one, but for those that are known as copies.

    event_id: KEY, or HEADER_PREFIX and the name of a header. known: partition and offset of each.
    """
    batches: dict[tuple[int, int], StoredBatch] = {}
    events: dict[bytes, list[_Event]] = {}
    for partition in logs.partitions(topic):
        for batch, records in records_in(logs, topic, partition, 0):
            for record in records:
                identity = _event_id_of(record, event_id)
                if identity is not None:
                    insort(events.setdefault(identity, []), _Event(record.timestamp, partition, record.offset))
                    batches[partition, record.offset] = batch
    found: dict[tuple[StoredBatch, StoredBatch], Copies] = {}
    for identity, same in events.items():
        first = same[0]
        original = batches[first.partition, first.offset]
        for later in same[1:]:
            if (later.partition, later.offset) in known:
                continue
            copy = batches[later.partition, later.offset]
            copies = found.setdefault((original, copy), Copies(original, copy, [], event_id=identity))
            copies.offsets.append((first.offset, later.offset))
    yield from found.values()


def _event_id_of(record: Record, event_id: str) -> bytes | None:
    if event_id == KEY:
        return record.key
    wanted = event_id.removeprefix(HEADER_PREFIX)
    return next((value for name, value in record.headers if name == wanted), None)
