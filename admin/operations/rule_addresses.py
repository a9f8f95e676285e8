"""Finds the rule that a path names by its id or its name."""

from __future__ import annotations

from typing import TypeVar

from ...faults.rules.rule_list import Listed, RuleList
from ...faults.rules.rule_lookup import AmbiguousRuleError, UnknownRuleError
from ..errors import CallError, conflict
from .rule_models import RuleAddress, RuleQuery

# More digits are no id: an id is an integer of 64 bits.
ID_DIGITS_MAX = 18

Armed = TypeVar("Armed", bound=Listed)
Rule = TypeVar("Rule")


def addressed_rule(rules: RuleList[Rule, Armed], path: RuleAddress, query: RuleQuery | None = None) -> Armed:
    """Return the rule. Raises CallError: 404 without such a rule, 409 if several have the name."""
    is_id = path.id.isascii() and path.id.isdecimal() and len(path.id) <= ID_DIGITS_MAX
    address = int(path.id) if is_id else path.id
    try:
        return rules.look_up(address)
    except UnknownRuleError as error:
        removed = rules.find_removed(address) if isinstance(address, int) and query and query.removed else None
        if removed is not None:
            return removed
        allowed = "the id of a rule, or a name that one rule has"
        raise CallError(404, str(error), field="id", value=address, allowed=allowed) from error
    except AmbiguousRuleError as error:
        raise conflict(str(error), field="id", value=address) from error
