"""Steps in threads: the event loop goes on, results return to it, and closing waits for running steps."""

from __future__ import annotations

import asyncio
import logging
import threading

import pytest

from fauxka.broker.runtime.disk_executor import DiskExecutor

SECONDS_MAX = 10.0


@pytest.mark.asyncio
async def test_loop_goes_on_while_a_step_blocks() -> None:
    steps = DiskExecutor("test-steps")
    release = threading.Event()
    threads: list[str] = []
    done: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def step() -> None:
        threads.append(threading.current_thread().name)
        release.wait(SECONDS_MAX)

    steps.run(step, lambda error: done.set_result(threading.current_thread().name))
    await asyncio.sleep(0)
    was_done = done.done()
    release.set()
    thread_of_done = await asyncio.wait_for(done, SECONDS_MAX)
    await steps.stop()

    assert not was_done
    assert threads[0].startswith("test-steps")
    assert thread_of_done == threading.current_thread().name


@pytest.mark.asyncio
async def test_failure_is_handed_back() -> None:
    steps = DiskExecutor("test-steps")

    def step() -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        await steps.finish(step)
    await steps.stop()


@pytest.mark.asyncio
async def test_fault_of_ours_is_logged_and_handed_back_as_a_failure(caplog: pytest.LogCaptureFixture) -> None:
    steps = DiskExecutor("test-steps")

    def step() -> None:
        raise LookupError("nowhere")

    with caplog.at_level(logging.ERROR), pytest.raises(OSError, match="nowhere"):
        await steps.finish(step)
    await steps.stop()

    assert "LookupError" in caplog.text


@pytest.mark.asyncio
async def test_stop_waits_for_steps_and_for_those_that_they_lead_to() -> None:
    steps = DiskExecutor("test-steps")
    release = threading.Event()
    ended: list[str] = []

    def first_done(error: OSError | None) -> None:
        ended.append("first")
        steps.run(lambda: None, lambda error: ended.append("second"))

    steps.run(lambda: release.wait(SECONDS_MAX), first_done)
    asyncio.get_running_loop().call_soon(release.set)
    await asyncio.wait_for(steps.stop(), SECONDS_MAX)

    assert ended == ["first", "second"]
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("test-steps")]


@pytest.mark.asyncio
async def test_nothing_runs_soon_after_the_stop() -> None:
    steps = DiskExecutor("test-steps")
    await steps.stop()
    ran: list[bool] = []

    steps.soon(lambda: ran.append(True))
    await asyncio.sleep(0)

    assert ran == []


def test_threads_are_made_with_the_first_step() -> None:
    before = threading.active_count()

    DiskExecutor("test-steps")

    assert threading.active_count() == before
