"""Handles a long request in steps, so that it delays no connection but its own.

Rules:
- The work is a coroutine. It awaits `step` after each element: then another request may be handled. It awaits
  `in_thread` to run a function in a thread, and a pending result (`Deferred`) to wait for it. It awaits nothing else:
  its turns are given here, and not by asyncio.
- Work runs at once, in its caller, for as long as a slice. What is left goes on from the event loop: one slice each
  turn for all work together.
- After an await, nothing that was read from the node before it needs to be true: other requests were handled. What a
  step appended to a coordinator's log is given to `flushed` before the next await, because another request would take
  it along.
- A thread gets only what no request changes, such as the bytes of a request. One thread runs at a time, because each
  further one makes the event loop wait longer for the interpreter lock.
- The work goes on when its connection closes: a request that was received is applied, as in Kafka. It is dropped when
  the node crashes or is reset.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable
from functools import cached_property, partial
from time import perf_counter_ns, sleep
from types import GeneratorType, coroutine
from typing import TypeVar, cast

from ...protocol.frames import FrameError
from .deferred import Deferred, WaitFailed

logger = logging.getLogger(__name__)

# How long work holds the event loop before the next turn.
SLICE_SECONDS = 0.01
SLICE_NS = int(SLICE_SECONDS * 1_000_000_000)
# Steps of a slice, however long they take. Most requests end within them, and wait for no other turn.
SLICE_STEPS_MIN = 8

Element = TypeVar("Element")
Result = TypeVar("Result")
# What work waits for, see the rules: a thread's function, a pending result, or None for its next turn.
Step = Callable[[], object] | Deferred[object] | None


@coroutine
def step() -> Generator[Step, object, None]:
    """Let another request be handled, if the slice is over."""
    yield None


@coroutine
def in_thread(work: Callable[[], Result]) -> Generator[Step, object, Result]:
    """Run work in a thread and return its result."""
    return cast(Result, (yield work))


def has_steps(result: object) -> bool:
    """Return whether a result is a generator, which returns the result after its steps."""
    return type(result) is GeneratorType


async def in_steps(result: object) -> object:
    """Return the result; that of a generator after its steps."""
    return await run_steps(cast("Generator[None, None, object]", result)) if has_steps(result) else result


@coroutine
def run_steps(steps: Generator[None, None, Result]) -> Generator[None, None, Result]:
    """Return the result of a generator after its steps."""
    return (yield from steps)


def let_others_run() -> None:
    """Release the interpreter lock for a moment, in a thread."""
    sleep(0)


async def for_each(function: Callable[[Element], Result], elements: Iterable[Element]) -> list[Result]:
    """Return the results of function for the elements, one element a step."""
    results: list[Result] = []
    for element in elements:
        results.append(function(element))
        await step()
    return results


async def in_turn(function: Callable[[Element], Awaitable[Result]], elements: Iterable[Element]) -> list[Result]:
    """Return the results of function, awaited for one element after the other."""
    results: list[Result] = []
    for element in elements:
        results.append(await function(element))
        await step()
    return results


async def all_complete(results: Iterable[Deferred[Result]]) -> list[Result]:
    """Return the results when they are complete. Raises WaitFailed."""
    completed: list[Result] = []
    for result in results:
        completed.append(await result)
        await step()
    return completed


class LongWork:
    """Runs the long requests of one node, and those that wait."""

    __slots__ = ("_in_thread", "_is_scheduled", "_ready", "_running", "_unfinished", "_wait_for_thread")

    def __init__(self) -> None:
        """Start without work."""
        self._running: _Work | None = None
        self._unfinished: set[_Work] = set()
        # Work that goes on in the next turns.
        self._ready: deque[_Work] = deque()
        self._is_scheduled = False
        # Work whose function runs in the thread, and work that waits for the thread with its function.
        self._in_thread: _Work | None = None
        self._wait_for_thread: deque[tuple[_Work, Callable[[], object]]] = deque()

    def run(
        self,
        coroutine: Coroutine[Step, object, Result | Deferred[Result]],
        connection: object,
        *,
        may_pass: bool = False,
    ) -> Result | Deferred[Result]:
        """Run the first slice. Return the result, or a pending one if there is more to do or the result itself waits.

        connection: its name in the log. may_pass: later requests of the connection are handled as soon as the work
        waits for a Deferred with is_applied: it does not use its request context any more.
        Raises what the first slice raises. A later exception is logged and fails the result, so that the connection is
        closed.
        """
        work = _Work(coroutine, connection, may_pass=may_pass)
        outer, self._running = self._running, work
        try:
            waits_for = work.run_slice()
        except StopIteration as end:
            return cast("Result | Deferred[Result]", end.value)
        finally:
            self._running = outer
        self._unfinished.add(work)
        work.result.on_abandoned = partial(self._abandon, work)
        self._go_on_after(work, waits_for)
        return cast("Deferred[Result]", work.result)

    @property
    def is_interrupted(self) -> bool:
        """Whether the work that runs now has taken more than a slice."""
        return self._running is not None and self._running.is_interrupted

    @property
    def has_waited(self) -> bool:
        """Whether the work that runs now is beyond its first slice."""
        return self._running is not None and self._running.has_waited

    @property
    def spent_ns(self) -> int:
        """For how long the work that runs now has run."""
        return 0 if self._running is None else self._running.spent_ns

    def drop(self) -> None:
        """Drop all work and close its connections: the node has crashed, or its data were replaced."""
        dropped = list(self._unfinished)
        self._unfinished.clear()
        for work in dropped:
            work.result.fail()

    def _run_next_slice(self) -> None:
        """Run a slice of the work that has waited longest."""
        self._is_scheduled = False
        work = self._ready.popleft()
        if self._ready:
            self._schedule()
        self._run_slice(work)

    def _run_slice(self, work: _Work) -> None:
        if work not in self._unfinished:
            return
        outer, self._running = self._running, work
        try:
            waits_for = work.run_slice()
        except StopIteration as end:
            self._unfinished.discard(work)
            work.end(end.value)
        except Exception as error:
            self._unfinished.discard(work)
            if isinstance(error, FrameError):
                logger.warning("%s closed: %.500s", work.connection, error)
            else:
                logger.exception("%s closed because of an internal error", work.connection)
            work.result.fail()
        else:
            self._go_on_after(work, waits_for)
        finally:
            self._running = outer

    def _go_on_after(self, work: _Work, waits_for: Step) -> None:
        if waits_for is None:
            work.is_interrupted = True
            self._go_on(work)
        elif callable(waits_for):
            self._run_in_thread(work, waits_for)
        else:
            work.wait_for(waits_for)
            waits_for.deliver_to(partial(self._resume, work), partial(self._resume, work, None, WaitFailed()))

    def _resume(self, work: _Work, answer: object, error: BaseException | None = None) -> None:
        """Go on at once: what completes a pending result lets those that wait for it go on in its order."""
        work.answer, work.error = answer, error
        self._run_slice(work)

    def _go_on(self, work: _Work, answer: object = None, error: BaseException | None = None) -> None:
        work.answer, work.error = answer, error
        self._ready.append(work)
        if not self._is_scheduled:
            self._schedule()

    def _schedule(self) -> None:
        self._is_scheduled = True
        asyncio.get_running_loop().call_soon(self._run_next_slice)

    def _abandon(self, work: _Work) -> None:
        """Give up the work if what it waits for can be given up; otherwise it goes on."""
        waited = work.waited
        if waited is not None and waited.on_abandoned is not None:
            self._unfinished.discard(work)
            waited.abandon()
            work.coroutine.close()

    def _run_in_thread(self, work: _Work, function: Callable[[], object]) -> None:
        if self._in_thread is not None:
            self._wait_for_thread.append((work, function))
            return
        try:
            done = asyncio.get_running_loop().run_in_executor(None, function)
        except RuntimeError:
            # The executor is shut down, because the event loop is about to close.
            return
        self._in_thread = work
        done.add_done_callback(self._thread_done)

    def _thread_done(self, done: asyncio.Future[object]) -> None:
        work, self._in_thread = self._in_thread, None
        while self._in_thread is None and self._wait_for_thread:
            waiting, function = self._wait_for_thread.popleft()
            if waiting in self._unfinished:
                self._run_in_thread(waiting, function)
        if work is not None and not done.cancelled():
            error = done.exception()
            self._go_on(work, None if error is not None else done.result(), error)


class _Work:
    """The coroutine of one request, and its result. answer, error: what it receives next. waited: what it waits for."""

    # On the class, because most work ends in its first slice.
    answer: object = None
    error: BaseException | None = None
    has_waited = is_interrupted = False
    waited: Deferred[object] | None = None
    _spent_ns = 0

    def __init__(self, coroutine: Coroutine[Step, object, object], connection: object, *, may_pass: bool) -> None:
        self.coroutine = coroutine
        self.connection = connection
        self._may_pass = may_pass
        self._slice_began_ns = perf_counter_ns()

    @cached_property
    def result(self) -> Deferred[object]:
        """The result, pending. Work that ends in its first slice has none."""
        return Deferred()

    @property
    def spent_ns(self) -> int:
        """For how long it has run, also in the slice that runs now."""
        return self._spent_ns + perf_counter_ns() - self._slice_began_ns

    def run_slice(self) -> Step:
        """Run steps until the slice is over, or until one has to wait; return that.

        Raises StopIteration at the end, with the result, and what a step raises.
        """
        send = self.coroutine.send
        if self.has_waited:
            self.waited = None
            self._slice_began_ns = perf_counter_ns()
            waits_for = send(self.answer) if self.error is None else self.coroutine.throw(self.error)
            self.answer = self.error = None
        else:
            waits_for = send(None)
        steps_left = SLICE_STEPS_MIN
        if waits_for is None:
            until_ns = self._slice_began_ns + SLICE_NS
            while waits_for is None and (steps_left > 0 or perf_counter_ns() < until_ns):
                waits_for = send(None)
                steps_left -= 1
        self.has_waited = True
        self._spent_ns = self.spent_ns
        return waits_for

    def wait_for(self, waited: Deferred[object]) -> None:
        """Remember what the work waits for, and let later requests pass when only that is left."""
        self.waited = self.result.inner = waited
        if self.result.request_id:
            waited.take_request_id(self.result.request_id)
        if not self._may_pass or self.result.is_applied:
            return
        if waited.is_applied:
            self.result.passes(waited)
        else:
            waited.on_applied = lambda: self.result.passes(waited)

    def end(self, result: object) -> None:
        """Complete the result, now or when the work's own result is complete."""
        if isinstance(result, Deferred):
            waiting = cast("Deferred[object]", result)
            self.result.on_abandoned = waiting.abandon
            waiting.deliver_to(self.result.complete, self.result.fail)
        else:
            self.result.complete(result)
