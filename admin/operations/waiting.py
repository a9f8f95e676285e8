"""Waits for the hits of a rule, in real time, until the client disconnects."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from ...faults.rules.near_misses import NearMiss, describe_misses
from ..errors import CallError, WaitTimeoutError
from ..operation import Caller


class CountsHits(Protocol):
    """A rule for requests or files."""

    @property
    def hits(self) -> int:
        """The hits so far."""
        ...

    @property
    def near_misses(self) -> list[NearMiss]:
        """Why others did not match, the nearest first."""
        ...

    @property
    def matched_noun(self) -> str:
        """What the rule matches, such as "request"."""
        ...

    def when_hits(self, count: int, reached: Callable[[], None], /) -> Callable[[], None]:
        """Call reached when there are count hits, at once if there are; return a function that cancels this."""
        ...


async def wait_for_hits(rule: CountsHits, count: int, timeout_ms: int, caller: Caller) -> int:
    """Return the hits when there are at least count.

    Raises CallError: 408 with the hits so far and the near misses after the timeout, 503 if the broker stops.
    """
    reached = asyncio.Event()
    cancel = rule.when_hits(count, reached.set)
    enough = asyncio.create_task(reached.wait())
    disconnected = asyncio.create_task(caller.disconnected())
    try:
        await asyncio.wait({enough, disconnected}, timeout=timeout_ms / 1000, return_when=asyncio.FIRST_COMPLETED)
    finally:
        cancel()
        enough.cancel()
        disconnected.cancel()
    if reached.is_set():
        return rule.hits
    if disconnected.done():
        raise CallError(503, "the broker is stopping")
    misses = rule.near_misses
    reasons = describe_misses(misses, rule.matched_noun)
    message = "; ".join([f"{rule.hits} of {count} hits within {timeout_ms} ms", *reasons])
    raise WaitTimeoutError(message, rule.hits, misses)
