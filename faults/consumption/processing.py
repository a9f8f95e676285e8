"""What an application has processed of a partition, by its reports, compared with what it got and committed.

- A second delivery counts by its result: offsets that were reported twice are processed twice, for the reason for which
  they were delivered twice. The others are delivered twice only.
- A record is passed over if it is neither reported nor missing for a known reason, and the group is beyond it: it has
  committed it, or the application has reported a later one. What is behind both is lag.
- Transaction markers and aborted records have offsets and are no records to process. The log tells them apart.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .delivered_spans import outside
from .facts import Cause, Fact, Kind
from .processed_offsets import ProcessedOffsets

if TYPE_CHECKING:
    from .partition_history import PartitionHistory

Range = tuple[int, int]

_SECOND_DELIVERIES = (Kind.DELIVERED_TWICE, Kind.HANGING)


@dataclass(frozen=True, slots=True)
class Processing:
    """What was processed of a partition.

    offsets: as reported, by offset or by event id. unprocessed: the ranges of committed records that were not.
    """

    offsets: ProcessedOffsets
    unprocessed: Collection[Range]


def unreported_ranges(partition: PartitionHistory, offsets: ProcessedOffsets) -> list[Range]:
    """Return the offsets that the group is beyond and that were not reported, from the first one that it got."""
    begun = [each for each in (partition.delivered.first, offsets.first) if each is not None]
    if not begun:
        return []
    return offsets.missing(min(begun), max(partition.committed or 0, offsets.end or 0))


def processing_facts(partition: PartitionHistory, processing: Processing, missing: Iterable[Fact]) -> Iterator[Fact]:
    """Yield the facts of the partition as the reports make them, and those that follow from the reports.

    missing: what was never delivered.
    """
    repeated = _ranges_by_times(processing.offsets.repeated)
    for fact in partition.facts:
        if fact.kind in _SECOND_DELIVERIES:
            yield from _judged_delivery(fact, repeated)
        else:
            yield fact
    again = [(fact.first, fact.end) for fact in partition.facts if fact.kind in _SECOND_DELIVERIES]
    for times, first, end in repeated:
        for each in outside(again, first, end):
            yield Fact(Kind.PROCESSED_TWICE, Cause.DELIVERED_ONCE, *each, count=times)
    known = [(fact.first, fact.end) for fact in missing]
    committed = partition.committed or 0
    for unprocessed in processing.unprocessed:
        for first, end in outside(known, *unprocessed):
            middle = min(max(first, committed), end)
            yield from _delivered_parts(partition, Kind.COMMITTED_UNPROCESSED, Cause.COMMITTED_FIRST, first, middle)
            yield from _delivered_parts(partition, Kind.NEVER_PROCESSED, Cause.PASSED_OVER, middle, end)
    for first, end in processing.offsets.ranges:
        yield from _delivered_parts(
            partition, Kind.PROCESSED_UNCOMMITTED, Cause.NOT_COMMITTED, max(first, committed), end
        )


def _judged_delivery(fact: Fact, repeated: Collection[tuple[int, int, int]]) -> Iterator[Fact]:
    """Yield the parts of a second delivery that were processed twice, and those that were not."""
    twice: list[Range] = []
    for times, range_first, range_end in repeated:
        first, end = max(fact.first, range_first), min(fact.end, range_end)
        if first < end:
            twice.append((first, end))
            yield replace(fact, kind=Kind.PROCESSED_TWICE, first=first, end=end, count=times)
    if fact.kind is Kind.HANGING:
        yield fact
        return
    for first, end in outside(twice, fact.first, fact.end):
        yield replace(fact, first=first, end=end, is_reported=True)


def _delivered_parts(partition: PartitionHistory, kind: Kind, cause: Cause, first: int, end: int) -> Iterator[Fact]:
    """Yield facts about the offsets from first to before end, one for each receiver."""
    if first >= end:
        return
    spans = partition.delivered.within(first, end)
    parts = [(span.first, span.end, span.receiver) for span in spans]
    parts += [(*each, "") for each in partition.delivered.missing(first, end)]
    joined: list[tuple[int, int, str]] = []
    for part in sorted(parts):
        if joined and (joined[-1][1], joined[-1][2]) == (part[0], part[2]):
            joined[-1] = (joined[-1][0], part[1], part[2])
        else:
            joined.append(part)
    for part_first, part_end, receiver in joined:
        yield Fact(kind, cause, part_first, part_end, receiver, offset=partition.committed)


def _ranges_by_times(repeated: dict[int, int]) -> list[tuple[int, int, int]]:
    """Return how often adjacent offsets were reported, with the first one and the one after the last."""
    ranges: list[tuple[int, int, int]] = []
    for offset, times in sorted(repeated.items()):
        if ranges and (ranges[-1][0], ranges[-1][2]) == (times, offset):
            ranges[-1] = (times, ranges[-1][1], offset + 1)
        else:
            ranges.append((times, offset, offset + 1))
    return ranges
