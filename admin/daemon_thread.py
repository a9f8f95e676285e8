"""Runs long blocking work in a daemon thread, which a shutdown does not wait for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

Result = TypeVar("Result")


async def run_in_daemon_thread(name: str, work: Callable[[], Result]) -> Result:
    """Run work in a thread and return its result or raise its exception. If cancelled, work continues unobserved."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Result] = loop.create_future()

    def succeed(result: Result) -> None:
        if not done.done():
            done.set_result(result)

    def fail(error: BaseException) -> None:
        if not done.done():
            done.set_exception(error)

    def run() -> None:
        # The event loop may be closed when work ends.
        with suppress(RuntimeError):
            try:
                result = work()
            except Exception as error:
                loop.call_soon_threadsafe(fail, error)
            else:
                loop.call_soon_threadsafe(succeed, result)

    threading.Thread(target=run, name=name, daemon=True).start()
    return await done
