"""Operations on the broker's clock: mode and advance."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from ...broker.runtime.clock import ADVANCE_MS_MAX, ClockMode
from ...faults.rule_error import InvalidValueError
from ..control import Control
from ..operation import Operation

TAG = "clock"

Mode = Literal["real", "manual"]
Advance = Annotated[int, Meta(ge=0, le=ADVANCE_MS_MAX)]


class ClockInfo(Struct, kw_only=True):
    """The mode and time of the clock, in ms since 1970-01-01T00:00:00Z."""

    mode: Mode
    now_ms: int


class ClockChange(Struct, kw_only=True, forbid_unknown_fields=True):
    """A change of the mode, of the time, or of both; the mode is set first.

    mode: `real` follows the machine's clock, `manual` stands still until it is advanced.
    advance_ms: advances the clock, in either mode.
    """

    mode: Mode | None = None
    advance_ms: Advance | None = None


def get_clock(control: Control) -> ClockInfo:
    """Return the mode and time of the clock."""
    clock = control.clock
    return ClockInfo(mode=clock.mode.value, now_ms=clock.now_ms())


async def move_clock(control: Control, body: ClockChange) -> ClockInfo:
    """Set the mode of the clock, or advance it.

    Responds after all timers that expired have run, in order, each at its own time. A node whose restart was due is up.
    """
    changed = change_clock(control, body)
    await control.server.wait_restarted()
    return changed


def change_clock(control: Control, body: ClockChange) -> ClockInfo:
    """Set the mode of the clock or advance it, and run the expired timers. A due restart has only started."""
    if body.mode is None and body.advance_ms is None:
        raise InvalidValueError("", {}, "an object with mode, advance_ms", "mode or advance_ms is required")
    if body.mode is not None:
        control.clock.set_mode(ClockMode(body.mode))
    if body.advance_ms is not None:
        control.clock.advance(body.advance_ms)
    return get_clock(control)


OPERATIONS = (
    Operation(method="GET", path="/v1/clock", perform=get_clock, tag=TAG),
    Operation(method="POST", path="/v1/clock", perform=move_clock, tag=TAG),
)
