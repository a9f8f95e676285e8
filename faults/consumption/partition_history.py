"""The deliveries and commits of one group in one partition, and what went wrong with them.

- A receiver begins in a partition with its assignment, or with its connection if it is no member. Then it goes on where
  its last Fetch ended. Any other offset is a jump: back to what was delivered before, or over what was not.
- A receiver that begins is expected at the committed offset. What it gets for the second time is due to the commits:
  there was none after the earlier delivery, or a later one took it back.
- An offset that a jump or a commit passes over is missing. It counts only if it was not delivered later either.
- The broker sees what was sent to a client, not what it did with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .delivered_spans import DeliveredSpans, Span, outside
from .facts import Cause, Fact, Kind

if TYPE_CHECKING:
    from .events import FetchedRange

# Fetches of the same offsets, one after the other, from which on a client hangs.
HANGING_MIN = 5
# Facts and missing ranges of one partition that are kept.
FACTS_MAX = 1000


@dataclass(frozen=True, slots=True)
class Receiver:
    """A member, or a client that is none. restarted_from: receivers whose place it has taken by a restart."""

    name: str
    is_member: bool = True
    restarted_from: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Position:
    """Where a receiver is.

    first, end: what it got last; it goes on at end. jump: the cause of its last jump; None without one since it began.
    before_commit: the cause of second deliveries, unless a commit or a jump is the cause.
    fetches: how often it got the same offsets.
    """

    assignment: int
    connection_id: int
    first: int
    end: int
    before_commit: Cause = Cause.REBALANCE
    jump: Cause | None = None
    fetches: int = 1

    def moved_to(self, assignment: int, fetched: FetchedRange) -> None:
        """Take what was delivered in this assignment."""
        self.assignment, self.connection_id = assignment, fetched.connection.connection_id
        self.first, self.end = fetched.first, fetched.end


class PartitionHistory:
    """One partition of one group.

    committed: the committed offset, None without one. is_seen_late: the partition was added while the group consumed
    others of its topic. log_start: the least offset that the log has, as far as it was reported.
    """

    __slots__ = (
        "_assigned",
        "_assignment",
        "_has_lost_commit",
        "_missing",
        "_out_of_range",
        "_positions",
        "_taken_back",
        "committed",
        "delivered",
        "facts",
        "facts_left_out",
        "is_seen_late",
        "log_start",
    )

    def __init__(self) -> None:
        """Start without deliveries."""
        self.delivered = DeliveredSpans()
        self.committed: int | None = None
        self.is_seen_late = False
        self.log_start = 0
        self.facts: list[Fact] = []
        self.facts_left_out = 0
        # What was passed over, whether it was delivered later or not.
        self._missing: list[Fact] = []
        self._positions: dict[str, _Position] = {}
        # Counts the assignments, and the committed offset at the last one.
        self._assignment = 0
        self._assigned: int | None = None
        # Whether committed offsets were deleted or have expired.
        self._has_lost_commit = False
        # Who has taken back a commit: the cause of second deliveries of committed offsets.
        self._taken_back = Cause.MOVED_BACK
        # The offset for which a receiver got OFFSET_OUT_OF_RANGE last, and the request.
        self._out_of_range: dict[str, tuple[int, int]] = {}

    # -- events

    def assigned(self) -> None:
        """Note that the partition was assigned: its receiver begins at the committed offset."""
        self._assignment += 1
        self._assigned = self.committed

    def fetched(self, receiver: Receiver, fetched: FetchedRange) -> None:
        """Note a delivery."""
        position = self._positions.get(receiver.name)
        if position is None or fetched.first != position.end:
            position = self._positions[receiver.name] = self._jumped(receiver, position, fetched)
        elif position.jump is Cause.SAME_OFFSET:
            position.jump = Cause.SEEK
        if position.jump is Cause.SAME_OFFSET:
            self._repeated(receiver, position, fetched)
        else:
            self._find_second_deliveries(receiver, position, fetched)
        self.delivered.put(Span(fetched.first, fetched.end, receiver.name, fetched.request_id))
        position.moved_to(self._assignment, fetched)
        if fetched.repeats:
            self._repeated(receiver, position, fetched)
        self._out_of_range.pop(receiver.name, None)

    def out_of_range(self, receiver: Receiver, offset: int, request_id: int) -> None:
        """Note that a receiver has asked for an offset that the log does not have. It will reset its position."""
        self._out_of_range.setdefault(receiver.name, (offset, request_id))

    def committed_by(self, receiver: Receiver, offset: int, request_id: int, *, is_consumer: bool) -> None:
        """Note a commit. is_consumer: the client is a receiver of the group, and not an administrator."""
        before, self.committed = self.committed, offset
        if before is not None and offset < before:
            cause = Cause.MEMBER if is_consumer else Cause.OTHER_CLIENT
            self._taken_back = Cause.MOVED_BACK if is_consumer else Cause.RESET
            self._add(Fact(Kind.COMMIT_MOVED_BACK, cause, offset, before, receiver.name, offset=before), request_id)
        expected = self.delivered.first if before is None else before
        if expected is not None and expected < offset:
            self._find_committed_beyond(receiver, (expected, offset), request_id, is_consumer=is_consumer)
        self.delivered.commit(offset)

    def commit_lost(self) -> None:
        """Note that the committed offset was deleted or has expired."""
        self.committed, self._has_lost_commit = None, True

    def stale_commit(self, receiver: Receiver, offset: int, request_id: int, *, error_code: int, owner: str) -> None:
        """Note a commit by a member that does not have the partition. error_code: of the refusal, 0 if accepted."""
        cause = Cause.REFUSED if error_code else Cause.ACCEPTED
        fact = Fact(Kind.STALE_MEMBER_COMMITTED, cause, offset, offset, receiver.name, owner, error_code=error_code)
        for known in self.facts:
            if (known.kind, known.cause, known.receiver, known.error_code) == (
                fact.kind,
                fact.cause,
                fact.receiver,
                fact.error_code,
            ):
                known.count += 1
                known.first, known.end = min(known.first, offset), max(known.end, offset)
                known.add_requests(request_id)
                return
        self._add(fact, request_id)

    def deleted(self, end: int) -> None:
        """Note that the offsets before end were deleted from the log."""
        self.log_start = max(self.log_start, end)

    def truncated(self, end: int) -> None:
        """Note that the log ends at end: what was delivered from there on will be given to other records."""
        for span in self.delivered.truncate(end):
            fact = Fact(Kind.DELIVERED_AND_TRUNCATED, Cause.TRUNCATED, span.first, span.end, span.receiver)
            self._add(fact, span.request_id)
        for position in self._positions.values():
            position.end = min(position.end, end)

    # -- findings

    def missing(self, log_end: int | None) -> list[Fact]:
        """Return what was passed over and never delivered. log_end: of the log, None if it is not known."""
        passed = [*self._missing, *self._deleted_unread()]
        if log_end is not None:
            passed = [replace(each, end=min(each.end, log_end)) for each in passed]
        return [
            replace(each, first=first, end=end)
            for each in passed
            for first, end in self.delivered.missing(each.first, each.end)
        ]

    def _deleted_unread(self) -> Iterator[Fact]:
        """Yield what was deleted from the log before the group has read it, and no receiver has noticed yet."""
        expected = self.delivered.end if self.committed is None else self.committed
        if expected is not None:
            for first, end in self._new_missing(expected, self.log_start):
                yield Fact(Kind.NEVER_DELIVERED, Cause.DELETED, first, end, offset=self.committed)

    # -- jumps

    def _jumped(self, receiver: Receiver, position: _Position | None, fetched: FetchedRange) -> _Position:
        """Return the position of a receiver that begins, or does not go on where it was."""
        connection_id = fetched.connection.connection_id
        begins = (
            position is None
            or position.assignment != self._assignment
            or (not receiver.is_member and position.connection_id != connection_id)
        )
        reset = self._out_of_range.get(receiver.name)
        if position is None or begins:
            is_restart = self._is_restart(receiver, fetched, has_been_here=position is not None)
            position = _Position(self._assignment, connection_id, fetched.first, fetched.first)
            position.before_commit = Cause.RESTART if is_restart else Cause.REBALANCE
            position.jump = self._cause_of_start(reset is not None, fetched.first)
            expected = self._expected_start(fetched.first)
        elif fetched.first == position.first and reset is None:
            position.fetches += 1
            position.jump = Cause.SAME_OFFSET
            return position
        else:
            position.jump = Cause.SEEK if reset is None else Cause.RESET
            expected = position.end
            if fetched.first < expected and reset is None:
                self._find_unordered(receiver, fetched)
        position.fetches = 1
        self._find_passed_over(receiver, position, expected if reset is None else reset[0], fetched)
        return position

    def _is_restart(self, receiver: Receiver, fetched: FetchedRange, *, has_been_here: bool) -> bool:
        """Whether a receiver that begins is the one that got the offsets before, after a restart of the client."""
        if not receiver.is_member:
            return has_been_here
        earlier = self.delivered.within(fetched.first, fetched.end)
        return any(span.receiver in receiver.restarted_from for span in earlier)

    def _cause_of_start(self, was_out_of_range: bool, first: int) -> Cause | None:
        """Return why a receiver begins at first; None if it is the committed offset, or there never was one."""
        if was_out_of_range or (self.committed is None and self._has_lost_commit):
            return Cause.RESET
        if self.committed is None or first in (self.committed, self._assigned):
            return None
        return Cause.SEEK

    def _expected_start(self, first: int) -> int:
        if self.committed is not None:
            return self.committed
        end = self.delivered.end
        if end is not None:
            return end
        return self.log_start if self.is_seen_late else first

    def _find_passed_over(self, receiver: Receiver, position: _Position, expected: int, fetched: FetchedRange) -> None:
        if self.is_seen_late and self.delivered.first is None and self.committed is None:
            cause = Cause.SEEN_LATE
        elif position.jump is Cause.RESET or self.committed is None:
            cause = Cause.RESET_TO_LATEST
        else:
            cause = Cause.SEEK
        self._pass_over(receiver, cause, (expected, fetched.first), fetched.request_id)

    def _pass_over(self, receiver: Receiver, cause: Cause, passed: tuple[int, int], request_id: int) -> None:
        """Note offsets that a receiver does not get. What the log no longer has was deleted, whatever it did."""
        request_ids = [each for each in (self._out_of_range.get(receiver.name, (0, 0))[1], request_id) if each]
        for first, end in self._new_missing(*passed):
            middle = min(max(first, self.log_start), end)
            for part, part_cause in (((first, middle), Cause.DELETED), ((middle, end), cause)):
                if part[0] < part[1]:
                    fact = Fact(Kind.NEVER_DELIVERED, part_cause, *part, receiver.name, offset=self.committed)
                    self._keep(self._missing, fact, *request_ids)

    def _new_missing(self, first: int, end: int) -> list[tuple[int, int]]:
        """Return the parts of a range that were neither delivered nor passed over before."""
        known = [(each.first, each.end) for each in self._missing]
        return [part for missing in self.delivered.missing(first, end) for part in outside(known, *missing)]

    def _find_unordered(self, receiver: Receiver, fetched: FetchedRange) -> None:
        for first, end in self.delivered.missing(fetched.first, fetched.end):
            before = self.delivered.end
            if before is not None and first < before:
                self._add(Fact(Kind.OUT_OF_ORDER, Cause.SEEK, first, end, receiver.name), fetched.request_id)

    # -- second deliveries and commits

    def _find_second_deliveries(self, receiver: Receiver, position: _Position, fetched: FetchedRange) -> None:
        for span in self.delivered.within(fetched.first, fetched.end):
            cause = position.jump or (self._taken_back if span.is_committed else position.before_commit)
            fact = Fact(Kind.DELIVERED_TWICE, cause, span.first, span.end, receiver.name, span.receiver, self.committed)
            self._add(fact, span.request_id, fetched.request_id)

    def _repeated(self, receiver: Receiver, position: _Position, fetched: FetchedRange) -> None:
        """Note that a receiver gets the same offsets again and again."""
        position.fetches += fetched.repeats
        known = self.facts[-1] if self.facts else None
        is_known = known is not None and (known.receiver, known.first) == (receiver.name, fetched.first)
        if known is None or not is_known or known.kind not in (Kind.DELIVERED_TWICE, Kind.HANGING):
            known = Fact(
                Kind.DELIVERED_TWICE,
                Cause.SEEK,
                fetched.first,
                fetched.end,
                receiver.name,
                receiver.name,
                self.committed,
            )
            self._add(known, fetched.request_id)
        known.count, known.end = position.fetches, max(known.end, fetched.end)
        known.add_requests(fetched.request_id, fetched.last_request_id)
        if position.fetches >= HANGING_MIN:
            known.kind, known.cause = Kind.HANGING, Cause.SAME_OFFSET

    def _find_committed_beyond(
        self, receiver: Receiver, committed: tuple[int, int], request_id: int, *, is_consumer: bool
    ) -> None:
        reset = self._out_of_range.get(receiver.name)
        if not is_consumer or reset is not None:
            self._pass_over(receiver, Cause.RESET_TO_LATEST if is_consumer else Cause.RESET, committed, request_id)
            return
        beyond = self._new_missing(*committed)
        for first, end in beyond:
            self._add(
                Fact(Kind.COMMIT_BEYOND_DELIVERY, Cause.MEMBER, first, end, receiver.name, offset=committed[1]),
                request_id,
            )
        self._pass_over(receiver, Cause.COMMITTED, committed, request_id)

    def _add(self, fact: Fact, *request_ids: int) -> None:
        self._keep(self.facts, fact, *request_ids)

    def _keep(self, facts: list[Fact], fact: Fact, *request_ids: int) -> None:
        """Add a fact, or its offsets to the one that it continues."""
        begun = next((each for each in reversed(facts) if fact.continues(each)), None)
        if begun is not None:
            begun.end = fact.end
            begun.add_requests(*request_ids)
        elif len(facts) < FACTS_MAX:
            fact.add_requests(*request_ids)
            facts.append(fact)
        else:
            self.facts_left_out += 1
