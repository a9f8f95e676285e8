"""What a share group got twice or never in one partition.

Whether a member got what it has acquired is known when its response is written or lost. So a fact waits for the
responses on which it depends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from .delivered_spans import outside
from .events import ShareRequest
from .facts import Cause, Fact, Kind, keep_fact

# Facts that wait for their responses. The oldest one beyond that is left out.
WAITING_MAX = 1000


@dataclass(frozen=True, eq=False, slots=True)
class Acquisition:
    """Records that were acquired together, and are not done.

    request: the one that acquired them, None if that is not known. count: of deliveries, as Kafka counts.
    ended: why they are available again, None while they are acquired. before: the acquisition before.
    """

    request: ShareRequest | None
    count: int
    ended: Cause | None = None
    before: Acquisition | None = None


class Waiting(NamedTuple):
    """A fact that holds if the response to delivery is written, and a response before, if it is a second delivery.

    others: further requests that it names.
    """

    fact: Fact
    delivery: ShareRequest | None = None
    before: Acquisition | None = None
    others: tuple[ShareRequest, ...] = ()


class ShareFindings:
    """The facts of one partition. left_out: how many more there are. missing: what was passed over."""

    __slots__ = ("_facts", "_is_delivered", "_waiting", "left_out", "missing")

    def __init__(self, is_delivered: Callable[[ShareRequest], bool | None]) -> None:
        """is_delivered: whether the response to a request has its records of this partition; None while it is open."""
        self._is_delivered = is_delivered
        self._facts: list[Fact] = []
        self._waiting: list[Waiting] = []
        self.missing: list[Fact] = []
        self.left_out = 0

    def deliveries_of(self, state: Acquisition | None) -> Acquisition | None:
        """Return the last acquisition that may be a delivery, with those before it down to one that surely is."""
        if state is None:
            return None
        is_delivered = state.request is not None and self._is_delivered(state.request)
        if is_delivered is False:
            return self.deliveries_of(state.before)
        return replace(state, before=None if is_delivered else self.deliveries_of(state.before))

    def was_delivered(self, state: Acquisition | None) -> bool:
        """Whether a member surely got the records."""
        delivered = self.deliveries_of(state)
        while delivered is not None and delivered.before is not None:
            delivered = delivered.before
        return delivered is not None and delivered.request is not None and self._is_delivered(delivered.request) is True

    def pass_over(self, first: int, end: int, cause: Cause) -> None:
        """Note offsets that are never acquired, unless the group goes back to them."""
        known = [(each.first, each.end) for each in self.missing]
        for part in outside(known, first, end):
            self._keep(self.missing, Fact(Kind.NEVER_DELIVERED, cause, *part, offset=end))

    def wait(self, waiting: Waiting) -> None:
        """Add a fact."""
        self._waiting.append(waiting)
        if len(self._waiting) > WAITING_MAX:
            self.settled()
            self.left_out += max(0, len(self._waiting) - WAITING_MAX)
            del self._waiting[:-WAITING_MAX]

    def settled(self) -> list[Fact]:
        """Return the facts whose responses are written. Those with a lost one are dropped."""
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            before = self.deliveries_of(each.before)
            earlier = None if before is None else before.request
            requests = [request for request in (earlier, each.delivery) if request is not None]
            states = [self._is_delivered(request) for request in requests]
            if False in states or (each.before is not None and before is None):
                continue
            if None in states:
                self._waiting.append(each)
                continue
            if before is not None and earlier is not None:
                each.fact.cause, each.fact.earlier = before.ended or each.fact.cause, earlier.member_id
            self._keep(self._facts, each.fact, *[request.request_id for request in (*requests, *each.others)])
        return self._facts

    def _keep(self, facts: list[Fact], fact: Fact, *request_ids: int) -> None:
        same = next((each for each in reversed(facts) if fact.is_same(each)), None)
        if same is not None:
            same.count += 1
            same.add_requests(*request_ids)
        else:
            self.left_out += not keep_fact(facts, fact, *request_ids)
