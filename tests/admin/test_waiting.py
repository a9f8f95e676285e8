"""Waits for hits: how they end, without leftover callbacks."""

import asyncio
from collections.abc import Callable

import pytest

from fauxka.admin.errors import CallError, WaitTimeoutError
from fauxka.admin.operations.waiting import wait_for_hits
from fauxka.faults.rules.near_misses import NearMiss


class Rule:
    """A rule whose hits the test controls."""

    def __init__(self) -> None:
        self.hits = 0
        self.waiting: list[Callable[[], None]] = []

    def when_hits(self, count: int, reached: Callable[[], None], /) -> Callable[[], None]:
        self.waiting.append(reached)
        return lambda: self.waiting.remove(reached)

    @property
    def near_misses(self) -> list[NearMiss]:
        return [NearMiss("api", "Produce", "Fetch", 2, "first differed at api: Fetch, not Produce")]

    @property
    def matched_noun(self) -> str:
        return "request"

    def hit(self) -> None:
        self.hits += 1
        for reached in self.waiting:
            reached()


class Caller:
    """A client whose disconnect the test controls."""

    def __init__(self) -> None:
        self.left = asyncio.Event()

    async def disconnected(self) -> None:
        await self.left.wait()


@pytest.mark.asyncio
async def test_wait_ends_with_the_hits() -> None:
    rule = Rule()
    waiting = asyncio.create_task(wait_for_hits(rule, 1, 20_000, Caller()))
    await asyncio.sleep(0)

    rule.hit()

    assert await waiting == 1
    assert rule.waiting == []


@pytest.mark.asyncio
async def test_wait_ends_when_the_caller_disconnects() -> None:
    rule, caller = Rule(), Caller()
    waiting = asyncio.create_task(wait_for_hits(rule, 1, 20_000, caller))
    await asyncio.sleep(0)

    caller.left.set()

    with pytest.raises(CallError):
        await waiting
    assert rule.waiting == []


@pytest.mark.asyncio
async def test_wait_with_timeout_0_returns_at_once() -> None:
    rule = Rule()

    with pytest.raises(WaitTimeoutError) as error:
        await wait_for_hits(rule, 1, 0, Caller())

    assert (error.value.status, error.value.hits) == (408, 0)
    assert str(error.value) == "0 of 1 hits within 0 ms; 2 requests first differed at api: Fetch, not Produce"
    assert rule.waiting == []


@pytest.mark.asyncio
async def test_cancelled_wait_leaves_no_callback() -> None:
    rule = Rule()
    waiting = asyncio.create_task(wait_for_hits(rule, 1, 20_000, Caller()))
    await asyncio.sleep(0)

    waiting.cancel()
    await asyncio.wait({waiting})

    assert rule.waiting == []
