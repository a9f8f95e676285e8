"""The rules in force, in evaluation order, each with a unique id."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, Protocol, TypeVar

from ..rule_error import RuleError

# Every rule is evaluated for every request or file operation; more are a mistake of the caller.
RULES_MAX = 1000


class Identified(Protocol):
    """A rule in force."""

    @property
    def id(self) -> int:
        """The id, counted from 1."""
        ...


Rule = TypeVar("Rule")
Armed = TypeVar("Armed", bound=Identified)


class RuleList(ABC, Generic[Rule, Armed]):
    """The rules of one kind. Subclasses arm the rules and are called after every change.

    rules: replaced by a new tuple with each change, because rules may be removed while they are evaluated.
    """

    def __init__(self) -> None:
        """Start without rules."""
        self.rules: tuple[Armed, ...] = ()
        self._last_id = 0

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

    def remove(self, rule_id: int) -> Armed:
        """Remove the rule and return it. Raises KeyError for an unknown id."""
        removed = self._require(rule_id)
        self._set(tuple(armed for armed in self.rules if armed is not removed))
        return removed

    def clear(self) -> None:
        """Remove all rules. Their ids are not reused."""
        self._set(())

    def _require(self, rule_id: int) -> Armed:
        """Return the rule with this id. Raises KeyError for an unknown id."""
        armed = self.find(rule_id)
        if armed is None:
            raise KeyError(f"rule {rule_id} is not in force")
        return armed

    def _set(self, rules: tuple[Armed, ...]) -> None:
        self.rules = rules
        self._changed()

    @abstractmethod
    def _arm(self, rule_id: int, rule: Rule) -> Armed:
        """Return the rule with its id and counts. Raises RuleError for an invalid rule."""

    @abstractmethod
    def _changed(self) -> None:
        """Called after every change of the rules."""
