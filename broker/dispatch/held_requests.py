"""The requests that faults hold: until a release (hold), until the clock has advanced (delay), or for good (hang).

When the faults are lifted or the node crashes, all of them are given up: they are not applied, and their connections
are closed. An EndTxn that was answered, and whose markers are held (hold_markers), stays applied: its markers are
written when the faults are lifted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...faults.request_view import ReceivedRequest
    from ..runtime.clock import Clock, Timer

# What waits for a release.
RELEASED = frozenset({"hold", "hold_markers"})

Callback = Callable[[], None]


@dataclass(slots=True)
class HeldRequest:
    """A held request.

    held_id: unique in the cluster, 1 for the first. kind: "hold", "hold_markers", "delay" or "hang". point: the
    fault's point. since_ms: the broker's time.
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
    """Holds requests and resumes them."""

    def __init__(self, clock: Clock, ids: Iterator[int]) -> None:
        """clock: the clock of delayed requests. ids: of the requests to come, which other nodes may use too."""
        self.clock = clock
        self._ids = ids
        self._held: dict[int, HeldRequest] = {}

    def keep(
        self, kind: str, point: str, rule_id: int, request: ReceivedRequest, callbacks: tuple[Callback, Callback]
    ) -> int:
        """Hold a request and return its id. callbacks: one resumes the request, the other gives it up."""
        held_id = next(self._ids)
        self._held[held_id] = HeldRequest(held_id, kind, point, rule_id, self.clock.now_ms(), request, *callbacks)
        return held_id

    def release_after(self, held_id: int, delay_ms: int) -> None:
        """Resume the request after delay_ms of the clock, unless it has ended before."""
        held = self._held[held_id]
        held.timer = self.clock.call_later(delay_ms, lambda: self.release([held_id]))

    def items(self) -> list[HeldRequest]:
        """Return the requests that wait for a release, in the order of their arrival."""
        return [held for held in self._held.values() if held.kind in RELEASED]

    @property
    def count(self) -> int:
        """The number of held requests of all kinds."""
        return len(self._held)

    def find(self, held_id: int) -> HeldRequest | None:
        """Return the request that waits for a release, or None for an unknown id."""
        held = self._held.get(held_id)
        return held if held is not None and held.kind in RELEASED else None

    def release(self, held_ids: Sequence[int]) -> None:
        """Resume the requests in this order. Unknown ids are ignored."""
        for held_id in held_ids:
            held = self._held.pop(held_id, None)
            if held is not None:
                held.resume()

    def give_up(self) -> None:
        """Give up all requests: none is applied, and their connections are closed."""
        given_up, self._held = list(self._held.values()), {}
        for held in given_up:
            if held.timer is not None:
                held.timer.cancel()
            held.give_up()
