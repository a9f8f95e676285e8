"""The time for which a connection is muted, because its client exceeds a quota (Kafka: ThrottledChannel)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..runtime.clock import AdjustableClock, Timer

_NS_PER_MS = 1_000_000


class ChannelMute:
    """Unmutes a connection when the longest of its throttle times has passed."""

    def __init__(self, clock: AdjustableClock, unmute: Callable[[], None]) -> None:
        """clock: of the throttle times. unmute: called each time that the connection is muted no more."""
        self._clock = clock
        self._unmute = unmute
        self._timer: Timer | None = None
        self._due_ns = 0

    def mute(self, throttle_ms: int) -> None:
        """Mute for throttle_ms from now on, or longer if it is muted for longer."""
        due_ns = self._clock.elapsed_ns() + throttle_ms * _NS_PER_MS
        if self._timer is not None:
            if due_ns <= self._due_ns:
                return
            self._timer.cancel()
        self._due_ns = due_ns
        self._timer = self._clock.call_later(throttle_ms, self._end)

    def stop(self) -> None:
        """Unmute nothing more: the connection is closed."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end(self) -> None:
        self._timer = None
        self._unmute()
