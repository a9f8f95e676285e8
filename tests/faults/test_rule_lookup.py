"""Rules that are named by id or name, and rules that are disabled."""

import pytest

from fauxka.faults.rules import recipes
from fauxka.faults.rules.fault_plan import FaultPlan
from fauxka.faults.rules.rule_lookup import AmbiguousRuleError, UnknownRuleError

from .matched_requests import Connection, produce


def plan_of(*names: str) -> FaultPlan:
    plan = FaultPlan(lambda: 0)
    for name in names:
        plan.add(recipes.lost_ack(name=name))
    return plan


def test_rule_is_found_by_its_id_and_by_its_name() -> None:
    plan = plan_of("first", "second")

    assert (plan.look_up(2).name, plan.look_up("second").id) == ("second", 2)


def test_text_of_digits_is_a_name() -> None:
    plan = plan_of("2", "second")

    assert (plan.look_up("2").id, plan.look_up(2).id) == (1, 2)


def test_name_of_several_rules_is_ambiguous_and_the_error_has_their_ids() -> None:
    plan = plan_of("lost", "other", "lost")

    with pytest.raises(AmbiguousRuleError, match="2 rules have the name 'lost': use one of the ids 1, 3"):
        plan.look_up("lost")


def test_error_of_an_unknown_name_lists_the_rules_in_force() -> None:
    plan = plan_of("lost", "")

    with pytest.raises(UnknownRuleError, match=r"there is no rule .last.; rules in force: 1 .lost., 2$"):
        plan.look_up("last")


def test_rule_without_a_name_is_not_found_by_an_empty_name() -> None:
    plan = plan_of("")

    with pytest.raises(UnknownRuleError, match="there is no rule ''"):
        plan.look_up("")


def test_plan_with_only_disabled_rules_is_not_armed() -> None:
    plan = plan_of("lost")
    plan.add(recipes.refused_connections())

    for armed in plan.rules:
        plan.set_enabled(armed.id, False)

    assert (plan.is_armed, plan.is_accepting_armed) == (False, False)


def test_rule_that_is_added_disabled_does_not_arm_the_plan() -> None:
    plan = FaultPlan(lambda: 0)

    armed = plan.add(recipes.lost_ack(enabled=False))

    assert (plan.is_armed, armed.is_enabled) == (False, False)


def test_disabled_rule_neither_matches_nor_counts_and_the_next_one_hits() -> None:
    plan = plan_of("first", "second")
    first, second = plan.rules
    plan.set_enabled(first.id, False)

    fault = plan.applied(produce())

    assert fault is not None
    assert (fault.rule_id, first.matched, first.near_misses, second.hits) == (second.id, 0, [], 1)


def test_enabled_rule_keeps_its_place_and_its_counts() -> None:
    plan = FaultPlan(lambda: 0)
    first = plan.add(recipes.lost_ack(times=None))
    plan.add(recipes.lost_ack(times=None))
    plan.applied(produce())
    plan.set_enabled(first.id, False)
    plan.applied(produce())

    plan.set_enabled(first.id, True)
    fault = plan.applied(produce())

    assert fault is not None
    assert (fault.rule_id, first.hits) == (first.id, 2)


def test_disabled_rule_for_connections_refuses_none() -> None:
    plan = FaultPlan(lambda: 0)
    armed = plan.add(recipes.refused_connections(times=None))

    plan.set_enabled(armed.id, False)

    assert plan.accepted(Connection()) is None
    assert armed.matched == 0


def test_replaced_rule_is_enabled_as_the_new_one_says() -> None:
    plan = plan_of("lost")
    plan.set_enabled(1, False)

    plan.replace(1, recipes.lost_ack())

    assert plan.is_armed
