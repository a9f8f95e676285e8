"""Threads that wait by the clock of an event loop, which itself never waits."""

import asyncio
import threading

import pytest

from fauxka.broker.runtime.clock import AdjustableClock
from fauxka.broker.runtime.event_loop_bridge import EventLoopBridge

from ..manual_clock import manual_clock

SECONDS_MAX = 20.0


class Waiter:
    """A thread that pauses once."""

    def __init__(self, loop_thread: EventLoopBridge, ms: int) -> None:
        self._loop_thread = loop_thread
        self._ms = ms
        self.has_waited: bool | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        self.has_waited = self._loop_thread.pause(self._ms)

    async def ended(self) -> bool:
        """Whether it has ended within the time that no test takes."""
        await asyncio.to_thread(self._thread.join, SECONDS_MAX)
        return not self._thread.is_alive()


async def begun() -> tuple[AdjustableClock, EventLoopBridge]:
    clock = manual_clock()
    loop_thread = EventLoopBridge(clock)
    loop_thread.begin()
    return clock, loop_thread


async def waits(clock: AdjustableClock) -> None:
    """Return when a thread waits for the clock."""
    async with asyncio.timeout(SECONDS_MAX):
        while not clock.pending_count:
            await asyncio.sleep(0)


@pytest.mark.asyncio
async def test_event_loop_does_not_wait() -> None:
    _, loop_thread = await begun()

    assert not loop_thread.pause(1000)


@pytest.mark.asyncio
async def test_another_thread_waits_until_the_clock_says_so() -> None:
    clock, loop_thread = await begun()
    waiter = Waiter(loop_thread, 1000)
    await waits(clock)

    clock.advance(999)
    before = waiter.has_waited
    clock.advance(1)

    assert before is None
    assert await waiter.ended()
    assert waiter.has_waited


@pytest.mark.asyncio
async def test_release_ends_all_waits_and_refuses_new_ones() -> None:
    clock, loop_thread = await begun()
    waiters = [Waiter(loop_thread, 1000), Waiter(loop_thread, 1000)]
    await waits(clock)

    loop_thread.release()
    late = Waiter(loop_thread, 1000)

    assert [await waiter.ended() for waiter in [*waiters, late]] == [True, True, True]


@pytest.mark.asyncio
async def test_threads_wait_again_after_another_begin() -> None:
    clock, loop_thread = await begun()
    loop_thread.release()
    loop_thread.begin()
    waiter = Waiter(loop_thread, 1000)
    await waits(clock)

    clock.advance(1000)

    assert await waiter.ended()


@pytest.mark.asyncio
async def test_callbacks_run_on_the_event_loops_thread() -> None:
    _, loop_thread = await begun()
    ran: list[int] = []
    came = asyncio.Event()

    def callback() -> None:
        ran.append(threading.get_ident())
        came.set()

    loop_thread.run(callback)
    at_once = len(ran)
    came.clear()
    threading.Thread(target=loop_thread.run, args=(callback,), daemon=True).start()
    async with asyncio.timeout(SECONDS_MAX):
        await came.wait()

    assert at_once == 1
    assert ran == [threading.get_ident()] * 2


def test_without_an_event_loop_no_thread_waits_and_callbacks_run_at_once() -> None:
    loop_thread = EventLoopBridge(manual_clock())
    ran: list[bool] = []

    loop_thread.run(lambda: ran.append(True))

    assert loop_thread.pause(1000)
    assert ran == [True]
