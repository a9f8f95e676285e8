"""How long the callbacks of an event loop take, in processor time: that of a loaded machine is the same."""

import asyncio
import gc
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

import pytest

from fauxka.broker.lifecycle.serve_command import GC_THRESHOLDS

# Of processor time: the longest that one callback may hold the event loop.
PAUSE_SECONDS_MAX = 0.25


@dataclass
class LoopPauses:
    """longest: seconds of processor time of the longest callback since it was set to 0."""

    longest: float = 0.0


@contextmanager
def measured_loop(monkeypatch: pytest.MonkeyPatch) -> Generator[tuple[asyncio.AbstractEventLoop, LoopPauses]]:
    """Yield a loop of asyncio, in which each callback is timed, and what was measured.

    The garbage collector is as `fauxka serve` sets it: it does not scan what the test process had before.
    Callbacks of other loops are not timed. A pause that is none of a callback, such as that of a thread which holds the
    interpreter lock, is not seen.
    """
    loop, pauses = asyncio.new_event_loop(), LoopPauses()
    run = cast("Callable[[asyncio.Handle], None]", vars(asyncio.Handle)["_run"])

    def timed(handle: asyncio.Handle) -> None:
        if vars(loop).get("_thread_id") != threading.get_ident():
            run(handle)
            return
        started = time.thread_time()
        run(handle)
        pauses.longest = max(pauses.longest, time.thread_time() - started)

    with monkeypatch.context() as patch, collector_of_serve():
        patch.setattr(asyncio.Handle, "_run", timed)
        yield loop, pauses


@contextmanager
def collector_of_serve() -> Generator[None]:
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
