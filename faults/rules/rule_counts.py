"""Counts the matches and hits of a rule, and decides by its `when` whether a match is a hit."""

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
    """The counts of a rule for requests or files.

    matched: all matches, hit or not. hits: the matches that the action was applied to. remaining: the hits left, None
    for no limit. last_hit_ms: on the broker's clock, None before the first hit.
    """

    def __init__(self, when: When, now_ms: Callable[[], int], *, times: int | None) -> None:
        """Start at 0. times: the number of hits, None for no limit; some actions override when.times."""
        self.hits = 0
        self.matched = 0
        self.remaining = times
        self.last_hit_ms: int | None = None
        self._when = when
        self._now_ms = now_ms
        self._added_ms = now_ms()
        self._random = Random(when.seed)
        # The matches within the window, which skip and every count.
        self._counted = 0
        self._waiters: list[_Waiter] = []

    def count_match(self) -> bool:
        """Count a match and return whether it is a hit. The caller then calls notify_waiters."""
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
        """Return whether a match at now_ms is a hit, and count it for skip and every."""
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
        # A certain rule draws no number, so its hits do not depend on the seed.
        return when.probability == 1 or self._random.random() < when.probability

    def when_hits(self, count: int, reached: Callable[[], None]) -> Callable[[], None]:
        """Call reached once when there are count hits, at once if there are; return a function that cancels this."""
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
        """Call the callbacks whose number of hits is reached."""
        if not self._waiters:
            return
        due = [waiter for waiter in self._waiters if waiter.hits <= self.hits]
        self._waiters = [waiter for waiter in self._waiters if waiter.hits > self.hits]
        for waiter in due:
            waiter.reached()


def _nothing() -> None:
    """Cancel nothing."""
