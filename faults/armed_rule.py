"""A rule in force: it looks at requests, counts, and says what it does to those that it hits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from .fault import Fault
from .match_outcome import Matched, Mismatch
from .near_misses import NearMiss, NearMisses

if TYPE_CHECKING:
    from .fault_rules import FaultRule
    from .match import AcceptedConnection, MatchedRequest


@dataclass(slots=True, eq=False)
class _Waiter:
    hits: int
    reached: Callable[[], None]


class ArmedRule:
    """A rule with its id and its counts.

    matched: how many requests matched, hit or not. hits: how many of them it acted on. remaining: how many it will
    still hit; None is without end. last_hit_ms: on the broker's clock, None before the first.
    """

    def __init__(self, rule_id: int, rule: FaultRule, now_ms: Callable[[], int]) -> None:
        """Arm the rule, which has been checked; its times count from now."""
        # Only whoever has a rule has msgspec loaded; the broker's start has not.
        from .fault_template import FaultTemplate
        from .request_matcher import RequestMatcher

        self.id = rule_id
        self.rule = rule
        self.hits = 0
        self.matched = 0
        self.remaining = rule.when.times
        self.last_hit_ms: int | None = None
        self.is_observer = rule.action.__struct_config__.tag == "observe"
        self._near_misses = NearMisses(rule.match)
        self._matcher = RequestMatcher(rule.match)
        self._template = FaultTemplate(rule_id, rule)
        self._now_ms = now_ms
        self._added_ms = now_ms()
        self._random = Random(rule.when.seed)
        # How many matching requests came within the clock window, and so count for skip and every.
        self._counted = 0
        self._waiters: list[_Waiter] = []

    @property
    def near_misses(self) -> list[NearMiss]:
        """What kept requests from matching, those that came furthest first."""
        return self._near_misses.told()

    def ask_connection(self, connection: AcceptedConnection) -> Fault | None:
        """Count the connection, and return what the rule does to it if it hits."""
        return self._decide(self._matcher.look_at_connection(connection))

    def ask(self, request: MatchedRequest) -> Fault | None:
        """Count the request, and return what the rule does to it if it hits."""
        return self._decide(self._matcher.look_at(request))

    def when_hits(self, count: int, reached: Callable[[], None]) -> Callable[[], None]:
        """Call reached once when the rule has hit so often, at once if it has; return what cancels that."""
        if self.hits >= count:
            reached()
            return _nothing
        waiter = _Waiter(count, reached)
        self._waiters.append(waiter)

        def cancel() -> None:
            if waiter in self._waiters:
                self._waiters.remove(waiter)

        return cancel

    def _decide(self, outcome: Matched | Mismatch) -> Fault | None:
        if isinstance(outcome, Mismatch):
            self._near_misses.add(outcome)
            return None
        self.matched += 1
        now_ms = self._now_ms()
        if not self._is_due(now_ms):
            return None
        self.hits += 1
        self.last_hit_ms = now_ms
        if self.remaining is not None:
            self.remaining -= 1
        fault = self._template.fault(outcome)
        self._tell_waiters()
        return fault

    def _is_due(self, now_ms: int) -> bool:
        """Whether a request that matched at now_ms is hit; counts it where it is one of those that skip counts."""
        when = self.rule.when
        elapsed_ms = now_ms - self._added_ms
        if elapsed_ms < when.after_ms or (when.until_ms is not None and elapsed_ms >= when.until_ms):
            return False
        if self.remaining == 0:
            return False
        number = self._counted - when.skip
        self._counted += 1
        if number < 0 or number % when.every:
            return False
        # A rule that is certain draws nothing, so that its hits do not depend on the seed.
        return when.probability == 1 or self._random.random() < when.probability

    def _tell_waiters(self) -> None:
        if not self._waiters:
            return
        due = [waiter for waiter in self._waiters if waiter.hits <= self.hits]
        self._waiters = [waiter for waiter in self._waiters if waiter.hits > self.hits]
        for waiter in due:
            waiter.reached()


def _nothing() -> None:
    """There is nothing to cancel."""
