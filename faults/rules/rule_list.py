"""The rules in force, in evaluation order, each with a unique id.

A disabled rule keeps its place, id and counts, and is not evaluated. A name is an address if one rule has it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from ..rule_error import RuleError
from .rule_lookup import AmbiguousRuleError, UnknownRuleError

# Every rule is evaluated for every request or file operation; more are a mistake of the caller.
RULES_MAX = 1000
# The newest removed rules whose counts can still be read.
REMOVED_MAX = 1000
# The rules that the error of a lookup names.
SHOWN_MAX = 10


class Listed(Protocol):
    """A rule of a list."""

    @property
    def id(self) -> int:
        """The id, counted from 1."""
        ...

    @property
    def name(self) -> str:
        """The name; "" without one."""
        ...

    @property
    def is_enabled(self) -> bool:
        """Whether the rule is evaluated."""
        ...

    def set_enabled(self, is_enabled: bool) -> None:
        """Change is_enabled. Only the list calls this."""
        ...


Rule = TypeVar("Rule")
Armed = TypeVar("Armed", bound=Listed)


class RuleList(ABC, Generic[Rule, Armed]):
    """The rules of one kind. Subclasses arm the rules and are called after every change.

    rules: replaced by a new tuple with each change, because rules may be removed while they are evaluated.
    enabled_rules: those that are evaluated.
    """

    def __init__(self) -> None:
        """Start without rules."""
        self.rules: tuple[Armed, ...] = ()
        self.enabled_rules: tuple[Armed, ...] = ()
        self._last_id = 0
        self._removed: dict[int, Armed] = {}
        # Called with the rules before and after each change.
        self.on_rules: Callable[[tuple[Armed, ...], tuple[Armed, ...]], None] | None = None

    def add(self, rule: Rule, position: int | None = None) -> Armed:
        """Insert a rule at position, by default at the end, and return it with a new id.

        Raises RuleError for an invalid rule and beyond RULES_MAX rules.
        """
        if len(self.rules) >= RULES_MAX:
            raise RuleError("", None, f"at most {RULES_MAX} rules", f"there are already {RULES_MAX} rules")
        armed = self._arm(self._last_id + 1, rule)
        self._last_id = armed.id
        place = len(self.rules) if position is None else position
        self._set((*self.rules[:place], armed, *self.rules[place:]))
        return armed

    def replace(self, rule_id: int, rule: Rule) -> Armed:
        """Replace the rule with this id, which the new rule keeps. Its counts start at 0.

        Callbacks for hits of the old rule are never called. Raises KeyError for an unknown id, RuleError.
        """
        self._require(rule_id)
        new = self._arm(rule_id, rule)
        self._set(tuple(new if armed.id == rule_id else armed for armed in self.rules))
        return new

    def after(self, rule_id: int) -> tuple[Armed, ...]:
        """Return the rules after the one with this id; if that was removed, those with a greater id."""
        for place, armed in enumerate(self.rules, 1):
            if armed.id == rule_id:
                return self.rules[place:]
        return tuple(armed for armed in self.rules if armed.id > rule_id)

    def find(self, rule_id: int) -> Armed | None:
        """Return the rule with this id, or None."""
        return next((armed for armed in self.rules if armed.id == rule_id), None)

    def find_removed(self, rule_id: int) -> Armed | None:
        """Return the rule that was removed with this id, with its counts; None for one of long ago."""
        return self._removed.get(rule_id)

    def look_up(self, address: int | str) -> Armed:
        """Return the rule with this id, or with this name. Raises UnknownRuleError, AmbiguousRuleError."""
        found = [armed for armed in self.rules if address == (armed.id if isinstance(address, int) else armed.name)]
        if not found or address == "":
            raise UnknownRuleError(f"there is no rule {address!r}; rules in force: {self._described()}")
        if len(found) > 1:
            ids = ", ".join(str(armed.id) for armed in found)
            raise AmbiguousRuleError(f"{len(found)} rules have the name {address!r}: use one of the ids {ids}")
        return found[0]

    def set_enabled(self, rule_id: int, is_enabled: bool) -> Armed:
        """Enable or disable the rule with this id, and return it. Raises KeyError for an unknown id."""
        armed = self._require(rule_id)
        armed.set_enabled(is_enabled)
        self._set(self.rules)
        return armed

    def remove(self, rule_id: int) -> Armed:
        """Remove the rule and return it. Raises KeyError for an unknown id."""
        removed = self._require(rule_id)
        self._set(tuple(armed for armed in self.rules if armed is not removed))
        self._keep_removed((removed,))
        return removed

    def clear(self) -> None:
        """Remove all rules. Their ids are not reused."""
        removed = self.rules
        self._set(())
        self._keep_removed(removed)

    def _keep_removed(self, removed: tuple[Armed, ...]) -> None:
        self._removed.update((armed.id, armed) for armed in removed)
        for rule_id in list(self._removed)[:-REMOVED_MAX]:
            del self._removed[rule_id]

    def _require(self, rule_id: int) -> Armed:
        """Return the rule with this id. Raises KeyError for an unknown id."""
        armed = self.find(rule_id)
        if armed is None:
            raise KeyError(f"rule {rule_id} is not in force")
        return armed

    def _set(self, rules: tuple[Armed, ...]) -> None:
        before, self.rules = self.rules, rules
        self.enabled_rules = tuple(armed for armed in rules if armed.is_enabled)
        self._changed()
        if self.on_rules is not None:
            self.on_rules(before, rules)

    def _described(self) -> str:
        """Return the ids and names of the first rules."""
        shown = [f"{armed.id} {armed.name!r}" if armed.name else str(armed.id) for armed in self.rules[:SHOWN_MAX]]
        left_out = len(self.rules) - len(shown)
        return ", ".join([*shown, f"and {left_out} more"] if left_out else shown) or "none"

    @abstractmethod
    def _arm(self, rule_id: int, rule: Rule) -> Armed:
        """Return the rule with its id and counts. Raises RuleError for an invalid rule."""

    @abstractmethod
    def _changed(self) -> None:
        """Called after every change of the rules."""
