import pytest

from fauxka.faults.actions import Close, Crash, Drop
from fauxka.faults.json_bytes import BytesValue
from fauxka.faults.rule_error import RuleError
from fauxka.faults.rules import recipes
from fauxka.faults.rules.fault_plan import FaultPlan
from fauxka.faults.rules.fault_rules import FaultRule, When
from fauxka.faults.rules.match import Match, Pattern

ALL = (
    recipes.lost_ack(),
    recipes.lost_request(),
    recipes.hang(),
    recipes.slow_answers(100),
    recipes.slow_requests(100),
    recipes.refuse("NOT_LEADER_OR_FOLLOWER", topic="orders"),
    recipes.false_error("REQUEST_TIMED_OUT", topic="orders"),
    recipes.false_success(),
    recipes.overtaken(),
    recipes.held(),
    recipes.delivered_twice(),
    recipes.throttled(100),
    recipes.cut_answers(6),
    recipes.corrupt_answers(4),
    recipes.dripping_answers(1, every_ms=10),
    recipes.closed_connection(),
    recipes.reset_connection(),
    recipes.rejected_login(),
    recipes.misrouted(),
    recipes.refused_connections(),
    recipes.hanging_connections(),
    recipes.crash_after_append(),
    recipes.crash_before_append(),
    recipes.observed(),
)


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.name)
def test_every_recipe_is_a_valid_rule(rule: FaultRule) -> None:
    plan = FaultPlan(lambda: 0)

    armed = plan.add(rule)

    assert armed.rule == rule


def test_a_lost_ack_ends_the_connection_of_one_applied_produce_request() -> None:
    rule = recipes.lost_ack(topic="orders", partition=3)

    assert (rule.match, rule.when) == (Match(api="Produce", topic="orders", partition=3), When(times=1))
    assert (rule.point, rule.action) == ("applied", Close())


def test_lost_ack_may_drop_only_the_response() -> None:
    assert recipes.lost_ack("drop").action == Drop()


def test_times_and_skip_choose_the_hits() -> None:
    assert recipes.lost_ack(times=None, skip=2).when == When(times=None, skip=2)


def test_recipe_accepts_another_api() -> None:
    assert recipes.hang(api="Fetch").match == Match(api="Fetch")


def test_an_answer_of_any_api_may_be_slow() -> None:
    assert recipes.slow_answers(5, group_id=Pattern("billing-.*")).match == Match(group_id=Pattern("billing-.*"))


def test_a_crash_without_a_restart_stays_down() -> None:
    assert recipes.crash_after_append(None).action == Crash(restart_after_ms=None)


def test_observed_has_no_limit_by_default() -> None:
    assert [recipes.observed().when.times, recipes.observed(times=2).when.times] == [None, 2]


def test_a_key_may_be_bytes_or_a_text() -> None:
    keys = [recipes.lost_ack(key=key).match.key for key in (b"\xff", "order-1")]

    assert keys == [BytesValue(base64=b"\xff"), "order-1"]


def test_invalid_value_names_its_field() -> None:
    with pytest.raises(RuleError, match=r"match\.partition cannot be -1; allowed: integer >= 0"):
        recipes.lost_ack(partition=-1)


NAMED = (
    recipes.lost_ack(name="mine"),
    recipes.lost_request(name="mine"),
    recipes.hang(name="mine"),
    recipes.slow_answers(100, name="mine"),
    recipes.slow_requests(100, name="mine"),
    recipes.refuse("NOT_LEADER_OR_FOLLOWER", name="mine"),
    recipes.false_error("REQUEST_TIMED_OUT", name="mine"),
    recipes.false_success(name="mine"),
    recipes.overtaken(name="mine"),
    recipes.held(name="mine"),
    recipes.delivered_twice(name="mine"),
    recipes.throttled(100, name="mine"),
    recipes.cut_answers(6, name="mine"),
    recipes.corrupt_answers(4, name="mine"),
    recipes.dripping_answers(1, every_ms=10, name="mine"),
    recipes.closed_connection(name="mine"),
    recipes.reset_connection(name="mine"),
    recipes.rejected_login(name="mine"),
    recipes.misrouted(name="mine"),
    recipes.refused_connections(name="mine"),
    recipes.hanging_connections(name="mine"),
    recipes.crash_after_append(name="mine"),
    recipes.crash_before_append(name="mine"),
    recipes.observed(name="mine"),
)


@pytest.mark.parametrize(("named", "default"), list(zip(NAMED, ALL, strict=True)), ids=[rule.name for rule in ALL])
def test_every_recipe_takes_a_name_and_is_otherwise_the_same(named: FaultRule, default: FaultRule) -> None:
    assert named.name == "mine"
    assert (named.point, named.action, named.when) == (default.point, default.action, default.when)


def test_recipe_adds_a_disabled_rule() -> None:
    assert not recipes.lost_ack(enabled=False).enabled
