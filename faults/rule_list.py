"""Rules in force, in the order in which they are asked, each with an id that is given once."""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar

from .rule_error import RuleError

# Each is asked for every request, or operation; thousands of them are a mistake in whoever adds them.
RULES_MAX = 1000


class Identified(Protocol):
    """A rule with its id."""

    @property
    def id(self) -> int:
        """Its id, counted from 1."""
        ...


Armed = TypeVar("Armed", bound=Identified)


class RuleList(Generic[Armed]):
    """The rules of one kind; who derives from it learns of every change.

    rules: a new tuple with each change, because a rule may be lifted while they are asked.
    """

    def __init__(self) -> None:
        """Start without rules."""
        self.rules: tuple[Armed, ...] = ()
        self._last_id = 0

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

    def _next_id(self) -> int:
        """Return the id that the next rule gets, if it is added. Raises RuleError where there is no room for it."""
        if len(self.rules) >= RULES_MAX:
            raise RuleError("", None, f"at most {RULES_MAX} rules", f"there are {RULES_MAX} rules already")
        return self._last_id + 1

    def _add(self, armed: Armed, position: int | None) -> None:
        """Put a rule with the next id behind the first position rules, by default behind all."""
        self._last_id = armed.id
        place = len(self.rules) if position is None else position
        self._set((*self.rules[:place], armed, *self.rules[place:]))

    def _replace(self, new: Armed) -> None:
        """Put a rule in the place of the one that has its id."""
        self._set(tuple(new if armed.id == new.id else armed for armed in self.rules))

    def _require(self, rule_id: int) -> Armed:
        """Return the rule with this id. Raises KeyError for one that is not in force."""
        armed = self.find(rule_id)
        if armed is None:
            raise KeyError(f"rule {rule_id} is not in force")
        return armed

    def _set(self, rules: tuple[Armed, ...]) -> None:
        self.rules = rules
        self._changed()

    def _changed(self) -> None:
        """Follow a change of rules."""
