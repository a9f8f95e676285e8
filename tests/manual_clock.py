"""A clock that only tests move."""

from __future__ import annotations

from fauxka.broker.runtime.clock import AdjustableClock


class ManualClock(AdjustableClock):
    """A clock that stands still from the beginning."""

    __slots__ = ()

    def __init__(self, now_ms: int = 1_700_000_000_000) -> None:
        """now_ms: the time at which it stands, in milliseconds since the epoch."""
        super().__init__(now_ms)
