"""Long requests: steps, slices, threads and what they wait for."""

import asyncio
import threading
import time
from collections.abc import Callable
from typing import cast

import pytest

from fauxka.broker.runtime import long_work
from fauxka.broker.runtime.deferred import Deferred
from fauxka.broker.runtime.long_work import LongWork, all_complete, for_each, in_thread, step
from fauxka.protocol.frames import FrameError

CONNECTION = "connection 7 of 127.0.0.1"


def finished(result: object) -> object:
    """Return what has arrived so far."""
    return cast("Deferred[object]", result).response() if isinstance(result, Deferred) else result


async def settled(result: object) -> object:
    """Return the result when it has arrived."""
    deadline = time.monotonic() + 10
    while isinstance(result, Deferred) and not result.is_done:
        assert time.monotonic() < deadline, "the work does not end"
        await asyncio.sleep(0)
    return finished(cast("Deferred[object]", result)) if isinstance(result, Deferred) else result


async def numbers(count: int, note: Callable[[], None] = lambda: None) -> list[int]:
    for_step: list[int] = []
    for number in range(count):
        note()
        for_step.append(number)
        await step()
    return for_step


def a_while() -> None:
    """Take a third of a slice."""
    until = time.perf_counter() + long_work.SLICE_SECONDS / 3
    while time.perf_counter() < until:
        pass


def test_short_work_is_done_at_once() -> None:
    assert LongWork().run(numbers(3), CONNECTION) == [0, 1, 2]


def test_others_run_between_the_slices_of_long_work() -> None:
    async def scene() -> tuple[int, object]:
        turns = 0

        def count_turn() -> None:
            nonlocal turns
            turns += 1
            asyncio.get_running_loop().call_soon(count_turn)

        count_turn()
        result = LongWork().run(numbers(30, a_while), CONNECTION)
        assert finished(result) is None
        return turns, await settled(result)

    turns, result = asyncio.run(scene())

    assert result == list(range(30))
    # The turn in which it began is not counted.
    assert turns >= 1


def test_several_works_share_one_slice_a_turn() -> None:
    async def scene() -> list[int]:
        work, order = LongWork(), list[int]()

        def noted(number: int) -> Callable[[], None]:
            def note() -> None:
                order.append(number)
                a_while()

            return note

        results = [work.run(numbers(12, noted(number)), CONNECTION) for number in range(2)]
        for result in results:
            await settled(result)
        return order

    order = asyncio.run(scene())

    # Neither of them waited until the other one had ended.
    assert order.index(1) < len(order) - 1 - order[::-1].index(0)
    assert order.index(0) < len(order) - 1 - order[::-1].index(1)


def test_function_runs_in_a_thread_and_its_result_goes_on() -> None:
    async def steps() -> tuple[bool, int]:
        thread = await in_thread(threading.get_ident)
        return thread != threading.get_ident(), await in_thread(lambda: 5)

    async def scene() -> object:
        return await settled(LongWork().run(steps(), CONNECTION))

    assert asyncio.run(scene()) == (True, 5)


def test_threads_of_several_requests_run_one_at_a_time() -> None:
    running, most = 0, 0

    def work() -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        time.sleep(0.01)
        running -= 1

    async def waiting() -> None:
        await in_thread(work)

    async def scene() -> None:
        long = LongWork()
        for result in [long.run(waiting(), CONNECTION) for _ in range(4)]:
            await settled(result)

    asyncio.run(scene())

    assert most == 1


def test_exception_of_a_thread_rises_in_the_steps() -> None:
    def fail() -> None:
        raise KeyError("missing")

    async def steps() -> str:
        try:
            await in_thread(fail)
        except KeyError as error:
            return f"caught {error}"
        return "nothing was raised"

    async def scene() -> object:
        return await settled(LongWork().run(steps(), CONNECTION))

    assert asyncio.run(scene()) == "caught 'missing'"


def test_work_waits_for_pending_results() -> None:
    pending = [Deferred[int](), Deferred[int]()]
    complete = Deferred[int].completed(7)

    async def steps() -> list[int]:
        first = await pending[0]
        return [first, *await all_complete([complete, pending[1]])]

    async def scene() -> object:
        result = LongWork().run(steps(), CONNECTION)
        pending[1].complete(2)
        pending[0].complete(1)
        return await settled(result)

    assert asyncio.run(scene()) == [1, 7, 2]


def test_result_that_waits_itself_is_passed_on() -> None:
    flush = Deferred[str]()

    async def steps() -> str | Deferred[str]:
        await in_thread(lambda: None)
        return flush

    async def scene() -> object:
        result = LongWork().run(steps(), CONNECTION)
        asyncio.get_running_loop().call_later(0.01, flush.complete, "flushed")
        return await settled(result)

    assert asyncio.run(scene()) == "flushed"


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (FrameError("it ends early"), "closed: it ends early"),
        (KeyError("bug"), "closed because of an internal error"),
    ],
)
def test_late_error_fails_the_result_and_is_logged_once(
    error: Exception, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def steps() -> str:
        await in_thread(lambda: None)
        raise error

    async def scene() -> bool:
        result = LongWork().run(steps(), CONNECTION)
        failed = False

        def note() -> None:
            nonlocal failed
            failed = True

        assert isinstance(result, Deferred)
        result.deliver_to(lambda _: None, note)
        await settled(result)
        return failed

    assert asyncio.run(scene())
    assert [record.message for record in caplog.records] == [f"{CONNECTION} {text}"]


def test_dropped_work_does_nothing_more() -> None:
    steps_taken = 0

    def note() -> None:
        nonlocal steps_taken
        steps_taken += 1
        a_while()

    async def scene() -> int:
        work = LongWork()
        result = work.run(numbers(100, note), CONNECTION)
        work.drop()
        taken = steps_taken
        await asyncio.sleep(3 * long_work.SLICE_SECONDS)
        assert isinstance(result, Deferred)
        assert result.is_done
        return taken

    assert asyncio.run(scene()) == steps_taken < 100


def test_elements_keep_their_order() -> None:
    assert LongWork().run(for_each(lambda text: text.upper(), ["a", "b"]), CONNECTION) == ["A", "B"]


def test_work_that_only_waited_is_not_interrupted() -> None:
    work, pending, seen = LongWork(), Deferred[int](), list[bool]()

    async def waiting() -> None:
        await pending
        seen.append(work.is_interrupted)

    async def long() -> None:
        await numbers(12, a_while)
        seen.append(work.is_interrupted)

    async def scene() -> None:
        results = [work.run(waiting(), CONNECTION), work.run(long(), CONNECTION)]
        pending.complete(1)
        for result in results:
            await settled(result)

    asyncio.run(scene())

    assert sorted(seen) == [False, True]
