"""Rules in force, in the order in which they are asked, each with an id that is given once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, Protocol, TypeVar

from ..rule_error import RuleError

# Each is asked for every request, or operation; thousands of them are a mistake in whoever adds them.
RULES_MAX = 1000


class Identified(Protocol):
    """A rule with its id."""

    @property
    def id(self) -> int:
        """Its id, counted from 1."""
        ...


Rule = TypeVar("Rule")
Armed = TypeVar("Armed", bound=Identified)


class RuleList(ABC, Generic[Rule, Armed]):
    """The rules of one kind; who derives from it arms them, and learns of every change.

    rules: a new tuple with each change, because a rule may be lifted while they are asked.
    """

    def __init__(self) -> None:
        """Start without rules."""
        self.rules: tuple[Armed, ...] = ()
        self._last_id = 0

    def add(self, rule: Rule, position: int | None = None) -> Armed:
        """Put the rule behind the first position rules, by default behind all, and return it with a new id.

        Raises RuleError for a rule that cannot be, and for one more than RULES_MAX.
        """
        if len(self.rules) >= RULES_MAX:
            raise RuleError("", None, f"at most {RULES_MAX} rules", f"there are {RULES_MAX} rules already")
        armed = self._arm(self._last_id + 1, rule)
        self._last_id = armed.id
        place = len(self.rules) if position is None else position
        self._set((*self.rules[:place], armed, *self.rules[place:]))
        return armed

    def replace(self, rule_id: int, rule: Rule) -> Armed:
        """Put a rule in the place of the one with this id, which it takes over; its counts begin anew.

        Whoever waits for hits of the old one waits in vain. Raises KeyError for an id that is not in force, RuleError.
        """
        self._require(rule_id)
        new = self._arm(rule_id, rule)
        self._set(tuple(new if armed.id == rule_id else armed for armed in self.rules))
        return new

    def after(self, rule_id: int) -> tuple[Armed, ...]:
        """Return the rules behind the one with this id; if it is not in force any more, those with a greater id."""
        for place, armed in enumerate(self.rules, 1):
            if armed.id == rule_id:
                return self.rules[place:]
        return tuple(armed for armed in self.rules if armed.id > rule_id)

    def find(self, rule_id: int) -> Armed | None:
        """Return the rule with this id; None if it is not in force."""
        return next((armed for armed in self.rules if armed.id == rule_id), None)

    def remove(self, rule_id: int) -> Armed:
        """Lift the rule and return it as it is then. Raises KeyError for an id that is not in force."""
        removed = self._require(rule_id)
        self._set(tuple(armed for armed in self.rules if armed is not removed))
        return removed

    def clear(self) -> None:
        """Lift all rules; their ids are not given again."""
        self._set(())

    def _require(self, rule_id: int) -> Armed:
        """Return the rule with this id. Raises KeyError for one that is not in force."""
        armed = self.find(rule_id)
        if armed is None:
            raise KeyError(f"rule {rule_id} is not in force")
        return armed

    def _set(self, rules: tuple[Armed, ...]) -> None:
        self.rules = rules
        self._changed()

    @abstractmethod
    def _arm(self, rule_id: int, rule: Rule) -> Armed:
        """Return the rule with this id and with counts; raises RuleError for one that cannot be."""

    @abstractmethod
    def _changed(self) -> None:
        """Follow a change of rules."""
