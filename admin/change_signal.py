"""A signal on the broker's event loop that its state has changed."""

from __future__ import annotations

import asyncio


class ChangeSignal:
    """Wakes all calls that wait for the next change."""

    def __init__(self) -> None:
        """Create the signal without a waiting call."""
        self._waiting: list[asyncio.Future[None]] = []

    def notify(self) -> None:
        """Wake all waiting calls. They go on in the next turn of the event loop, when the change is complete."""
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            if not each.done():
                each.set_result(None)

    def next_change(self) -> asyncio.Future[None]:
        """Return what is complete with the next change."""
        change: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(change)
        return change
