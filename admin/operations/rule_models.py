"""Models of rules in force: the rule with its defaults and counts."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from ...faults.actions import Action
from ...faults.rule_error import RuleError
from ...faults.rules.armed_rule import ArmedRule
from ...faults.rules.fault_rules import Point, When
from ...faults.rules.match import Match
from ...faults.rules.named_rule import NAME_CHARACTERS_MAX
from ...faults.rules.near_misses import NearMiss
from ..paging import INT64_MAX

# Shorter than the usual timeouts of proxies and test runners.
AWAIT_TIMEOUT_MS_MAX = 600_000
AWAIT_TIMEOUT_MS_DEFAULT = 5_000

Id = Annotated[int, Meta(ge=0, le=INT64_MAX)]
HitCount = Annotated[int, Meta(ge=1, le=INT64_MAX, description="The number of hits to wait for.")]
AwaitTimeout = Annotated[int, Meta(ge=0, le=AWAIT_TIMEOUT_MS_MAX, description="How long to wait, in real time.")]


class RulePath(Struct, kw_only=True, forbid_unknown_fields=True):
    """The id of a rule."""

    id: Id


class RuleAddress(Struct, kw_only=True, forbid_unknown_fields=True):
    """The id of a rule, or its name. Digits are an id; a name must be that of one rule only."""

    error_type = RuleError

    id: Annotated[str, Meta(min_length=1, max_length=NAME_CHARACTERS_MAX, description="The id of a rule, or its name.")]


class RuleQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """removed: also a rule that was removed, by its id, with its counts at that time."""

    removed: bool = False


class AwaitQuery(RuleQuery, kw_only=True, forbid_unknown_fields=True):
    """The number of hits and the timeout of a wait."""

    hits: HitCount = 1
    timeout_ms: AwaitTimeout = AWAIT_TIMEOUT_MS_DEFAULT


class RuleChange(Struct, kw_only=True, forbid_unknown_fields=True):
    """A change of a rule in force, which keeps its place and its counts. enabled: whether it is evaluated."""

    error_type = RuleError

    enabled: bool


class RuleInfo(Struct, kw_only=True):
    """A rule in force.

    matched: the requests that fulfilled `match`. hits: those of them that `when` chose. remaining: the hits left, null
    for no limit. last_hit_ms: on the broker's clock, null before the first hit.
    """

    id: int
    name: str
    enabled: bool
    match: Match
    when: When
    point: Point
    action: Action
    hits: int
    matched: int
    remaining: int | None
    last_hit_ms: int | None
    near_misses: list[NearMiss]


class RulePage(Struct, kw_only=True):
    """Rules in evaluation order."""

    items: list[RuleInfo]
    next: str | None


class Hits(Struct, kw_only=True):
    """The hits of a rule at the end of a wait."""

    id: int
    hits: int


def rule_info(armed: ArmedRule) -> RuleInfo:
    """Return the model of a rule in force."""
    rule = armed.rule
    return RuleInfo(
        id=armed.id,
        name=rule.name,
        enabled=rule.enabled,
        match=rule.match,
        when=rule.when,
        point=rule.point,
        action=rule.action,
        hits=armed.hits,
        matched=armed.matched,
        remaining=armed.remaining,
        last_hit_ms=armed.last_hit_ms,
        near_misses=armed.near_misses,
    )
