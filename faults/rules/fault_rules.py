"""What goes wrong on purpose, as data: which requests, when, at which point, and what is done to them.

The models say what each field may be; rule_checks says which of them go together. What is printed of a rule, with all
defaults filled in, is a rule again.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from ..actions import INT64_MAX, Action, Milliseconds, SomeMilliseconds
from .match import Match, Natural

_NAME_CHARACTERS_MAX = 1000

Count = Annotated[int, Meta(ge=1, le=INT64_MAX)]
Point = Literal["accepted", "received", "applied", "answering"]


class When(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which of the requests that match are hit.

    after_ms, until_ms: only those that come so long after the rule was added on the broker's clock, from after_ms on
    and before until_ms; others are not counted by what follows.
    skip: the first so many are let pass. every: of the rest the first is hit and then each so-many-th.
    probability: of those, so large a part is hit, drawn from a generator of the rule's own that starts at seed.
    times: after so many hits the rule is spent; None is for ever.
    """

    skip: Natural = 0
    times: Count | None = 1
    every: Count = 1
    probability: Annotated[float, Meta(ge=0, le=1)] = 1.0
    seed: Annotated[int, Meta(ge=-INT64_MAX, le=INT64_MAX)] = 0
    after_ms: Milliseconds = 0
    until_ms: SomeMilliseconds | None = None


class FaultRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One rule: at this point, do this to the requests that match, when it is their turn."""

    name: Annotated[str, Meta(max_length=_NAME_CHARACTERS_MAX)] = ""
    match: Match = field(default_factory=Match)
    when: When = field(default_factory=When)
    point: Point
    action: Action
