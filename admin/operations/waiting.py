"""Waits for the hits of a rule, in real time, for as long as the client does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from ..errors import CallError, WaitTimeoutError
from ..operation import Caller


class CountsHits(Protocol):
    """A rule, of whatever kind."""

    @property
    def hits(self) -> int:
        """How often it has acted."""
        ...

    def when_hits(self, count: int, reached: Callable[[], None], /) -> Callable[[], None]:
        """Call reached when it has acted so often, at once if it has; return what cancels that."""
        ...


async def wait_for_hits(rule: CountsHits, count: int, timeout_ms: int, caller: Caller) -> int:
    """Return the hits when there are so many.

    Raises CallError: 408 with the hits so far when the time is over, 503 where the broker stops before.
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
        raise CallError(503, "the broker stops")
    raise WaitTimeoutError(f"{rule.hits} of {count} hits within {timeout_ms} ms", rule.hits)
