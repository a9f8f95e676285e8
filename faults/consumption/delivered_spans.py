"""The offsets of a partition that were delivered to a group, with the receiver of each.

Adjacent offsets of one receiver are one span, so that the memory follows the changes of receivers and not the records.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

# Spans of one partition. The oldest two beyond that become one, with the receiver of the second.
SPANS_MAX = 1000

# A member and when it joined. A member of the consumer protocol keeps its id when it joins again.
Membership = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Span:
    """Offsets from first to before end, as they were delivered last.

    request_id: of the Fetch that delivered the first of them. is_committed: whether the group has committed them since.
    is_late: whether the Fetch was asked for before a rebalance, so that the client drops what it gets by it.
    joined: when the receiver had joined the group, counted in changes of the group.
    """

    first: int
    end: int
    receiver: str
    request_id: int
    is_committed: bool = False
    is_late: bool = False
    joined: int = 0

    @property
    def membership(self) -> Membership:
        """The receiver, if it is a member, and when it had joined."""
        return self.receiver, self.joined

    @property
    def delivery(self) -> tuple[str, bool, bool, int]:
        """What adjacent spans have in common that are one."""
        return self.receiver, self.is_committed, self.is_late, self.joined


class DeliveredSpans:
    """Spans in the order of their offsets, which do not overlap."""

    __slots__ = ("_spans",)

    def __init__(self) -> None:
        """Start without spans."""
        self._spans: list[Span] = []

    def __iter__(self) -> Iterator[Span]:
        """Yield the spans."""
        return iter(self._spans)

    @property
    def first(self) -> int | None:
        """The first delivered offset; None without one."""
        return self._spans[0].first if self._spans else None

    @property
    def end(self) -> int | None:
        """The offset after the last delivered one; None without one."""
        return self._spans[-1].end if self._spans else None

    def within(self, first: int, end: int) -> list[Span]:
        """Return the delivered offsets from first to before end."""
        found: list[Span] = []
        for span in self._spans[self._index_of(first) :]:
            if span.first >= end:
                break
            within_first, within_end = max(first, span.first), min(end, span.end)
            if within_first < within_end:
                found.append(replace(span, first=within_first, end=within_end))
        return found

    def missing(self, first: int, end: int) -> list[tuple[int, int]]:
        """Return the ranges of offsets from first to before end that were not delivered."""
        return outside(((span.first, span.end) for span in self.within(first, end)), first, end)

    def put(self, span: Span) -> None:
        """Add offsets; for those that were delivered before, this is their last delivery now."""
        last = self._spans[-1] if self._spans else None
        if last is None or last.end <= span.first:
            self._append(span)
            return
        before = [each for each in self._spans if each.end <= span.first]
        after = [each for each in self._spans if each.first >= span.end]
        cut = [each for each in self._spans if each.first < span.end and each.end > span.first]
        self._spans = before
        for each in cut:
            if each.first < span.first:
                self._append(replace(each, end=span.first))
        self._append(span)
        for each in (*cut, *after):
            if each.end > span.end:
                self._append(replace(each, first=max(each.first, span.end)))

    def commit(self, end: int) -> None:
        """Note that the group has committed the offsets before end."""
        if all(span.is_committed for span in self._spans if span.first < end):
            return
        spans, self._spans = self._spans, []
        for span in spans:
            if span.first < end:
                self._append(replace(span, end=min(end, span.end), is_committed=True))
            if span.end > end:
                self._append(replace(span, first=max(end, span.first)))

    def mark_late(self, first: int, end: int, receiver: str) -> None:
        """Note that what a receiver got of these offsets was late."""
        for span in self.within(first, end):
            if span.receiver == receiver:
                self.put(replace(span, is_late=True))

    def truncate(self, end: int) -> list[Span]:
        """Remove the offsets from end on, and return them."""
        removed = [replace(each, first=max(end, each.first)) for each in self._spans if each.end > end]
        self._spans = [replace(each, end=min(end, each.end)) for each in self._spans if each.first < end]
        return removed

    def _index_of(self, offset: int) -> int:
        return max(0, bisect_right(self._spans, offset, key=lambda span: span.first) - 1)

    def _append(self, span: Span) -> None:
        last = self._spans[-1] if self._spans else None
        if last is not None and last.end == span.first and last.delivery == span.delivery:
            self._spans[-1] = replace(last, end=span.end)
            return
        self._spans.append(span)
        if len(self._spans) > SPANS_MAX and self._spans[0].end == self._spans[1].first:
            self._spans[:2] = [replace(self._spans[1], first=self._spans[0].first)]
        elif len(self._spans) > SPANS_MAX:
            del self._spans[0]


def outside(ranges: Iterable[tuple[int, int]], first: int, end: int) -> list[tuple[int, int]]:
    """Return the parts of the offsets from first to before end that are in none of the ranges, which may overlap."""
    rest: list[tuple[int, int]] = []
    position = first
    for range_first, range_end in sorted(ranges):
        if range_first > position:
            rest.append((position, min(range_first, end)))
        position = max(position, range_end)
        if position >= end:
            break
    rest.append((position, end))
    return [each for each in rest if each[0] < each[1]]
