"""The deliveries of one share group in one partition, and what became of them.

- A record is open from its first acquisition until it is accepted, rejected or archived. Open records are kept by their
  offsets; a group has at most share.partition.max.record.locks of them. What is done is kept as spans.
- What a member acquires is delivered when its response is written. A response that is lost counts as a delivery for
  Kafka, and not here. So a finding waits until it is known which of its responses were written.
- A record that is delivered again was available again: because its lock ended, a member released it or was gone, the
  leader lost the locks, or an administrator reset the group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

from .delivered_spans import DeliveredSpans, Span, outside
from .events import ShareChange, ShareEnd, ShareRequest
from .facts import Cause, Fact, Kind
from .share_findings import WAITING_MAX, Acquisition, ShareFindings, Waiting

_CAUSES = {
    ShareEnd.RELEASED: Cause.RELEASED,
    ShareEnd.LOCK_ENDED: Cause.LOCK_ENDED,
    ShareEnd.MEMBER_LEFT: Cause.MEMBER_LEFT,
}


@dataclass(eq=False, slots=True)
class ShareTotals:
    """How many records each of these happened to; a record counts each time."""

    acquisitions: int = 0
    accepted: int = 0
    released: int = 0
    rejected: int = 0
    archived: int = 0
    locks_ended: int = 0
    members_left: int = 0


class _Run(NamedTuple):
    """Offsets from first to before end with the same state; None if they are not open."""

    first: int
    end: int
    state: Acquisition | None


class ShareHistory:
    """One partition of one share group.

    start: the first offset that is not done, end: the first one that was never acquired; None before they are known.
    """

    __slots__ = (
        "_again",
        "_delivered",
        "_done",
        "_found",
        "_is_reset",
        "_open",
        "_started_at",
        "delivery_counts",
        "end",
        "totals",
    )

    def __init__(self, is_delivered: Callable[[ShareRequest], bool | None]) -> None:
        """is_delivered: whether the response to a request has its records of this partition; None while it is open."""
        self._found = ShareFindings(is_delivered)
        self.end: int | None = None
        self.totals = ShareTotals()
        # How many records were acquired once, twice and so on: their greatest number, as Kafka counts.
        self.delivery_counts: list[int] = []
        self._open: dict[int, Acquisition] = {}
        # The offsets that are done and were delivered, and those that are done and of which that is not known yet.
        self._delivered = DeliveredSpans()
        self._done: list[_Run] = []
        # Why offsets that were done are delivered again.
        self._again = Cause.BROKER_RESTART
        self._started_at = 0
        self._is_reset = False

    # -- the life of the share partition

    def started(self, log_start: int, available: Sequence[tuple[int, int]], end: int, *, is_late: bool) -> None:
        """Note the state from which the leader goes on. is_late: the partition is younger than the group's first use.

        available: the first and last offset of open records before end.
        """
        start = available[0][0] if available else end
        if self._is_reset and self.end is not None:
            self._found.pass_over(self.end, start, Cause.START_RESET)
            self._leave_open(start)
        elif self.end is None and is_late:
            self._found.pass_over(log_start, start, Cause.SEEN_LATE)
        unknown = Acquisition(None, 0)
        for first, last in available:
            for offset in range(first, last + 1):
                self._open.setdefault(offset, unknown)
        for run in _runs_of(self._open):
            if run.state is not None and run.state.ended is None:
                self._set(run, replace(run.state, ended=Cause.BROKER_RESTART))
        self.end, self._started_at, self._is_reset = end, start, False

    def _leave_open(self, start: int) -> None:
        """Note that an administrator has set the start offset while records were open."""
        for run in _runs_of(self._open):
            if not self._found.was_delivered(run.state):
                self._found.pass_over(run.first, min(run.end, start), Cause.START_RESET)
            self._close(run)

    def reset(self) -> None:
        """Note that an administrator has set or deleted the start offset."""
        self._is_reset, self._again = True, Cause.START_RESET

    # -- deliveries

    def acquired(self, request: ShareRequest, ranges: Sequence[tuple[int, int, int]]) -> None:
        """Note what a member has acquired: the first and last offset and the delivery count of each range."""
        for first, last, count in ranges:
            for run in list(self._runs(first, last + 1)):
                self._count_delivery(run, count)
                for part in self._earlier_deliveries(request, run):
                    self._find_second_delivery(request, part)
                    self._set(part, Acquisition(request, count, None, part.state))
            self.end = max(self.end or 0, last + 1)

    def _earlier_deliveries(self, request: ShareRequest, run: _Run) -> Iterator[_Run]:
        """Yield records that are acquired again with what may be a delivery before, and others with None."""
        if run.state is not None:
            yield run._replace(state=self._found.deliveries_of(run.state))
            return
        self._settle()
        spans = self._delivered.within(run.first, run.end)
        for span in spans:
            earlier = ShareRequest(request.connection, request.group, span.receiver, span.request_id, is_written=True)
            yield _Run(span.first, span.end, Acquisition(earlier, 0, self._again))
        for first, end in outside([(span.first, span.end) for span in spans], run.first, run.end):
            yield _Run(first, end, None)

    def _find_second_delivery(self, request: ShareRequest, run: _Run) -> None:
        before = run.state
        if before is not None:
            is_reset = before.ended is Cause.START_RESET
            offset = self._started_at if is_reset else None
            fact = Fact(
                Kind.DELIVERED_TWICE, Cause.BROKER_RESTART, run.first, run.end, request.member_id, offset=offset
            )
            self._found.wait(Waiting(fact, request, before))

    def _count_delivery(self, run: _Run, count: int) -> None:
        number = run.end - run.first
        known = 0 if run.state is None else run.state.count
        self.totals.acquisitions += number
        # After a restart of the leader the count of unacknowledged records begins anew.
        if count > known:
            self.delivery_counts += [0] * (count - len(self.delivery_counts))
            self.delivery_counts[count - 1] += number
            self.delivery_counts[known - 1] -= number if known else 0

    # -- ends

    def changed(self, changes: Sequence[ShareChange], request: ShareRequest | None) -> None:
        """Note what became of records. request: the one with their acknowledgements."""
        for change in changes:
            first, end = change.first, change.last + 1
            if change.end is ShareEnd.DELETED:
                self.deleted(end)
                continue
            if change.end is ShareEnd.SKIPPED:
                self.end = max(self.end or 0, end)
            for run in list(self._runs(first, end)):
                if run.state is not None:
                    self._ended(run, run.state, change, request)

    def _ended(self, run: _Run, state: Acquisition, change: ShareChange, request: ShareRequest | None) -> None:
        self._count_end(change, run.end - run.first)
        if change.end is ShareEnd.REJECTED:
            self._given_up(Kind.REJECTED, Cause.MEMBER, run, state, request)
        if change.end is ShareEnd.LOCK_ENDED and state.request is not None:
            fact = Fact(Kind.LOCK_ENDED, Cause.LOCK_ENDED, run.first, run.end, state.request.member_id)
            self._found.wait(Waiting(fact, state.request))
        cause = _CAUSES.get(change.end)
        if cause is None:
            self._close(run)
        elif change.is_archived:
            self._given_up(Kind.ARCHIVED, cause, run, state, request)
            self._close(run)
        else:
            self._set(run, replace(state, ended=cause))

    def _count_end(self, change: ShareChange, number: int) -> None:
        totals = self.totals
        totals.archived += number if change.is_archived else 0
        match change.end:
            case ShareEnd.ACCEPTED:
                totals.accepted += number
            case ShareEnd.REJECTED:
                totals.rejected += number
            case ShareEnd.RELEASED:
                totals.released += number
            case ShareEnd.LOCK_ENDED:
                totals.locks_ended += number
            case ShareEnd.MEMBER_LEFT:
                totals.members_left += number
            case ShareEnd.GAP | ShareEnd.SKIPPED | ShareEnd.DELETED:
                pass

    def _given_up(self, kind: Kind, cause: Cause, run: _Run, state: Acquisition, request: ShareRequest | None) -> None:
        """Note records that are never delivered again."""
        member = "" if state.request is None else state.request.member_id
        fact = Fact(kind, cause, run.first, run.end, member, count=state.count)
        requests = [state.request, request if cause in (Cause.MEMBER, Cause.RELEASED) else None]
        self._found.wait(Waiting(fact, others=tuple(each for each in requests if each is not None)))

    def _close(self, run: _Run) -> None:
        """Forget records that are done. Those that were delivered are kept as spans."""
        for offset in range(run.first, run.end):
            self._open.pop(offset, None)
        self._done.append(run)
        self._settle()
        del self._done[:-WAITING_MAX]

    def _settle(self) -> None:
        """Keep what is done as delivered, if its response is written; wait for one that is open."""
        done, self._done = self._done, []
        for run in done:
            state = self._found.deliveries_of(run.state)
            if state is None or state.request is None:
                continue
            if not self._found.was_delivered(state):
                self._done.append(run)
                continue
            self._delivered.put(Span(run.first, run.end, state.request.member_id, state.request.request_id))

    def refused(self, request: ShareRequest, ranges: Sequence[tuple[int, int]], error_code: int) -> None:
        """Note acknowledgements of a member that were refused, from first to last."""
        for first, last in ranges:
            state = self._open.get(first)
            holder = state.request if state is not None and state.ended is None else None
            fact = Fact(Kind.ACKNOWLEDGEMENT_REFUSED, Cause.REFUSED, first, last + 1, request.member_id)
            fact.earlier, fact.error_code = "" if holder is None else holder.member_id, error_code
            self._found.wait(Waiting(fact, others=(request,)))

    # -- the log

    def deleted(self, end: int) -> None:
        """Note that the offsets before end were deleted from the log."""
        if self.end is not None:
            self._found.pass_over(self.end, end, Cause.DELETED)
            self.end = max(self.end, end)
        for run in [each for each in _runs_of(self._open) if each.first < end]:
            part = run._replace(end=min(run.end, end))
            if not self._found.was_delivered(part.state):
                self._found.pass_over(part.first, part.end, Cause.DELETED)
            elif part.state is not None and part.state.ended is not None:
                self.totals.archived += part.end - part.first
                self._given_up(Kind.ARCHIVED, Cause.DELETED, part, part.state, None)
            self._close(part)

    def truncated(self, end: int) -> None:
        """Note that the log ends at end: other records will have the offsets from there on."""
        for run in [each for each in _runs_of(self._open) if each.end > end]:
            self._close(run._replace(first=max(run.first, end)))
        self._settle()
        for span in self._delivered.truncate(end):
            fact = Fact(Kind.DELIVERED_AND_TRUNCATED, Cause.TRUNCATED, span.first, span.end, span.receiver)
            fact.add_requests(span.request_id)
            self._found.wait(Waiting(fact))
        missing = self._found.missing
        missing[:] = [replace(each, end=min(each.end, end)) for each in missing if each.first < end]
        self.end = None if self.end is None else min(self.end, end)

    # -- reading

    @property
    def start(self) -> int | None:
        """The first offset that is not done."""
        return min(self._open, default=self.end)

    @property
    def open_count(self) -> int:
        """The number of records before end that are not done."""
        return sum(offset < (self.end or 0) for offset in self._open)

    @property
    def acquired_count(self) -> int:
        """The number of records that are acquired now."""
        return sum(each.request is not None and each.ended is None for each in self._open.values())

    @property
    def delivered_count(self) -> int:
        """The number of records that were delivered."""
        self._settle()
        done = sum(span.end - span.first for span in self._delivered)
        return done + sum(
            self._found.was_delivered(state) and not self._delivered.within(offset, offset + 1)
            for offset, state in self._open.items()
        )

    def facts(self) -> list[Fact]:
        """Return what was found. A delivery whose response is not written is none yet."""
        return [*self._found.settled(), *self._never_delivered()]

    @property
    def open_offsets(self) -> frozenset[int]:
        """The offsets that are known and not done."""
        return frozenset(self._open)

    @property
    def facts_left_out(self) -> int:
        """How many more facts there are than are kept."""
        return self._found.left_out

    def _never_delivered(self) -> Iterator[Fact]:
        self._settle()
        delivered = [run for run in _runs_of(self._open) if self._found.was_delivered(run.state)]
        delivered += self._done
        for each in self._found.missing:
            for first, end in self._delivered.missing(each.first, each.end):
                for part in outside([run[:2] for run in delivered], first, end):
                    yield replace(each, first=part[0], end=part[1])

    # -- offsets

    def _runs(self, first: int, end: int) -> Iterator[_Run]:
        """Yield the offsets from first to before end as runs with the same state."""
        for state, offsets in groupby(range(first, end), key=self._open.get):
            of_run = list(offsets)
            yield _Run(of_run[0], of_run[-1] + 1, state)

    def _set(self, run: _Run, state: Acquisition) -> None:
        self._open.update(dict.fromkeys(range(run.first, run.end), state))


def _runs_of(states: dict[int, Acquisition]) -> list[_Run]:
    """Return open records as runs of adjacent offsets with the same state."""
    runs: list[_Run] = []
    for offset in sorted(states):
        state, last = states[offset], runs[-1] if runs else None
        if last is not None and last.end == offset and last.state is state:
            runs[-1] = last._replace(end=offset + 1)
        else:
            runs.append(_Run(offset, offset + 1, state))
    return runs
