"""The receivers of a partition, and where each of them is."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .delivered_spans import Membership, Span
from .facts import Cause, Fact, Kind

if TYPE_CHECKING:
    from .events import FetchedRange


@dataclass(frozen=True, slots=True)
class Receiver:
    """A member, or a client that is none.

    is_present: whether it is a member now. joined: when it joined, counted in changes of the group.
    restarted_from: memberships whose place it has taken by a restart.
    rejoined_from: those of them that were its own before it joined again, with the leave_reason of each.
    """

    name: str
    is_member: bool = True
    is_present: bool = False
    joined: int = 0
    restarted_from: Collection[Membership] = ()
    rejoined_from: Mapping[Membership, str | None] = field(default_factory=dict[Membership, str | None])

    def cause_before_commit(self, span: Span) -> Cause:
        """Return why the receiver gets offsets again that were not committed."""
        if not self.is_member:
            return Cause.RESTART if span.receiver == self.name else Cause.REBALANCE
        if span.membership in self.rejoined_from:
            return Cause.REJOIN
        return Cause.RESTART if span.membership in self.restarted_from else Cause.REBALANCE

    def span(self, first: int, end: int, request_id: int, *, is_late: bool = False) -> Span:
        """Return what the receiver got by a Fetch. is_late: see Span."""
        return Span(first, end, self.name, request_id, is_late=is_late, joined=self.joined)

    def second_delivery(self, span: Span, cause: Cause, committed: int | None) -> Fact:
        """Return the fact that the receiver got the offsets of a span again."""
        place = (span.first, span.end, self.name, span.receiver, committed)
        return Fact(Kind.DELIVERED_TWICE, cause, *place, leave_reason=self.rejoined_from.get(span.membership))


@dataclass(slots=True)
class Position:
    """Where a receiver is.

    first, end: what it got last; it goes on at end.
    jump: the cause of its last jump forward, or of a start at another offset than the committed one; None without one.
    back_until: where it was when it went back by itself.
    truncated_from: where it was before the log was truncated to end, until it gets the next records. A client that does
    not notice the truncation goes on there. cause: TRUNCATED, or RECREATED if the topic was deleted and created again.
    fetches: how often it got the same offsets.
    """

    assignment: int
    connection_id: int
    first: int
    end: int
    jump: Cause | None = None
    back_until: int = 0
    truncated_from: int | None = None
    cause: Cause = Cause.TRUNCATED
    fetches: int = 1

    def moved_to(self, assignment: int, fetched: FetchedRange) -> None:
        """Take what was delivered in this assignment."""
        self.assignment, self.connection_id = assignment, fetched.connection.connection_id
        self.first, self.end, self.truncated_from = fetched.first, fetched.end, None
        self.cause = Cause.TRUNCATED

    def truncated(self, end: int) -> None:
        """Note that the log ends at end."""
        if self.end > end and self.truncated_from is None:
            self.truncated_from = self.end
        self.end, self.back_until = min(self.end, end), min(self.back_until, end)

    def recreated(self) -> None:
        """Note that the topic was deleted and created again."""
        self.truncated(0)
        self.cause = Cause.RECREATED

    def end_before_reset(self, offset: int) -> int:
        """Return where it was, if this offset is out of range: before a truncation it was beyond the present end."""
        return offset if self.truncated_from is None else min(self.end, offset)
