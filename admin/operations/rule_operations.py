"""Operations on fault rules."""

from __future__ import annotations

from ...faults.rules.fault_rules import FaultRule
from ...faults.rules.rule_checks import ANSWER_FIELDS
from ..control import Control
from ..operation import PATIENT, Caller, Operation
from ..paging import NumberPage, page_of
from .rule_addresses import addressed_rule
from .rule_models import AwaitQuery, Hits, RuleAddress, RuleChange, RuleInfo, RulePage, RuleQuery, rule_info
from .waiting import wait_for_hits

TAG = "rules"


def add_rule(control: Control, body: FaultRule) -> RuleInfo:
    """Add a fault rule after the others.

    Rules are evaluated in order; the first that hits ends the search. Rules that observe only count.
    """
    return rule_info(control.plan.add(body))


def list_rules(control: Control, query: NumberPage) -> RulePage:
    """List the fault rules in evaluation order."""
    items, token = page_of(control.plan.after(query.since), query.limit, rule_info, lambda armed: str(armed.id))
    return RulePage(items=items, next=token)


def get_rule(control: Control, path: RuleAddress, query: RuleQuery) -> RuleInfo:
    """Return a fault rule with its counts and near misses."""
    return rule_info(addressed_rule(control.plan, path, query))


def replace_rule(control: Control, path: RuleAddress, body: FaultRule) -> RuleInfo:
    """Replace a fault rule; its counts start at 0."""
    return rule_info(control.plan.replace(addressed_rule(control.plan, path).id, body))


def change_rule(control: Control, path: RuleAddress, body: RuleChange) -> RuleInfo:
    """Enable or disable a fault rule, which keeps its place and its counts.

    A disabled rule neither matches nor counts. The window of its `when` begins when it was added.
    """
    return rule_info(control.plan.set_enabled(addressed_rule(control.plan, path).id, body.enabled))


def remove_rule(control: Control, path: RuleAddress) -> RuleInfo:
    """Remove a fault rule, and return it with its counts."""
    return rule_info(control.plan.remove(addressed_rule(control.plan, path).id))


def remove_rules(control: Control) -> RulePage:
    """Remove all fault rules, and return them with their counts."""
    rules = control.plan.rules
    control.plan.clear()
    return RulePage(items=[rule_info(armed) for armed in rules], next=None)


async def await_rule(control: Control, path: RuleAddress, query: AwaitQuery, caller: Caller = PATIENT) -> Hits:
    """Wait for the hits of a rule; 408 with the hits so far after the timeout."""
    armed = addressed_rule(control.plan, path, query)
    return Hits(id=armed.id, hits=await wait_for_hits(armed, query.hits, query.timeout_ms, caller))


# An unknown id or name, and a name of several rules.
ADDRESS_ERRORS = (404, 409)
ONE_RULE = "/v1/rules/{id}"

OPERATIONS = (
    Operation(method="POST", path="/v1/rules", perform=add_rule, tag=TAG, status=201, ignored=ANSWER_FIELDS),
    Operation(method="GET", path="/v1/rules", perform=list_rules, tag=TAG),
    Operation(method="DELETE", path="/v1/rules", perform=remove_rules, tag=TAG),
    Operation(method="GET", path=ONE_RULE, perform=get_rule, tag=TAG, errors=ADDRESS_ERRORS),
    Operation(method="PUT", path=ONE_RULE, perform=replace_rule, tag=TAG, errors=ADDRESS_ERRORS, ignored=ANSWER_FIELDS),
    Operation(method="PATCH", path=ONE_RULE, perform=change_rule, tag=TAG, errors=ADDRESS_ERRORS),
    Operation(method="DELETE", path=ONE_RULE, perform=remove_rule, tag=TAG, errors=ADDRESS_ERRORS),
    Operation(method="GET", path=f"{ONE_RULE}/await", perform=await_rule, tag=TAG, errors=(*ADDRESS_ERRORS, 408, 503)),
)
