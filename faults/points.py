"""The points of connections and requests where fault rules act, and why an action is impossible at some of them."""

from __future__ import annotations

from enum import Enum
from typing import Literal, NamedTuple, cast, get_args

Point = Literal["accepted", "received", "applied", "answering"]
POINTS: tuple[Point, ...] = get_args(Point)


class Reason(Enum):
    """Why an action is impossible at a point."""

    NO_REQUEST_YET = "an accepted connection has sent no request yet"
    NO_BYTES_YET = "the response has bytes only at answering"
    NO_RESPONSE_YET = "there is no response yet; use applied"
    ENCODED = "the response is already encoded; use applied"
    BYTES_MADE = "the response is already encoded; use received or applied"
    APPLIED_ALREADY = "the request is already applied"


class Points(NamedTuple):
    """Why an action is impossible at each point; None where it is possible."""

    accepted: Reason | None = None
    received: Reason | None = None
    applied: Reason | None = None
    answering: Reason | None = None

    def why_not(self, point: Point) -> Reason | None:
        """Return why the action is impossible at the point; None if it is possible."""
        return cast("Reason | None", getattr(self, point))

    @property
    def possible(self) -> tuple[Point, ...]:
        """The points where the action is possible."""
        return tuple(point for point in POINTS if self.why_not(point) is None)


BEFORE_THE_BYTES = Points(accepted=Reason.NO_REQUEST_YET, answering=Reason.BYTES_MADE)
BEFORE_IT_IS_APPLIED = Points(
    accepted=Reason.NO_REQUEST_YET, applied=Reason.APPLIED_ALREADY, answering=Reason.APPLIED_ALREADY
)
OF_THE_RESPONSE = Points(accepted=Reason.NO_REQUEST_YET, received=Reason.NO_RESPONSE_YET, answering=Reason.ENCODED)
OF_THE_BYTES = Points(accepted=Reason.NO_REQUEST_YET, received=Reason.NO_BYTES_YET, applied=Reason.NO_BYTES_YET)
