"""A rule in force, for requests or files: its id, its counts and its near misses."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from msgspec import structs

from .rule_counts import RuleCounts

if TYPE_CHECKING:
    from .fault_rules import When
    from .named_rule import NamedRule
    from .near_misses import NearMiss, NearMisses

AnyRule = TypeVar("AnyRule", bound="NamedRule")


class RuleInForce(RuleCounts, Generic[AnyRule]):
    """A rule with its id and counts. Subclasses match, and create and fill _near_misses."""

    _near_misses: NearMisses

    def __init__(
        self, rule_id: int, rule: AnyRule, when: When, now_ms: Callable[[], int], *, times: int | None
    ) -> None:
        """when, now_ms, times: as for RuleCounts."""
        super().__init__(when, now_ms, times=times)
        self.id = rule_id
        self.rule = rule

    @property
    def name(self) -> str:
        """The name of the rule; "" without one."""
        return self.rule.name

    @property
    def is_enabled(self) -> bool:
        """Whether the rule is evaluated."""
        return self.rule.enabled

    def set_enabled(self, is_enabled: bool) -> None:
        """Enable or disable the rule. Called by its list only, which then evaluates it or not."""
        self.rule = structs.replace(self.rule, enabled=is_enabled)

    @property
    def near_misses(self) -> list[NearMiss]:
        """Why others did not match, nearest first."""
        return self._near_misses.nearest()
