"""When the loop stays awake for the next request, and that it goes to sleep again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import Context
from typing import TypeVarTuple, Unpack

import pytest

from fauxka.broker.network.busy_poll import BusyPoll
from fauxka.broker.network.turn_writes import TurnWrites

WINDOW_US = 2_000
LONG_WINDOW_US = 10_000_000

Arguments = TypeVarTuple("Arguments")


class CountingLoop(asyncio.SelectorEventLoop):
    """A loop that counts the calls it is asked for: one that is asked for none sleeps."""

    def __init__(self) -> None:
        super().__init__()
        self.polls = 0

    def call_soon(
        self, callback: Callable[[Unpack[Arguments]], object], *args: *Arguments, context: Context | None = None
    ) -> asyncio.Handle:
        self.polls += getattr(callback, "__qualname__", "").startswith(BusyPoll.__name__)
        return super().call_soon(callback, *args, context=context)


@pytest.fixture
def loop() -> CountingLoop:
    return CountingLoop()


def run(loop: CountingLoop, requests: int, window_us: int, seconds: float, processors: int = 2) -> None:
    """Have that many requests come at once, then run the loop for a time."""

    async def main() -> None:
        poll = BusyPoll(window_us, processors, TurnWrites())
        for _ in range(requests):
            poll.request_arrived()
        await asyncio.sleep(seconds)

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(main())


def test_a_request_by_itself_lets_the_loop_sleep(loop: CountingLoop) -> None:
    run(loop, 1, LONG_WINDOW_US, 0.01)

    assert loop.polls == 0


def test_a_request_close_to_the_one_before_keeps_the_loop_awake(loop: CountingLoop) -> None:
    run(loop, 2, LONG_WINDOW_US, 0.01)

    assert loop.polls > 10


def test_requests_that_come_together_are_waited_for_once(loop: CountingLoop) -> None:
    async def main() -> int:
        poll = BusyPoll(LONG_WINDOW_US, 2, TurnWrites())
        for _ in range(100):
            poll.request_arrived()
        return loop.polls

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        polls = runner.run(main())

    assert polls == 1


def test_the_loop_sleeps_again_after_the_window(loop: CountingLoop) -> None:
    async def main() -> tuple[int, int]:
        poll = BusyPoll(WINDOW_US, 2, TurnWrites())
        poll.request_arrived()
        poll.request_arrived()
        await asyncio.sleep(0.1)
        polls = loop.polls
        await asyncio.sleep(0.05)
        return polls, loop.polls

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        after_window, later = runner.run(main())

    assert 0 < after_window == later


def test_a_window_of_nothing_lets_the_loop_sleep(loop: CountingLoop) -> None:
    run(loop, 3, 0, 0.01)

    assert loop.polls == 0


def test_on_a_single_processor_the_client_gets_the_time(loop: CountingLoop) -> None:
    run(loop, 3, LONG_WINDOW_US, 0.01, processors=1)

    assert loop.polls == 0
