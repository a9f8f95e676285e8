"""Finds the records that a log has more than once: by what they are, and by the event id that a test names.

By content, only copies of unacknowledged batches are searched: a client repeats a batch only until it is acknowledged.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ...protocol.batches.records import Record
from .batch_content import contents_of
from .stored_batches import StoredBatch, TopicLogs, records_in
from .unacknowledged_batches import UnacknowledgedBatch

# What an event id may be in: the key of a record, or the header of this name.
KEY = "key"
HEADER_PREFIX = "header:"


@dataclass(slots=True)
class CopiedRecords:
    """Records of one batch that another one has too.

    original: the first of the two in the log. offsets: of each record, in both.
    unacknowledged: the batch that was sent again; None if the copies were found by event id.
    event_id: of the first record, if they were found by it.
    """

    original: StoredBatch
    copy: StoredBatch
    offsets: list[tuple[int, int]]
    unacknowledged: UnacknowledgedBatch | None = None
    event_id: bytes | None = None


@dataclass(slots=True)
class FoundCopies:
    """All copies in a topic.

    acknowledged: partition and base offset of unacknowledged batches of which a copy was acknowledged, or which are
    copies of another unacknowledged batch.
    """

    copies: list[CopiedRecords] = field(default_factory=list[CopiedRecords])
    acknowledged: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])


class _Occurrence(NamedTuple):
    """A record in a log."""

    offset: int
    batch: StoredBatch


class _PartitionSearch:
    """The search for copies of the unacknowledged batches of one partition."""

    def __init__(self, logs: TopicLogs, unacknowledged: Sequence[UnacknowledgedBatch], found: FoundCopies) -> None:
        self._doubts = unacknowledged
        self._untold = {doubt.base_offset for doubt in unacknowledged if not doubt.is_told}
        self._found = found
        # Of each content that a unacknowledged batch has: every record with it, in the order of the log.
        self._occurrences: dict[int, list[_Occurrence]] = {}
        # Of each unacknowledged batch that is still there: the content and the offset of each record.
        self._contents: dict[int, list[tuple[int, int]]] = {}
        # Records that are known as copies.
        self._copied: set[int] = set()
        topic, partition = unacknowledged[0].topic, unacknowledged[0].partition
        for doubt in unacknowledged:
            self._read_doubtful(logs, doubt)
        for batch, records in records_in(logs, topic, partition, min(doubt.search_offset for doubt in unacknowledged)):
            for content, record in zip(contents_of(records), records, strict=True):
                if content in self._occurrences:
                    self._occurrences[content].append(_Occurrence(record.offset, batch))

    def _read_doubtful(self, logs: TopicLogs, doubt: UnacknowledgedBatch) -> None:
        first = next(records_in(logs, doubt.topic, doubt.partition, doubt.base_offset), None)
        if first is None or first[0].base_offset != doubt.base_offset:
            return  # Deleted since, by retention or by a client.
        contents = contents_of(first[1])
        self._contents[doubt.base_offset] = [(c, r.offset) for c, r in zip(contents, first[1], strict=True)]
        for content in contents:
            self._occurrences.setdefault(content, [])

    def run(self) -> None:
        for doubt in self._doubts:
            contents = self._contents.get(doubt.base_offset, [])
            left = [content for content, offset in contents if offset not in self._copied]
            if left:
                self._tell(doubt, [self._same_records(doubt, content) for content in left])
            elif contents:
                self._found.acknowledged.add((doubt.partition, doubt.base_offset))

    def _same_records(self, doubt: UnacknowledgedBatch, content: int) -> list[_Occurrence]:
        """Return the record of the unacknowledged batch and its copies, in the order of the log."""
        return [
            occurrence
            for occurrence in self._occurrences[content]
            if occurrence.batch.base_offset >= doubt.search_offset
            and occurrence.offset not in self._copied
            and occurrence.batch.may_repeat(doubt.producer_id, doubt.producer_epoch, doubt.base_sequence)
        ]

    def _tell(self, doubt: UnacknowledgedBatch, same_records: list[list[_Occurrence]]) -> None:
        by_batches: dict[tuple[StoredBatch, StoredBatch], CopiedRecords] = {}
        for original, *later in same_records:
            for copy in later:
                self._copied.add(copy.offset)
                batches = (original.batch, copy.batch)
                copies = by_batches.setdefault(batches, CopiedRecords(*batches, [], doubt))
                copies.offsets.append((original.offset, copy.offset))
        self._found.copies += by_batches.values()
        if all(any(self._is_told(record) for record in records) for records in same_records):
            self._found.acknowledged.add((doubt.partition, doubt.base_offset))

    def _is_told(self, record: _Occurrence) -> bool:
        return record.batch.base_offset not in self._untold


def find_copies_of_doubtful(logs: TopicLogs, unacknowledged: Sequence[UnacknowledgedBatch]) -> FoundCopies:
    """Return the copies of the unacknowledged batches of one topic, within their partitions."""
    found = FoundCopies()
    by_partition: dict[int, list[UnacknowledgedBatch]] = {}
    for doubt in unacknowledged:
        by_partition.setdefault(doubt.partition, []).append(doubt)
    for each in by_partition.values():
        _PartitionSearch(logs, each, found).run()
    return found


class _Event(NamedTuple):
    """A record with an event id; in this order, the first one is taken for the original."""

    timestamp: int
    partition: int
    offset: int


def find_copies_of_events(
    logs: TopicLogs, topic: str, event_id: str, known: set[tuple[int, int]]
) -> Iterator[CopiedRecords]:
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
    found: dict[tuple[StoredBatch, StoredBatch], CopiedRecords] = {}
    for identity, same in events.items():
        first = same[0]
        original = batches[first.partition, first.offset]
        for later in same[1:]:
            if (later.partition, later.offset) in known:
                continue
            copy = batches[later.partition, later.offset]
            copies = found.setdefault((original, copy), CopiedRecords(original, copy, [], event_id=identity))
            copies.offsets.append((first.offset, later.offset))
    yield from found.values()


def _event_id_of(record: Record, event_id: str) -> bytes | None:
    if event_id == KEY:
        return record.key
    wanted = event_id.removeprefix(HEADER_PREFIX)
    return next((value for name, value in record.headers if name == wanted), None)
