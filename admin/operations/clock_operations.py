"""The broker's clock: how it goes, and moving it on."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from ...broker.runtime.clock import ADVANCE_MS_MAX, ClockMode
from ...faults.rule_error import RuleError
from ..control import Control
from ..operation import Operation

TAG = "clock"

Mode = Literal["real", "manual"]
Advance = Annotated[int, Meta(ge=0, le=ADVANCE_MS_MAX)]


class ClockInfo(Struct, kw_only=True):
    """How the clock goes, and what it shows: ms since 1970-01-01T00:00:00Z."""

    mode: Mode
    now_ms: int


class ClockChange(Struct, kw_only=True, forbid_unknown_fields=True):
    """What is to be done to the clock, one of the two or both; the mode is set first.

    mode: `real` goes as the machine's clock does, `manual` stands still until it is advanced.
    advance_ms: by how much it is moved on, in either mode.
    """

    mode: Mode | None = None
    advance_ms: Advance | None = None


def get_clock(control: Control) -> ClockInfo:
    """Tell how the clock goes, and what it shows."""
    clock = control.clock
    return ClockInfo(mode=clock.mode.value, now_ms=clock.now_ms())


async def move_clock(control: Control, body: ClockChange) -> ClockInfo:
    """Set how the clock goes, or move it on.

    It answers when all that fell due on the way has run, in order, each at the time at which it fell due; a node whose
    restart fell due is up then.
    """
    told = change_clock(control, body)
    await control.server.wait_restarted()
    return told


def change_clock(control: Control, body: ClockChange) -> ClockInfo:
    """Set how the clock goes, or move it on, and run what falls due; a restart that falls due has only begun then."""
    if body.mode is None and body.advance_ms is None:
        raise RuleError(
            "", {}, "an object with mode, advance_ms", "neither mode nor advance_ms says what is to be done"
        )
    if body.mode is not None:
        control.clock.set_mode(ClockMode(body.mode))
    if body.advance_ms is not None:
        control.clock.advance(body.advance_ms)
    return get_clock(control)


OPERATIONS = (
    Operation(method="GET", path="/v1/clock", perform=get_clock, tag=TAG),
    Operation(method="POST", path="/v1/clock", perform=move_clock, tag=TAG),
)
