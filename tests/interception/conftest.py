"""Every test runs on uvloop and on asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from fauxka.broker.runtime.event_loop import new_event_loop


def pytest_asyncio_loop_factories() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Return the event loops; a hook of pytest-asyncio."""
    return {"uvloop": new_event_loop, "asyncio": asyncio.new_event_loop}
