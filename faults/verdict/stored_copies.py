"""Finds records that a log has more than once: by their content, and by the event id that a test names.

By content, only copies of unacknowledged batches are searched: a client repeats a batch only until it is acknowledged.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..event_ids import EventIdOf
from ..work_steps import Steps
from .batch_content import contents_of
from .stored_batches import StoredBatch, TopicLogs, batches_in, read_records, stored_batch
from .unacknowledged_batches import UnacknowledgedBatch


@dataclass(slots=True)
class CopiedRecords:
    """Records of one batch that another batch has too.

    original: the first of the two in the log. offsets: of each record in both batches.
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
        self._batches = unacknowledged
        self._unacknowledged_offsets = {batch.base_offset for batch in unacknowledged if not batch.is_acknowledged_late}
        self._found = found
        # The records with each content of an unacknowledged batch, in log order.
        self._occurrences: dict[int, list[_Occurrence]] = {}
        # The content and offset of each record of the unacknowledged batches that are still in the log.
        self._contents: dict[int, list[tuple[int, int]]] = {}
        # Offsets of records that are copies.
        self._copied: set[int] = set()
        self._logs = logs

    def _read(self) -> Steps[None]:
        topic, partition = self._batches[0].topic, self._batches[0].partition
        for batch in self._batches:
            yield from self._read_batch(batch)
        from_offset = min(batch.search_offset for batch in self._batches)
        for each in batches_in(self._logs, topic, partition, from_offset):
            stored = stored_batch(partition, each[0])
            records = yield from read_records(self._logs, topic, partition, each)
            for content, record in zip(contents_of(records), records, strict=True):
                yield
                if content in self._occurrences:
                    self._occurrences[content].append(_Occurrence(record.offset, stored))

    def _read_batch(self, batch: UnacknowledgedBatch) -> Steps[None]:
        first = next(batches_in(self._logs, batch.topic, batch.partition, batch.base_offset), None)
        if first is None or first[0].base_offset != batch.base_offset:
            return  # Deleted by retention or DeleteRecords.
        records = yield from read_records(self._logs, batch.topic, batch.partition, first)
        contents = self._contents[batch.base_offset] = []
        for content, record in zip(contents_of(records), records, strict=True):
            contents.append((content, record.offset))
            self._occurrences.setdefault(content, [])
            yield

    def run(self) -> Steps[None]:
        """Add the copies to those that were found."""
        yield from self._read()
        for batch in self._batches:
            yield
            contents = self._contents.get(batch.base_offset, [])
            left = [content for content, offset in contents if offset not in self._copied]
            if left:
                self._add_copies(batch, [self._same_records(batch, content) for content in left])
            elif contents:
                self._found.acknowledged.add((batch.partition, batch.base_offset))

    def _same_records(self, batch: UnacknowledgedBatch, content: int) -> list[_Occurrence]:
        """Return the record of the unacknowledged batch and its copies, in log order."""
        return [
            occurrence
            for occurrence in self._occurrences[content]
            if occurrence.batch.base_offset >= batch.search_offset
            and occurrence.offset not in self._copied
            and occurrence.batch.may_repeat(batch.producer_id, batch.producer_epoch, batch.base_sequence)
        ]

    def _add_copies(self, batch: UnacknowledgedBatch, same_records: list[list[_Occurrence]]) -> None:
        by_batches: dict[tuple[StoredBatch, StoredBatch], CopiedRecords] = {}
        for original, *later in same_records:
            for copy in later:
                self._copied.add(copy.offset)
                batches = (original.batch, copy.batch)
                copies = by_batches.setdefault(batches, CopiedRecords(*batches, [], batch))
                copies.offsets.append((original.offset, copy.offset))
        self._found.copies += by_batches.values()
        if all(any(self._is_acknowledged(record) for record in records) for records in same_records):
            self._found.acknowledged.add((batch.partition, batch.base_offset))

    def _is_acknowledged(self, record: _Occurrence) -> bool:
        return record.batch.base_offset not in self._unacknowledged_offsets


def find_copies_of_unacknowledged(logs: TopicLogs, unacknowledged: Sequence[UnacknowledgedBatch]) -> Steps[FoundCopies]:
    """Return the copies of unacknowledged batches of one topic, searched in their own partitions."""
    found = FoundCopies()
    by_partition: dict[int, list[UnacknowledgedBatch]] = {}
    for batch in unacknowledged:
        by_partition.setdefault(batch.partition, []).append(batch)
    for each in by_partition.values():
        yield from _PartitionSearch(logs, each, found).run()
    return found


class _Event(NamedTuple):
    """A record with an event id. The first in this order is the original."""

    timestamp: int
    partition: int
    offset: int


def find_copies_of_events(
    logs: TopicLogs, topic: str, event_id_of: EventIdOf, known: set[tuple[int, int]]
) -> Steps[list[CopiedRecords]]:
    """Return the records with the event id of an earlier record, except known copies.

    known: partition and offset of each known copy.
    """
    batches: dict[tuple[int, int], StoredBatch] = {}
    events: dict[bytes, list[_Event]] = {}
    for partition in logs.partitions(topic):
        for each in batches_in(logs, topic, partition, 0):
            batch = stored_batch(partition, each[0])
            for record in (yield from read_records(logs, topic, partition, each)):
                yield
                identity = event_id_of(record)
                if identity is not None:
                    insort(events.setdefault(identity, []), _Event(record.timestamp, partition, record.offset))
                    batches[partition, record.offset] = batch
    found: dict[tuple[StoredBatch, StoredBatch], CopiedRecords] = {}
    for identity, same in events.items():
        yield
        first = same[0]
        original = batches[first.partition, first.offset]
        for later in same[1:]:
            if (later.partition, later.offset) in known:
                continue
            copy = batches[later.partition, later.offset]
            copies = found.setdefault((original, copy), CopiedRecords(original, copy, [], event_id=identity))
            copies.offsets.append((first.offset, later.offset))
    return list(found.values())
