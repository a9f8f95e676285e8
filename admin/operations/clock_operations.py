"""Operations on the broker's clock: mode, advance and skew."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from msgspec import Meta, Struct, convert, field

from ...broker.runtime.clock import ADVANCE_MS_MAX, SKEW_MS_MAX, ClockMode
from ...broker.runtime.expirations import Expirations
from ...faults.rule_error import InvalidValueError
from ..control import Control
from ..operation import Operation

TAG = "clock"

Mode = Literal["real", "manual"]
Members = Literal["keep", "expire"]
Advance = Annotated[int, Meta(ge=0, le=ADVANCE_MS_MAX)]
Skew = Annotated[int, Meta(ge=-SKEW_MS_MAX, le=SKEW_MS_MAX)]


class ClockInfo(Struct, kw_only=True):
    """The mode and time of the clock, in ms since 1970-01-01T00:00:00Z.

    skew_ms: how far now_ms is ahead of the clients' clocks beside all advances; negative for behind.
    """

    mode: Mode
    now_ms: int
    skew_ms: int = 0


class EndedKind(Struct, kw_only=True):
    """What an advance ended of one kind. names: the first 20 different ones."""

    count: int = 0
    names: list[str] = []


class Ended(Struct, kw_only=True):
    """What an advance ended.

    members: of groups of every type, as `member of group`. offsets: expired committed offsets, by group. groups:
    deleted with their last offsets. transactions: aborted, by transactional id. transactional_ids: expired. producers:
    idle ones, by `topic-partition`. tokens: delegation tokens, by token id. share_locks: records that a member of a
    share group had acquired, by `topic-partition of group`. segments: deleted by retention, by `topic-partition`.
    """

    members: EndedKind = field(default_factory=EndedKind)
    offsets: EndedKind = field(default_factory=EndedKind)
    groups: EndedKind = field(default_factory=EndedKind)
    transactions: EndedKind = field(default_factory=EndedKind)
    transactional_ids: EndedKind = field(default_factory=EndedKind)
    producers: EndedKind = field(default_factory=EndedKind)
    tokens: EndedKind = field(default_factory=EndedKind)
    share_locks: EndedKind = field(default_factory=EndedKind)
    segments: EndedKind = field(default_factory=EndedKind)


class MovedClock(ClockInfo, kw_only=True):
    """The clock after a change. ended: what its advance ended."""

    ended: Ended


class ClockChange(Struct, kw_only=True, forbid_unknown_fields=True):
    """A change of the mode, of the skew, of the time, or of several; in this order.

    mode: `real` follows the machine's clock, `manual` stands still until it is advanced.
    skew_ms: how far the clock is ahead of the clients' clocks beside all advances; negative for behind.
    advance_ms: advances the clock, in either mode.
    members: what an advance does to members of groups whose client is connected. `keep`: their sessions and rebalances
    begin anew when it is over. `expire`: they end.
    """

    mode: Mode | None = None
    skew_ms: Skew | None = None
    advance_ms: Advance | None = None
    members: Members = "keep"


def get_clock(control: Control) -> ClockInfo:
    """Return the mode and time of the clock."""
    clock = control.clock
    return ClockInfo(mode=clock.mode.value, now_ms=clock.now_ms(), skew_ms=clock.skew_ms)


async def move_clock(control: Control, body: ClockChange) -> MovedClock:
    """Set the mode or the skew of the clock, or advance it.

    Responds after all timers that expired have run, in order, each at its own time. A node whose restart was due is up.
    """
    changed = change_clock(control, body)
    await control.server.wait_restarted()
    return changed


def change_clock(control: Control, body: ClockChange) -> MovedClock:
    """Change the clock, and run the timers that an advance expires. A due restart has only started."""
    if body.mode is None and body.skew_ms is None and body.advance_ms is None:
        allowed = "an object with mode, skew_ms, advance_ms"
        raise InvalidValueError("", {}, allowed, "mode, skew_ms or advance_ms is required")
    clock, ended = control.clock, Expirations()
    control.marks.add("clock", f"clock: {', '.join(_changes_in(body))}")
    if body.mode is not None:
        clock.set_mode(ClockMode(body.mode))
    if body.skew_ms is not None:
        clock.skew_ms = body.skew_ms
    if body.advance_ms is not None:
        ended = clock.advance(body.advance_ms, spares=body.members == "keep")
    return MovedClock(
        mode=clock.mode.value,
        now_ms=clock.now_ms(),
        skew_ms=clock.skew_ms,
        ended=convert(ended.by_kind, Ended, from_attributes=True),
    )


def _changes_in(body: ClockChange) -> Iterator[str]:
    if body.mode is not None:
        yield body.mode
    if body.skew_ms is not None:
        yield f"skew {body.skew_ms} ms"
    if body.advance_ms is not None:
        yield f"advance by {body.advance_ms} ms"


OPERATIONS = (
    Operation(method="GET", path="/v1/clock", perform=get_clock, tag=TAG),
    Operation(method="POST", path="/v1/clock", perform=move_clock, tag=TAG),
)
