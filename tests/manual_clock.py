"""A clock that only tests move."""

from __future__ import annotations

from fauxka.broker.runtime.clock import AdjustableClock


def manual_clock(now_ms: int = 1_700_000_000_000) -> AdjustableClock:
    """Return a clock that stands still from the beginning. now_ms: its time, in milliseconds since the epoch."""
    return AdjustableClock(now_ms)
