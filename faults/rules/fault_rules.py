"""Fault rules as data: which requests, when, at which point, and the action.

The models define what each field allows; rule_checks defines which values fit together. The JSON of a rule with all
defaults is a valid rule again.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct, field

from ..actions import Action
from ..numbers import INT64_MAX, Milliseconds, Natural, SomeMilliseconds
from ..points import Point as Point
from ..rule_error import RuleError
from .match import Match
from .named_rule import NamedRule

Count = Annotated[int, Meta(ge=1, le=INT64_MAX)]


class When(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which of the matching requests are hit.

    after_ms, until_ms: the window, from after_ms up to but not including until_ms, in ms of the broker's clock since
    the rule was added. Matches outside it do not count for the fields below.
    skip: the number of matches to skip. every: hit the first and then every n-th of the others.
    probability: hit each of these with this probability, drawn from a generator seeded with seed.
    times: the number of hits, after which the rule does nothing; None for no limit.
    """

    error_type = RuleError

    skip: Natural = 0
    times: Count | None = 1
    every: Count = 1
    probability: Annotated[float, Meta(ge=0, le=1)] = 1.0
    seed: Annotated[int, Meta(ge=-INT64_MAX, le=INT64_MAX)] = 0
    after_ms: Milliseconds = 0
    until_ms: SomeMilliseconds | None = None


class FaultRule(NamedRule, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One fault rule: at `point`, apply `action` to the requests that `match` and `when` choose."""

    match: Match = field(default_factory=Match)
    when: When = field(default_factory=When)
    point: Point
    action: Action

    @property
    def matched_noun(self) -> str:
        """What the rule matches: "connection" or "request"."""
        return "connection" if self.point == "accepted" else "request"
