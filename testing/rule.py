"""A rule that a test has armed: what it has counted, and how to wait for its hits."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self, cast

from msgspec import to_builtins

from .calls import AWAIT_TIMEOUT_MS, Call

if TYPE_CHECKING:
    from ..faults.files.armed_file_rule import ArmedFileRule
    from ..faults.files.file_rules import FileRule
    from ..faults.rules.armed_rule import ArmedRule
    from ..faults.rules.fault_rules import FaultRule
    from ..faults.rules.near_misses import NearMiss

    Armed = ArmedRule | ArmedFileRule

# Near misses that a message tells: the nearest come first, and more of them explain nothing.
NEAR_MISSES_TOLD = 3


class ArmedHandle:
    """What a blocking and an asyncio test have in common of a rule.

    Its counts can still be read when it is lifted. `with faults.lost_ack(topic="orders") as rule:` lifts it at the end
    of the block.
    """

    def __init__(self, armed: Armed, lift: Callable[[int], None], call: Call) -> None:
        """Name a rule in force; lift: takes the rule with an id back, without effect where it is not in force."""
        self._armed = armed
        self._lift = lift
        self._call = call

    @property
    def id(self) -> int:
        """Its number, counted from 1: the one that it has over HTTP too."""
        return self._armed.id

    @property
    def rule(self) -> FaultRule | FileRule:
        """The rule as data."""
        return self._armed.rule

    @property
    def name(self) -> str:
        """Its name, "" where it was given none."""
        return self._armed.rule.name

    @property
    def hits(self) -> int:
        """On how many requests, connections or file operations it has acted."""
        return self._armed.hits

    @property
    def matched(self) -> int:
        """How many matched, whether or not it was their turn."""
        return self._armed.matched

    @property
    def remaining(self) -> int | None:
        """On how many it will still act; None for all that come."""
        return self._armed.remaining

    @property
    def last_hit_ms(self) -> int | None:
        """When it acted last, on the broker's clock; None before the first time."""
        return self._armed.last_hit_ms

    @property
    def near_misses(self) -> list[NearMiss]:
        """What kept others from matching, the nearest first."""
        return self._call(lambda: self._armed.near_misses)

    def remove(self) -> None:
        """Lift it; without effect where it is lifted already. What it holds or hangs stays as it is."""
        self._call(lambda: self._lift(self._armed.id))

    def __enter__(self) -> Self:
        """Leave it in force for the length of the block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Lift it."""
        self.remove()

    def __repr__(self) -> str:
        """Tell it with its counts."""
        return f"<rule {self.id} {self.name!r}: {self.hits} hits, {self.matched} matched>"

    def told(self) -> list[str]:
        """Return the rule and its near misses, a line each."""
        given = json.dumps(_without_defaults(to_builtins(self.rule)))
        return [
            f"rule {self.id} {self.name!r}: {self.hits} hits, {self.matched} matched: {given}",
            *(f"    {told_near_miss(miss)}" for miss in self.near_misses[:NEAR_MISSES_TOLD]),
        ]

    def _timeout_error(self, count: int, timeout_ms: int) -> TimeoutError:
        lines = [f"{self.hits} of {count} hits after {timeout_ms} ms", *self.told()]
        return TimeoutError("\n".join(lines))


class Rule(ArmedHandle):
    """A rule of a broker in a thread."""

    def await_hits(self, count: int = 1, timeout_ms: int = AWAIT_TIMEOUT_MS) -> int:
        """Return its hits when there are at least so many; raises TimeoutError with the near misses.

        timeout_ms: in real time, whatever the broker's clock.
        """
        reached = threading.Event()
        cancel = self._call(lambda: self._armed.when_hits(count, reached.set))
        if not reached.wait(timeout_ms / 1000):
            self._call(cancel)
            raise self._timeout_error(count, timeout_ms)
        return self.hits


class AsyncRule(ArmedHandle):
    """A rule of a broker on the test's own event loop."""

    async def await_hits(self, count: int = 1, timeout_ms: int = AWAIT_TIMEOUT_MS) -> int:
        """Return its hits when there are at least so many; see Rule.await_hits."""
        reached = asyncio.Event()
        cancel = self._armed.when_hits(count, reached.set)
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                await reached.wait()
        except TimeoutError:
            raise self._timeout_error(count, timeout_ms) from None
        finally:
            cancel()
        return self.hits


def told_near_miss(miss: NearMiss) -> str:
    """Return why some did not match, in words."""
    wanted, got = json.dumps(miss.wanted), json.dumps(miss.got)
    return f"{miss.count} matched all but {miss.field}: {got}, not {wanted}"


def _without_defaults(rule: object) -> dict[str, object]:
    """Return a rule in JSON's types without what nobody has written: null, and the turns that are the usual ones."""
    fields = cast("dict[str, object]", rule)
    return {name: value for name, value in fields.items() if value not in (None, "", {}, USUAL_TURN)}


USUAL_TURN = {
    "skip": 0, "times": 1, "every": 1, "probability": 1.0, "seed": 0, "after_ms": 0, "until_ms": None
}  # fmt: skip
