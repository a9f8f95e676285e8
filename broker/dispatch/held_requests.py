"""The requests that faults keep: held until somebody releases them, delayed until the clock has moved, hung for good.

All of them end when the faults are lifted or the node crashes; none is ever applied then.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...faults.request_view import ReceivedRequest
    from ..runtime.clock import Clock, Timer

HELD = "hold"
DELAYED = "delay"
HUNG = "hang"

Callback = Callable[[], None]


@dataclass(slots=True)
class HeldRequest:
    """A request that is kept.

    held_id: counts from 1. kind: HELD, DELAYED or HUNG. point: where it is kept. since_ms: in ms of the broker's clock.
    """

    held_id: int
    kind: str
    point: str
    rule_id: int
    since_ms: int
    request: ReceivedRequest
    resume: Callback
    give_up: Callback
    timer: Timer | None = None


class HeldRequests:
    """Keeps requests, and lets them go on."""

    def __init__(self, clock: Clock) -> None:
        """Keep none. clock: by which those that are delayed go on."""
        self._clock = clock
        self._ids = itertools.count(1)
        self._kept: dict[int, HeldRequest] = {}

    def keep(
        self, kind: str, point: str, rule_id: int, request: ReceivedRequest, callbacks: tuple[Callback, Callback]
    ) -> int:
        """Keep a request and return its id; callbacks: what goes on with it, and what gives it up."""
        held_id = next(self._ids)
        self._kept[held_id] = HeldRequest(held_id, kind, point, rule_id, self._clock.now_ms(), request, *callbacks)
        return held_id

    def release_after(self, held_id: int, delay_ms: int) -> None:
        """Let the request go on after delay_ms of the clock, if it is still kept then."""
        held = self._kept[held_id]
        held.timer = self._clock.call_later(delay_ms, lambda: self.release([held_id]))

    def items(self) -> list[HeldRequest]:
        """Return those that wait for a release, in the order they came."""
        return [held for held in self._kept.values() if held.kind == HELD]

    @property
    def count(self) -> int:
        """How many requests are kept, whatever for."""
        return len(self._kept)

    def find(self, held_id: int) -> HeldRequest | None:
        """Return the request that waits for a release under this id."""
        held = self._kept.get(held_id)
        return held if held is not None and held.kind == HELD else None

    def release(self, held_ids: Sequence[int]) -> None:
        """Let the requests go on, one after the other in this order; ids of none that is kept are passed over."""
        for held_id in held_ids:
            held = self._kept.pop(held_id, None)
            if held is not None:
                held.resume()

    def give_up(self) -> None:
        """Let go of all; none is applied, and their connections are closed."""
        kept, self._kept = list(self._kept.values()), {}
        for held in kept:
            if held.timer is not None:
                held.timer.cancel()
            held.give_up()
