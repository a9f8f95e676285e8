"""Operations on fault rules."""

from __future__ import annotations

from ...faults.rules.armed_rule import ArmedRule
from ...faults.rules.fault_rules import FaultRule
from ...faults.rules.rule_checks import ANSWER_FIELDS
from ..control import Control
from ..errors import unknown
from ..operation import Caller, Operation
from ..paging import NumberPage, page_of
from .rule_models import AwaitQuery, Hits, RuleInfo, RulePage, RulePath, rule_info
from .waiting import wait_for_hits

TAG = "rules"


def _rule(control: Control, rule_id: int) -> ArmedRule:
    armed = control.plan.find(rule_id)
    if armed is None:
        raise unknown("rule", rule_id)
    return armed


def add_rule(control: Control, body: FaultRule) -> RuleInfo:
    """Add a fault rule after the others.

    Rules are evaluated in order; the first that hits ends the search. Rules that observe only count.
    """
    return rule_info(control.plan.add(body))


def list_rules(control: Control, query: NumberPage) -> RulePage:
    """List the fault rules in evaluation order."""
    items, token = page_of(control.plan.after(query.since), query.limit, rule_info, lambda armed: str(armed.id))
    return RulePage(items=items, next=token)


def get_rule(control: Control, path: RulePath) -> RuleInfo:
    """Return a fault rule with its counts and near misses."""
    return rule_info(_rule(control, path.id))


def replace_rule(control: Control, path: RulePath, body: FaultRule) -> RuleInfo:
    """Replace a fault rule; its counts start at 0."""
    _rule(control, path.id)
    return rule_info(control.plan.replace(path.id, body))


def remove_rule(control: Control, path: RulePath) -> RuleInfo:
    """Remove a fault rule, and return it with its counts."""
    return rule_info(control.plan.remove(_rule(control, path.id).id))


def remove_rules(control: Control) -> RulePage:
    """Remove all fault rules, and return them with their counts."""
    rules = control.plan.rules
    control.plan.clear()
    return RulePage(items=[rule_info(armed) for armed in rules], next=None)


async def await_rule(control: Control, path: RulePath, query: AwaitQuery, caller: Caller) -> Hits:
    """Wait for the hits of a rule; 408 with the hits so far after the timeout."""
    armed = _rule(control, path.id)
    return Hits(id=path.id, hits=await wait_for_hits(armed, query.hits, query.timeout_ms, caller))


OPERATIONS = (
    Operation(method="POST", path="/v1/rules", perform=add_rule, tag=TAG, status=201, ignored=ANSWER_FIELDS),
    Operation(method="GET", path="/v1/rules", perform=list_rules, tag=TAG),
    Operation(method="DELETE", path="/v1/rules", perform=remove_rules, tag=TAG),
    Operation(method="GET", path="/v1/rules/{id}", perform=get_rule, tag=TAG, errors=(404,)),
    Operation(method="PUT", path="/v1/rules/{id}", perform=replace_rule, tag=TAG, errors=(404,), ignored=ANSWER_FIELDS),
    Operation(method="DELETE", path="/v1/rules/{id}", perform=remove_rule, tag=TAG, errors=(404,)),
    Operation(method="GET", path="/v1/rules/{id}/await", perform=await_rule, tag=TAG, errors=(404, 408, 503)),
)
