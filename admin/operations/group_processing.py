"""What applications have processed of the topics of a group: their reports, with the records that the logs have."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...broker.replica.record_reader import OffsetRange, StoredRecord
from ...faults.consumption.group_history import GroupHistory, TopicPartition
from ...faults.consumption.processed_events import EventSource
from ...faults.consumption.processed_offsets import ProcessedOffsets
from ...faults.consumption.processing import Processing, Range, unreported_ranges
from ...faults.event_ids import find_event_id
from ..control import Control
from ..leading_partitions import leading_partitions_of
from ..paging import INT64_MAX
from .visited_records import visit_committed

if TYPE_CHECKING:
    from ...broker.replica.partition import Partition

# Events that a note names.
EVENTS_NAMED_MAX = 3


@dataclass(slots=True)
class GroupProcessing:
    """What was processed by partition. notes: what the reports do not tell. left_out: reports that were not kept."""

    partitions: dict[TopicPartition, Processing] = field(default_factory=dict[TopicPartition, Processing])
    notes: list[str] = field(default_factory=list[str])
    left_out: int = 0


async def read_processing(control: Control, group_id: str, history: GroupHistory) -> GroupProcessing:
    """Return what the application of a group has processed, by its reports. It is work of run_long_call.

    Of a topic without reports there is nothing.
    """
    reports = control.journal.consumption.histories.processed_events
    by_event = reports.of_group(group_id)
    found = GroupProcessing(left_out=reports.left_out[group_id])
    topics = {topic for (topic, _), each in history.partitions.items() if each.processed}
    for topic in sorted(topics | {source.topic for source in by_event}):
        leaders = {(topic, each.index): each for each in leading_partitions_of(control.cluster, topic)}
        offsets = {place: ProcessedOffsets() for place in leaders}
        offsets |= {place: each.processed.copy() for place, each in history.partitions.items() if place[0] == topic}
        for source, counts in by_event.items():
            if source.topic == topic:
                found.notes += await _add_events(source, counts, leaders, offsets)
        for place, processed in offsets.items():
            if not processed and place not in history.partitions:
                continue
            found.left_out += processed.left_out
            ranges = unreported_ranges(history.partition(place), processed)
            leader = leaders.get(place)
            records = [] if leader is None or not ranges else await _records_in(leader, ranges)
            found.partitions[place] = Processing(processed, records)
    return found


async def _add_events(
    source: EventSource,
    counts: Counter[bytes],
    leaders: Mapping[TopicPartition, Partition],
    offsets: Mapping[TopicPartition, ProcessedOffsets],
) -> list[str]:
    """Add the offsets of the processed events, and return a note about those that the topic does not have.

    An event with several records is processed in each of them: the application has recognised the copies. What was
    reported more often than there are records counts for the first one.
    """
    event_id_of = find_event_id(source.event_id)
    assert event_id_of is not None, "event ids are checked when they are reported"
    first: dict[bytes, tuple[TopicPartition, int]] = {}
    found: Counter[bytes] = Counter()
    for place, leader in leaders.items():

        def visit(record: StoredRecord, place: TopicPartition = place) -> None:
            event_id = event_id_of(record)
            if event_id is not None and event_id in counts:
                offsets[place].add(record.offset)
                first.setdefault(event_id, (place, record.offset))
                found[event_id] += 1

        await visit_committed(leader, OffsetRange(0, INT64_MAX), visit)
    for event_id, (place, offset) in first.items():
        for _ in range(counts[event_id] - found[event_id]):
            offsets[place].add(offset)
    unknown = [each.decode(errors="backslashreplace") for each in counts if each not in found]
    named = ", ".join(map(repr, unknown[:EVENTS_NAMED_MAX]))
    note = f"processed events that {source.topic} does not have by {source.event_id}: {len(unknown)}, such as {named}"
    return [note] if unknown else []


async def _records_in(leader: Partition, ranges: Sequence[Range]) -> list[Range]:
    """Return the offsets of committed records in these ranges; those of markers and gaps are in no range."""
    firsts = [first for first, _ in ranges]
    records: list[Range] = []

    def visit(record: StoredRecord) -> None:
        _, end = ranges[bisect_right(firsts, record.offset) - 1]
        if record.offset >= end:
            return
        if records and records[-1][1] == record.offset:
            records[-1] = (records[-1][0], record.offset + 1)
        else:
            records.append((record.offset, record.offset + 1))

    await visit_committed(leader, OffsetRange(ranges[0][0], ranges[-1][1] - 1), visit)
    return records
