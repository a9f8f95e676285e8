"""Order, hits and counts of rules, and the fault of each hit."""

from __future__ import annotations

import subprocess
import sys

import pytest

from fauxka.faults.actions import (
    Action,
    Close,
    Corrupt,
    Crash,
    Delay,
    DeliverTwice,
    Drip,
    Drop,
    Error,
    Hang,
    Hold,
    Observe,
    Reset,
    Scope,
    Throttle,
    Truncate,
)
from fauxka.faults.fault import Fault
from fauxka.faults.rule_error import RuleError
from fauxka.faults.rules.fault_plan import FaultPlan
from fauxka.faults.rules.fault_rules import FaultRule, Point, When
from fauxka.faults.rules.match import Match
from fauxka.faults.rules.near_misses import NEAR_MISSES_MAX, NearMiss
from fauxka.faults.rules.rule_list import RULES_MAX
from fauxka.protocol.batches.records import Record
from fauxka.protocol.request_facts import RequestFacts
from fauxka.protocol.shortened_text import shortened

from .matched_requests import Connection, Request, batch_facts, naming, produce


class Clock:
    def __init__(self) -> None:
        self.now_ms = 1_000_000


def new_plan(*rules: FaultRule) -> FaultPlan:
    plan = FaultPlan(lambda: 1_000_000)
    for each in rules:
        plan.add(each)
    return plan


def rule(
    action: Action | None = None, *, match: Match | None = None, when: When | None = None, point: Point = "received"
) -> FaultRule:
    return FaultRule(match=match or Match(), when=when or When(), point=point, action=action or Close())


def hits(plan: FaultPlan, count: int) -> list[int]:
    """Return the indexes of the equal requests that are hit."""
    return [number for number in range(count) if plan.received(produce(batch_facts())) is not None]


def fault_of(armed: FaultRule, request: Request) -> Fault:
    plan = new_plan(armed)
    ask = {"received": plan.received, "applied": plan.applied, "answering": plan.answering}
    fault = ask[armed.point](request)
    assert fault is not None
    return fault


def test_a_plan_without_rules_is_not_armed() -> None:
    plan = new_plan()
    assert not plan.is_armed
    assert not plan.is_accepting_armed
    assert plan.received(produce()) is None


@pytest.mark.parametrize("point", ["received", "applied", "answering"])
def test_rule_is_evaluated_at_its_point_only(point: Point) -> None:
    plan = new_plan(rule(point=point, when=When(times=None)))
    assert (plan.is_armed, plan.is_accepting_armed) == (True, False)
    request = produce()
    asked = {"received": plan.received(request), "applied": plan.applied(request), "answering": plan.answering(request)}
    assert [name for name, fault in asked.items() if fault is not None] == [point]
    assert plan.accepted(Connection()) is None


def test_connection_rule_is_evaluated_for_new_connections() -> None:
    plan = new_plan(rule(Reset(), match=Match(listener="PLAINTEXT"), point="accepted"))
    assert (plan.is_armed, plan.is_accepting_armed) == (False, True)
    assert plan.accepted(Connection(listener_name="SSL")) is None
    fault = plan.accepted(Connection())
    assert fault is not None
    assert fault.kind == "reset"


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        (When(), [0]),
        (When(times=3), [0, 1, 2]),
        (When(times=None), list(range(12))),
        (When(skip=2, times=2), [2, 3]),
        (When(every=3, times=None), [0, 3, 6, 9]),
        (When(skip=2, every=3, times=2), [2, 5]),
        (When(probability=0.0, times=None), []),
    ],
)
def test_when_chooses_the_hits(when: When, expected: list[int]) -> None:
    plan = new_plan(rule(when=when))
    assert hits(plan, 12) == expected
    assert plan.rules[0].matched == 12
    assert plan.rules[0].hits == len(expected)
    assert plan.rules[0].remaining == (None if when.times is None else when.times - len(expected))


def test_seed_chooses_the_hits() -> None:
    first, again, other = (
        hits(new_plan(rule(when=When(times=None, probability=0.3, seed=seed))), 200) for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other
    assert 30 < len(first) < 90


def test_window_of_the_clock_limits_a_rule() -> None:
    clock = Clock()
    plan = FaultPlan(lambda: clock.now_ms)
    armed = plan.add(rule(when=When(times=None, skip=1, after_ms=10, until_ms=30)))
    hit_at: list[int] = []
    for elapsed_ms in (0, 9, 10, 11, 29, 30, 100):
        clock.now_ms = 1_000_000 + elapsed_ms
        if plan.received(produce()) is not None:
            hit_at.append(elapsed_ms)
    # What came before it opened is not what skip lets pass.
    assert hit_at == [11, 29]
    assert (armed.matched, armed.last_hit_ms) == (7, 1_000_029)


def test_first_hit_ends_the_search() -> None:
    plan = new_plan(rule(Close(), match=Match(topic="bills")), rule(Drop()), rule(Reset(), when=When(times=None)))
    kinds: list[str] = []
    for _ in range(2):
        fault = plan.received(produce(batch_facts("orders")))
        assert fault is not None
        kinds.append(fault.kind)
    assert kinds == ["drop", "reset"]
    assert [armed.matched for armed in plan.rules] == [0, 2, 1]


def test_observe_rule_does_not_end_the_search() -> None:
    plan = new_plan(rule(Observe(), when=When(times=None)), rule(Close()))
    first, second = plan.received(produce()), plan.received(produce())
    assert first is not None
    assert (first.kind, second) == ("close", None)
    assert plan.rules[0].hits == 2


def test_rules_are_inserted_replaced_and_removed() -> None:
    plan = new_plan(rule(Close()), rule(Drop()))
    third = plan.add(rule(Reset()), position=1)
    assert [armed.id for armed in plan.rules] == [1, 3, 2]
    plan.received(produce())
    replaced = plan.replace(1, rule(Hang()))
    assert (replaced.id, replaced.hits, replaced.remaining) == (1, 0, 1)
    assert plan.find(1) is replaced
    assert plan.remove(3) is third
    assert [armed.id for armed in plan.rules] == [1, 2]
    plan.clear()
    assert (plan.rules, plan.is_armed) == ((), False)
    assert plan.add(rule()).id == 4


def test_unknown_rule_id_is_a_key_error() -> None:
    plan = new_plan(rule())
    assert plan.find(2) is None
    with pytest.raises(KeyError):
        plan.remove(2)
    with pytest.raises(KeyError):
        plan.replace(2, rule())


def test_invalid_rule_changes_nothing() -> None:
    plan = new_plan(rule(Close()))
    with pytest.raises(RuleError):
        plan.add(rule(DeliverTwice(), point="applied"))
    with pytest.raises(RuleError):
        plan.replace(1, rule(DeliverTwice(), point="applied"))
    assert [armed.rule for armed in plan.rules] == [rule(Close())]
    assert plan.add(rule()).id == 2


def test_number_of_rules_is_limited() -> None:
    plan = new_plan(*[rule()] * RULES_MAX)
    with pytest.raises(RuleError, match="already 1000 rules"):
        plan.add(rule())


def test_hit_callback_may_remove_the_rule() -> None:
    plan = new_plan(rule(Observe()), rule(Close()))
    plan.rules[0].when_hits(1, plan.clear)
    assert plan.received(produce()) is not None
    assert plan.rules == ()


def test_hit_callback_is_called_once() -> None:
    plan = new_plan(rule(when=When(times=None)))
    armed = plan.rules[0]
    reached: list[str] = []
    armed.when_hits(2, lambda: reached.append("two"))
    armed.when_hits(3, lambda: reached.append("three"))
    cancel = armed.when_hits(2, lambda: reached.append("cancelled"))
    cancel()
    hits(plan, 1)
    assert reached == []
    hits(plan, 1)
    assert reached == ["two"]
    hits(plan, 5)
    assert reached == ["two", "three"]
    armed.when_hits(7, lambda: reached.append("at once"))()
    assert reached[-1] == "at once"
    cancel()


@pytest.mark.parametrize(
    ("action", "point", "error_code"),
    [
        (Error(error="NOT_LEADER_OR_FOLLOWER"), "applied", 6),
        (Error(error=-1), "received", -1),
        (Error(error="NONE"), "received", 0),
        (Drop(), "applied", 0),
        (Delay(ms=5), "received", 0),
        (Delay(ms=5, release_order=True), "applied", 0),
        (Hang(release_order=True), "received", 0),
        (Hold(), "received", 0),
        (Hold(release_order=True), "received", 0),
        (Close(), "answering", 0),
        (Reset(), "answering", 0),
        (Truncate(bytes=11), "answering", 0),
        (Corrupt(at=4, bytes=2), "answering", 0),
        (Drip(bytes=3, every_ms=9), "answering", 0),
        (Throttle(ms=70), "received", 0),
        (DeliverTwice(), "received", 0),
        (Crash(), "applied", 0),
        (Crash(restart_after_ms=0), "applied", 0),
    ],
)
def test_a_fault_carries_the_action_of_its_rule(action: Action, point: Point, error_code: int) -> None:
    fault = fault_of(rule(action, point=point), produce(batch_facts()))
    assert fault == Fault(rule_id=1, action=action)
    assert fault.error_code == error_code


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        (Match(), "request"),
        (Match(client_id="client"), "request"),
        (Match(topic="orders"), "topic"),
        (Match(topic="orders", partition=0), "partition"),
        (Match(key=b"k"), "partition"),
        (Match(producer_id=7), "partition"),
    ],
)
def test_default_scope_of_an_error_follows_the_match(match: Match, expected: str) -> None:
    request = produce(batch_facts("orders", 0, records=[Record(key=b"k")]), batch_facts("bills", 0, producer_id=8))
    fault = fault_of(rule(Error(error=6), match=match), request)
    assert fault.scope == expected
    assert fault.chooses("orders", 0)
    assert fault.chooses("bills", 0) == (expected == "request")


@pytest.mark.parametrize(
    ("scope", "chosen"),
    [
        ("partition", [("orders", 0)]),
        ("topic", [("orders", 0), ("orders", 1)]),
        ("request", [("orders", 0), ("orders", 1), ("bills", 0)]),
    ],
)
def test_scope_of_the_rule_overrides_the_default(scope: Scope, chosen: list[tuple[str, int]]) -> None:
    partitions = [("orders", 0), ("orders", 1), ("bills", 0)]
    request = produce(*(batch_facts(*partition) for partition in partitions))
    match = Match(api="Produce", topic="orders", partition=0)
    fault = fault_of(rule(Error(error=6, scope=scope), match=match), request)
    assert [partition for partition in partitions if fault.chooses(*partition)] == chosen


def test_match_without_parts_chooses_all_partitions() -> None:
    fault = fault_of(rule(Error(error=6, scope="partition")), produce(batch_facts("a"), batch_facts("b")))
    assert (fault.scope, fault.chooses("a", 0), fault.chooses("b", 0)) == ("partition", True, True)


def test_response_with_only_a_top_level_error_fails_as_a_whole() -> None:
    # A heartbeat names the topics of a group, and its answer has one error code.
    request = naming("ConsumerGroupHeartbeat", RequestFacts(topics=("orders",)))
    fault = fault_of(rule(Error(error=6), match=Match(topic="orders")), request)
    assert (fault.scope, fault.topics) == ("request", frozenset({"orders"}))
    fault = fault_of(rule(Error(error=6, scope="partition")), naming("Heartbeat", RequestFacts()))
    assert fault.scope == "request"


def test_near_misses_explain_a_rule_that_never_hit() -> None:
    plan = new_plan(rule(match=Match(api="Produce", topic="orders", partition=1)))
    for partition in (0, 0, 2):
        plan.received(produce(batch_facts("orders", partition)))
    for _ in range(5):
        plan.received(naming("Metadata", RequestFacts()))
    assert plan.rules[0].near_misses == [
        NearMiss("partition", 1, 0, 2, "first differed at partition: 0, not 1"),
        NearMiss("partition", 1, 2, 1, "first differed at partition: 2, not 1"),
        NearMiss("api", "Produce", "Metadata", 5, "first differed at api: Metadata, not Produce"),
    ]


def test_only_the_nearest_misses_are_kept() -> None:
    plan = new_plan(rule(match=Match(client_id="me", partition=100)))
    for number in range(NEAR_MISSES_MAX + 5):
        plan.received(produce(client_id=f"client-{number}" + "x" * 1000))
    for number in range(3):
        plan.received(produce(batch_facts(partition=number), client_id="me"))
    misses = plan.rules[0].near_misses
    assert len(misses) == NEAR_MISSES_MAX
    assert [(miss.field, miss.got) for miss in misses[:4]] == [
        ("partition", 0),
        ("partition", 1),
        ("partition", 2),
        ("client_id", shortened("client-3" + "x" * 1000, 200)),
    ]


def test_a_start_without_rules_does_not_load_msgspec() -> None:
    program = (
        "import sys, fauxka.faults.rules.fault_plan as plan; plan.FaultPlan(int); assert 'msgspec' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
