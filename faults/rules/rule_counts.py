"""How often a rule has matched and hit, whether it is its turn, and who waits for its hits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .fault_rules import When


@dataclass(slots=True, eq=False)
class _Waiter:
    hits: int
    reached: Callable[[], None]


class RuleCounts:
    """The counts of one rule, of whatever kind of rule it is.

    matched: how many matched, hit or not. hits: how many of them it acted on. remaining: how many it will still hit;
    None is without end. last_hit_ms: on the broker's clock, None before the first.
    """

    def __init__(self, when: When, now_ms: Callable[[], int], *, times: int | None) -> None:
        """Count from now.

        times: after how many hits it is spent, as when says or, where that says nothing, as the action does.
        """
        self.hits = 0
        self.matched = 0
        self.remaining = times
        self.last_hit_ms: int | None = None
        self._when = when
        self._now_ms = now_ms
        self._added_ms = now_ms()
        self._random = Random(when.seed)
        # How many of those that match came within the clock window, and so count for skip and every.
        self._counted = 0
        self._waiters: list[_Waiter] = []

    def count_match(self) -> bool:
        """Count one that matched, and return whether it is hit; who waits for hits is told by notify_waiters."""
        self.matched += 1
        now_ms = self._now_ms()
        if not self._is_due(now_ms):
            return False
        self.hits += 1
        self.last_hit_ms = now_ms
        if self.remaining is not None:
            self.remaining -= 1
        return True

    def _is_due(self, now_ms: int) -> bool:
        """Whether one that matched at now_ms is hit; counts it where it is one of those that skip counts."""
        when = self._when
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

    def notify_waiters(self) -> None:
        """Call those who waited for as many hits as there are."""
        if not self._waiters:
            return
        due = [waiter for waiter in self._waiters if waiter.hits <= self.hits]
        self._waiters = [waiter for waiter in self._waiters if waiter.hits > self.hits]
        for waiter in due:
            waiter.reached()


def _nothing() -> None:
    """There is nothing to cancel."""
