"""The deliveries and commits of one group in one partition, and what went wrong with them.

- A receiver begins in a partition with its assignment, or with its connection if it is no member. Then it goes on where
  its last Fetch ended. Any other offset is a jump: back to what was delivered before, or over what was not.
- A receiver that begins is expected at the committed offset. What it gets for the second time is due to the commits:
  there was none after the earlier delivery, or a later one took it back.
- An offset that a jump or a commit passes over is missing. It counts only if it was not delivered later either.
- What a member gets by a Fetch from before a rebalance is no first delivery: the member drops it and fetches it again.
- The broker sees what was sent to a client, not what it did with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from .delivered_spans import DeliveredSpans, Span, outside
from .facts import Cause, Fact, Kind, keep_fact
from .processed_offsets import ProcessedOffsets
from .receivers import Position, Receiver

if TYPE_CHECKING:
    from .events import FetchedRange, OutOfRange

# Fetches of the same offsets, one after the other, from which on a client hangs.
HANGING_MIN = 5


class PartitionHistory:
    """One partition of one group.

    committed: the committed offset, None without one. is_seen_late: the partition was added while the group consumed
    others of its topic. log_start: the least offset that the log has, as far as it was reported. processed: the offsets
    that the application has reported. reads_committed: of the last receiver, None before there is one.
    """

    __slots__ = (
        "_assigned",
        "_assigned_after",
        "_assignment",
        "_has_begun",
        "_has_lost_commit",
        "_last_position",
        "_missing",
        "_out_of_range",
        "_positions",
        "_taken_back",
        "_was_lost_when_assigned",
        "committed",
        "delivered",
        "facts",
        "facts_left_out",
        "is_seen_late",
        "log_start",
        "processed",
        "reads_committed",
    )

    def __init__(self, log_start: int = 0) -> None:
        """Start without deliveries."""
        self.delivered = DeliveredSpans()
        self.processed = ProcessedOffsets()
        self.committed: int | None = None
        self.is_seen_late = False
        self.log_start = log_start
        self.reads_committed: bool | None = None
        self.facts: list[Fact] = []
        self.facts_left_out = 0
        # What was passed over, whether it was delivered later or not.
        self._missing: list[Fact] = []
        self._positions: dict[str, Position] = {}
        # Of the receiver that got something last.
        self._last_position: Position | None = None
        # Counts the assignments. Of the last one: the request before, the committed offset, whether one was lost.
        self._assignment = self._assigned_after = 0
        # Whether the present receiver has asked for the committed offset since.
        self._has_begun = False
        self._assigned: int | None = None
        self._was_lost_when_assigned = False
        # Whether committed offsets were deleted or have expired.
        self._has_lost_commit = False
        # Who has taken back a commit: the cause of second deliveries of committed offsets.
        self._taken_back = Cause.MOVED_BACK
        # The first OFFSET_OUT_OF_RANGE of a receiver since it got something.
        self._out_of_range: dict[str, OutOfRange] = {}

    # -- events

    def assigned(self, request_id: int) -> None:
        """Note that the partition was assigned after this request: its receiver begins at the committed offset."""
        self._assignment += 1
        self._assigned_after, self._has_begun = request_id, False
        self._assigned, self._was_lost_when_assigned = self.committed, self._has_lost_commit
        self._out_of_range.clear()

    def begun(self, receiver: str, request_id: int) -> None:
        """Note that a receiver has asked for the committed offset: after a rebalance it drops what it got before."""
        if self._has_begun:
            return
        self._has_begun, self._assigned_after = True, request_id
        position = self._positions.get(receiver)
        if position is not None and position.assignment == self._assignment:
            self.delivered.mark_late(position.first, position.end, receiver)
            position.assignment -= 1

    def fetched(self, receiver: Receiver, fetched: FetchedRange) -> None:
        """Note a delivery."""
        self._forget_reset(receiver, fetched)
        position = self._positions.get(receiver.name)
        if receiver.is_present and 0 < fetched.request_id <= self._assigned_after:
            self._fetched_late(receiver, position, fetched)
            return
        is_begun = position is None or self._begins(receiver, position, fetched)
        if position is None or is_begun:
            position = self._positions[receiver.name] = self._begin(receiver, fetched)
        is_repeated = not is_begun and self._goes_on(receiver, position, fetched)
        if is_repeated:
            self._repeated(receiver, position, fetched)
        else:
            self._find_second_deliveries(receiver, position, fetched)
        self.delivered.put(receiver.span(fetched.first, fetched.end, fetched.request_id))
        position.moved_to(self._assignment, fetched)
        self._last_position, self.reads_committed = position, fetched.reads_committed
        if fetched.repeats and not is_repeated:
            self._repeated(receiver, position, fetched)
        self._out_of_range.pop(receiver.name, None)

    def _goes_on(self, receiver: Receiver, position: Position, fetched: FetchedRange) -> bool:
        """Note where a receiver goes on. Return whether it gets the same offsets again."""
        if receiver.name in self._out_of_range:
            self._jump(receiver, position, fetched)
        elif fetched.first == position.end:
            position.fetches = 1
        elif fetched.first == position.truncated_from:
            self._pass_over(receiver, position.cause, (position.end, fetched.first), fetched.request_id)
        elif fetched.first == position.first:
            position.fetches += 1
            position.back_until = max(position.back_until, position.end)
            return True
        else:
            self._jump(receiver, position, fetched)
        return False

    def _fetched_late(self, receiver: Receiver, position: Position | None, fetched: FetchedRange) -> None:
        """Note a delivery by a Fetch from before the rebalance. The client drops it, or goes on at its end."""
        for first, end in self.delivered.missing(fetched.first, fetched.end):
            self.delivered.put(receiver.span(first, end, fetched.request_id, is_late=True))
        if position is not None and position.end == fetched.first:
            position.end = fetched.end

    def out_of_range(self, receiver: Receiver, event: OutOfRange) -> None:
        """Note that a receiver has asked for an offset that the log does not have. It will reset its position."""
        self._forget_reset(receiver, event)
        self._out_of_range.setdefault(receiver.name, event)

    def _forget_reset(self, receiver: Receiver, event: FetchedRange | OutOfRange) -> None:
        """Delete the reset of a client without a group that has connected again, and so begins anew."""
        reset = self._out_of_range.get(receiver.name)
        is_new = reset is not None and reset.connection.connection_id != event.connection.connection_id
        if is_new and not receiver.is_member:
            del self._out_of_range[receiver.name]

    def committed_by(self, receiver: Receiver, offset: int, request_id: int, *, is_consumer: bool) -> None:
        """Note a commit. is_consumer: the client is a receiver of the group, and not an administrator."""
        # None is committed: kafkajs sends -1 or -2 after OFFSET_OUT_OF_RANGE, and its next start is reset.
        if offset < 0:
            self.commit_lost()
            return
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
        self.committed, self._has_lost_commit, self._taken_back = None, True, Cause.RESET

    def stale_commit(self, receiver: Receiver, offset: int, request_id: int, *, error_code: int, owner: str) -> None:
        """Note a commit by a member that does not have the partition. error_code: of the refusal, 0 if accepted."""
        cause = Cause.REFUSED if error_code else Cause.ACCEPTED
        fact = Fact(Kind.STALE_MEMBER_COMMITTED, cause, offset, offset, receiver.name, owner, error_code=error_code)
        what = (fact.kind, fact.cause, fact.receiver, fact.error_code)
        for known in self.facts:
            if (known.kind, known.cause, known.receiver, known.error_code) == what:
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
        self.processed.truncate(end)
        for position in self._positions.values():
            position.truncated(end)
        self._missing = [replace(each, end=min(each.end, end)) for each in self._missing if each.first < end]
        if self.committed is not None and self.committed > end:
            self._pass_over(Receiver(""), Cause.TRUNCATED, (end, self.committed), 0)

    def has_received(self, receiver: str) -> bool:
        """Whether a receiver got records, which others may have got since."""
        return receiver in self._positions

    def recreated(self) -> PartitionHistory:
        """Return the history of the partition in a new topic of the same name: a client may go on where it was."""
        history = PartitionHistory()
        history._assignment, history._positions = self._assignment, self._positions
        for position in self._positions.values():
            position.recreated()
        return history

    # -- findings

    @property
    def position(self) -> int | None:
        """Where the last receiver is, or where a new one begins. None if that is not known."""
        last = self._last_position
        if last is not None and last.assignment == self._assignment:
            return last.end
        return self.delivered.end if self.committed is None else self.committed

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

    def _begins(self, receiver: Receiver, position: Position, fetched: FetchedRange) -> bool:
        """Whether a receiver that was here before begins anew. One that goes on where it was may do so."""
        if receiver.is_member and position.assignment == self._assignment:
            return False
        if not receiver.is_member and position.connection_id == fetched.connection.connection_id:
            return False
        if receiver.name in self._out_of_range:
            return True
        if fetched.first == position.truncated_from and position.cause is Cause.RECREATED:
            return False
        begun_at = self._begun_at(receiver)
        is_moved = fetched.first not in (position.end, position.truncated_from)
        return is_moved or begun_at is None or fetched.first in (begun_at, self.committed)

    def _begun_at(self, receiver: Receiver) -> int | None:
        """Return the committed offset when a receiver begins."""
        return self._assigned if receiver.is_member else self.committed

    def _begin(self, receiver: Receiver, fetched: FetchedRange) -> Position:
        """Return the position of a receiver that begins."""
        reset = self._out_of_range.get(receiver.name)
        position = Position(self._assignment, fetched.connection.connection_id, fetched.first, fetched.first)
        begun_at = self._begun_at(receiver)
        is_lost = self._was_lost_when_assigned if receiver.is_member else self._has_lost_commit
        is_reset = reset is not None or (begun_at is None and is_lost)
        position.jump = self._cause_of_start(begun_at, fetched.first, is_reset=is_reset)
        expected = self._expected_start(begun_at, fetched.first) if reset is None else reset.offset
        self._find_passed_over(receiver, position, expected, fetched)
        return position

    def _jump(self, receiver: Receiver, position: Position, fetched: FetchedRange) -> None:
        """Note that a receiver does not go on where it was."""
        reset = self._out_of_range.get(receiver.name)
        if reset is not None:
            position.jump, position.back_until = Cause.RESET, 0
        elif fetched.first < position.end:
            position.back_until = max(position.back_until, position.end)
        else:
            position.jump = Cause.SEEK
        position.fetches = 1
        expected = position.end if reset is None else position.end_before_reset(reset.offset)
        self._find_passed_over(receiver, position, expected, fetched)

    def _cause_of_start(self, begun_at: int | None, first: int, *, is_reset: bool) -> Cause | None:
        """Return why a receiver begins at first; None if it is the committed offset, or there never was one."""
        if is_reset:
            return Cause.RESET
        return None if begun_at is None or first in (begun_at, self.committed) else Cause.SEEK

    def _expected_start(self, begun_at: int | None, first: int) -> int:
        if begun_at is not None:
            return begun_at
        start = self.log_start if self.is_seen_late else first
        return start if self.delivered.end is None else self.delivered.end

    def _find_passed_over(self, receiver: Receiver, position: Position, expected: int, fetched: FetchedRange) -> None:
        if self.is_seen_late and self.delivered.first is None and self._assigned is None:
            cause = Cause.SEEN_LATE
        else:
            cause = Cause.RESET_TO_LATEST if position.jump in (None, Cause.RESET) else Cause.SEEK
        self._pass_over(receiver, cause, (expected, fetched.first), fetched.request_id)

    def _pass_over(self, receiver: Receiver, cause: Cause, passed: tuple[int, int], request_id: int) -> None:
        """Note offsets that a receiver does not get. What the log no longer has was deleted, whatever it did."""
        reset = self._out_of_range.get(receiver.name)
        request_ids = [0 if reset is None else reset.request_id, request_id]
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

    def _find_unordered(self, receiver: Receiver, fetched: FetchedRange, back_until: int) -> None:
        """Note what a receiver that went back gets for the first time. back_until: where it is no longer back."""
        before = self.delivered.end
        if before is not None:
            for first, end in self.delivered.missing(fetched.first, min(back_until, before)):
                self._add(Fact(Kind.OUT_OF_ORDER, Cause.SEEK, first, end, receiver.name), fetched.request_id)

    # -- second deliveries and commits

    def _find_second_deliveries(self, receiver: Receiver, position: Position, fetched: FetchedRange) -> None:
        back_until = fetched.end if position.jump is Cause.SEEK else position.back_until
        back_until = min(max(fetched.first, back_until), fetched.end)
        self._find_unordered(receiver, fetched, back_until)
        went_back = self.delivered.within(fetched.first, back_until)
        spans: list[tuple[Span, Cause | None]] = [(span, Cause.SEEK) for span in went_back]
        spans += [(span, position.jump) for span in self.delivered.within(back_until, fetched.end)]
        if fetched.repeats:
            # The first of the repetitions.
            again = [each for each in spans if each[0].receiver == receiver.name and each[1] is Cause.SEEK]
            position.fetches += bool(again)
            spans = [each for each in spans if each not in again]
        for span, jump in spans:
            if not span.is_late:
                cause = jump or (self._taken_back if span.is_committed else receiver.cause_before_commit(span))
                self._add(receiver.second_delivery(span, cause, self.committed), span.request_id, fetched.request_id)

    def _repeated(self, receiver: Receiver, position: Position, fetched: FetchedRange) -> None:
        """Note that a receiver gets the same offsets again and again."""
        position.fetches += fetched.repeats
        spans = self.delivered.within(fetched.first, fetched.end)
        if not spans:
            return
        end = spans[-1].end
        known = self.facts[-1] if self.facts else None
        place = (receiver.name, receiver.name, fetched.first)
        if (
            known is None
            or (known.receiver, known.earlier, known.first) != place
            or known.cause not in (Cause.SEEK, Cause.SAME_OFFSET)
        ):
            known = Fact(Kind.DELIVERED_TWICE, Cause.SEEK, fetched.first, end, *place[:2], offset=self.committed)
            known.add_requests(fetched.request_id)
            self.facts.append(known)
        known.count, known.end = position.fetches, max(known.end, end)
        known.add_requests(fetched.request_id, fetched.last_request_id)
        if position.fetches >= HANGING_MIN:
            known.kind, known.cause = Kind.HANGING, Cause.SAME_OFFSET

    def _find_committed_beyond(
        self, receiver: Receiver, committed: tuple[int, int], request_id: int, *, is_consumer: bool
    ) -> None:
        if not is_consumer or receiver.name in self._out_of_range:
            self._pass_over(receiver, Cause.RESET_TO_LATEST if is_consumer else Cause.RESET, committed, request_id)
            return
        position = self._positions.get(receiver.name)
        if position is not None and position.assignment == self._assignment and position.truncated_from is not None:
            truncated = max(committed[0], position.end), min(committed[1], position.truncated_from)
            self._pass_over(receiver, position.cause, truncated, request_id)
        for first, end in self._new_missing(*committed):
            fact = Fact(Kind.COMMIT_BEYOND_DELIVERY, Cause.MEMBER, first, end, receiver.name, offset=committed[1])
            self._add(fact, request_id)
        self._pass_over(receiver, Cause.COMMITTED, committed, request_id)

    def _add(self, fact: Fact, *request_ids: int) -> None:
        self._keep(self.facts, fact, *request_ids)

    def _keep(self, facts: list[Fact], fact: Fact, *request_ids: int) -> None:
        self.facts_left_out += not keep_fact(facts, fact, *request_ids)
