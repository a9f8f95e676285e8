"""A signal for those who wait for a change of the state of the broker. It is of the broker's event loop."""

from __future__ import annotations

import asyncio


class ChangeSignal:
    """Wakes all who wait for the next change."""

    def __init__(self) -> None:
        """Create the signal; nobody waits yet."""
        self._waiting: list[asyncio.Future[None]] = []

    def notify(self) -> None:
        """Wake those who wait. They go on in the next turn of the event loop, when the change is complete."""
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            if not each.done():
                each.set_result(None)

    def next_change(self) -> asyncio.Future[None]:
        """Return what is complete with the next change."""
        change: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(change)
        return change
