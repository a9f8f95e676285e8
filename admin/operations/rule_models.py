"""Rules as the admin API tells them: as they were given, with all defaults, and with what they have counted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from msgspec import Meta, Struct

from ...faults.actions import Action
from ...faults.rules.armed_rule import ArmedRule
from ...faults.rules.fault_rules import Point, When
from ...faults.rules.match import Match
from ...faults.rules.near_misses import NearMiss
from ..paging import INT64_MAX

# Longer than any test waits for one thing, and shorter than what proxies and test runners put up with.
AWAIT_TIMEOUT_MS_MAX = 600_000
AWAIT_TIMEOUT_MS_DEFAULT = 5_000

Id = Annotated[int, Meta(ge=0, le=INT64_MAX)]
HitCount = Annotated[int, Meta(ge=1, le=INT64_MAX, description="How many hits to wait for.")]
AwaitTimeout = Annotated[
    int, Meta(ge=0, le=AWAIT_TIMEOUT_MS_MAX, description="How long to wait, in real time, whatever the broker's clock.")
]


class RulePath(Struct, kw_only=True, forbid_unknown_fields=True):
    """Which rule."""

    id: Id


class AwaitQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """For how many hits to wait, and how long."""

    hits: HitCount = 1
    timeout_ms: AwaitTimeout = AWAIT_TIMEOUT_MS_DEFAULT


class NearMissInfo(Struct, kw_only=True):
    """Why requests did not match a rule: the first field that did not hold, all before it did."""

    field: str
    wanted: Any
    got: Any
    count: int


class RuleInfo(Struct, kw_only=True):
    """A rule in force.

    matched: how many requests matched, before `when` was asked. hits: how many of them it acted on. remaining: how many
    it will still act on; null is for ever. last_hit_ms: by the broker's clock; null before the first hit.
    """

    id: int
    name: str
    match: Match
    when: When
    point: Point
    action: Action
    hits: int
    matched: int
    remaining: int | None
    last_hit_ms: int | None
    near_misses: list[NearMissInfo]


class RulePage(Struct, kw_only=True):
    """Rules, in the order in which they are asked."""

    items: list[RuleInfo]
    next: str | None


class Hits(Struct, kw_only=True):
    """What a rule has counted when the wait was over."""

    id: int
    hits: int


def rule_info(armed: ArmedRule) -> RuleInfo:
    """Return the rule as it is told."""
    rule = armed.rule
    return RuleInfo(
        id=armed.id,
        name=rule.name,
        match=rule.match,
        when=rule.when,
        point=rule.point,
        action=rule.action,
        hits=armed.hits,
        matched=armed.matched,
        remaining=armed.remaining,
        last_hit_ms=armed.last_hit_ms,
        near_misses=near_misses_info(armed.near_misses),
    )


def near_misses_info(misses: Iterable[NearMiss]) -> list[NearMissInfo]:
    """Return what kept things from matching a rule, as it is told."""
    return [NearMissInfo(field=miss.field, wanted=miss.wanted, got=miss.got, count=miss.count) for miss in misses]
