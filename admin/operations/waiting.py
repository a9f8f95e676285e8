"""Waits for the hits of a rule and for a state of the broker, in real time, until the client disconnects."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from ...faults.rules.near_misses import NearMiss, describe_misses
from ..change_signal import ChangeSignal
from ..errors import CallError, WaitTimeoutError
from ..operation import Caller

Found = TypeVar("Found")


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
    try:
        is_reached = await _is_done_within(timeout_ms / 1000, reached.wait(), caller)
    finally:
        cancel()
    if is_reached:
        return rule.hits
    misses = rule.near_misses
    reasons = describe_misses(misses, rule.matched_noun)
    message = "; ".join([f"{rule.hits} of {count} hits within {timeout_ms} ms", *reasons])
    raise WaitTimeoutError(message, rule.hits, misses)


async def wait_until_found(
    find: Callable[[], Found | None], changes: ChangeSignal, timeout_ms: int, caller: Caller
) -> Found | None:
    """Return what find finds, now or after a change; None after the timeout. Raises CallError 503 if the broker stops.

    changes: notifies of each change by which find may find something.
    """
    until = time.monotonic() + timeout_ms / 1000
    while (found := find()) is None:
        if not await _is_done_within(until - time.monotonic(), changes.next_change(), caller):
            return None
    return found


async def _is_done_within(seconds: float, awaited: Awaitable[object], caller: Caller) -> bool:
    """Return whether it is done in that time. Raises CallError 503 if the client disconnects or the broker stops."""
    done = asyncio.ensure_future(awaited)
    disconnected = asyncio.ensure_future(caller.disconnected())
    try:
        await asyncio.wait({done, disconnected}, timeout=max(0, seconds), return_when=asyncio.FIRST_COMPLETED)
        if done.done():
            return True
        if disconnected.done():
            raise CallError(503, "the broker is stopping")
        return False
    finally:
        done.cancel()
        disconnected.cancel()
