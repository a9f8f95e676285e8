"""Drawn rules and requests through the real plan and through the model: the same decisions and the same counts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any, cast

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fauxka.faults.fault import Fault
from fauxka.faults.rules.fault_plan import FaultPlan
from fauxka.protocol.batches.records import Record

from ..faults.matched_requests import Request, batch_facts, produce
from ..faults.posted_rules import decode_rule
from ..run_counts import examples
from .fault_plan_model import ModelPlan, ModelRule

POINTS = ("received", "applied", "answering")
KEYS = ("a", "b")
# What a rule for Fetch may not ask for.
PRODUCE_ONLY = {"producer_id", "base_sequence", "record_count", "key"}

# Few values each, so that rules and requests often meet.
TOPICS = st.sampled_from(["orders", "bills"])
PARTITIONS = st.integers(0, 1)
PRODUCERS = st.integers(7, 8)
SEQUENCES = st.integers(0, 2)
API_NAMES = st.sampled_from(["Produce", "Produce", "Produce", "Fetch"])
CLIENTS = st.sampled_from(["one", "two"])

matches = st.fixed_dictionaries(
    {},
    optional={
        "api": API_NAMES,
        "node": st.integers(1, 2),
        "client_id": CLIENTS,
        "topic": TOPICS,
        "partition": PARTITIONS,
        "producer_id": PRODUCERS,
        "base_sequence": SEQUENCES,
        "record_count": st.integers(1, 2),
        "key": st.sampled_from(KEYS),
    },
).filter(lambda match: match.get("api") != "Fetch" or not PRODUCE_ONLY & match.keys())
whens = st.fixed_dictionaries(
    {
        "skip": st.integers(0, 2),
        "times": st.none() | st.integers(1, 3),
        "every": st.integers(1, 3),
        "probability": st.sampled_from([1, 1, 0, 0.5]),
        "seed": st.integers(0, 3),
        "after_ms": st.sampled_from([0, 0, 20]),
        "until_ms": st.sampled_from([None, None, 60]),
    }
)
rules = st.tuples(matches, whens, st.sampled_from(POINTS), st.sampled_from(["close", "delay", "observe"]))
parts = st.fixed_dictionaries(
    {
        "topic": TOPICS,
        "partition": PARTITIONS,
        "producer_id": PRODUCERS,
        "base_sequence": SEQUENCES,
        "keys": st.lists(st.sampled_from(KEYS), min_size=1, max_size=2),
    }
)
requests = st.fixed_dictionaries(
    {
        "api": API_NAMES,
        "node": st.integers(1, 2),
        "client_id": CLIENTS,
        "parts": st.lists(parts, min_size=1, max_size=3, unique_by=lambda part: (part["topic"], part["partition"])),
    }
)
steps = st.lists(st.tuples(st.sampled_from(POINTS), requests, st.sampled_from([0, 1, 10])), max_size=15)


def real_request(drawn: dict[str, Any]) -> Request:
    request = produce(
        *(
            batch_facts(
                part["topic"],
                part["partition"],
                records=[Record(key=key.encode()) for key in part["keys"]],
                producer_id=part["producer_id"],
                base_sequence=part["base_sequence"],
            )
            for part in drawn["parts"]
        ),
        client_id=drawn["client_id"],
    )
    request.api_name = drawn["api"]
    request.connection.node_id = drawn["node"]
    for part in drawn["parts"]:
        part["record_count"] = len(part["keys"])
    return request


def rule_json(rule: tuple[dict[str, Any], dict[str, Any], str, str]) -> bytes:
    match, when, point, kind = rule
    action = {"kind": kind, "ms": 5} if kind == "delay" else {"kind": kind}
    return json.dumps({"match": match, "when": when, "point": point, "action": action}).encode()


def ask(plan: FaultPlan, point: str) -> Callable[[Request], Fault | None]:
    return {"received": plan.received, "applied": plan.applied, "answering": plan.answering}[point]


def misses_of(plan: FaultPlan, rule_id: int) -> Counter[tuple[str, Any]]:
    armed = plan.find(rule_id)
    assert armed is not None
    return Counter({(miss.field, _hashable(miss.got)): miss.count for miss in armed.near_misses})


def _hashable(got: Any) -> Any:
    return tuple(cast("list[str]", got)) if isinstance(got, list) else got


# A busy machine draws slowly; that is no finding.
SLOWLY = [HealthCheck.too_slow]


@settings(derandomize=True, max_examples=examples(200), deadline=None, suppress_health_check=SLOWLY)
@given(st.lists(rules, min_size=1, max_size=4), steps)
def test_the_plan_agrees_with_the_model(
    drawn_rules: list[tuple[dict[str, Any], dict[str, Any], str, str]],
    drawn_steps: list[tuple[str, dict[str, Any], int]],
) -> None:
    clock = [1000]
    plan, model = FaultPlan(lambda: clock[0]), ModelPlan()
    for drawn in drawn_rules:
        armed = plan.add(decode_rule(rule_json(drawn)))
        match, when, point, kind = drawn
        model.rules.append(ModelRule(armed.id, match, when, point, kind, clock[0]))
    for point, drawn_request, passed_ms in drawn_steps:
        clock[0] += passed_ms
        request = real_request(drawn_request)
        fault = ask(plan, point)(request)
        decided = None if fault is None else (fault.rule_id, set(fault.partitions))
        assert decided == model.ask(point, drawn_request, clock[0])
    for armed, expected in zip(plan.rules, model.rules, strict=True):
        hits = expected.hits()
        assert (armed.matched, armed.hits, armed.remaining) == (len(hits), sum(hits), expected.remaining())
        last = [came_ms for came_ms, is_hit in zip(expected.came_ms, hits, strict=True) if is_hit]
        assert armed.last_hit_ms == (last[-1] if last else None)
        assert misses_of(plan, armed.id) == expected.misses


@settings(derandomize=True, max_examples=examples(30), deadline=None, suppress_health_check=SLOWLY)
@given(rules, steps)
def test_the_same_rule_and_seed_hit_the_same_requests_twice(
    drawn: tuple[dict[str, Any], dict[str, Any], str, str], drawn_steps: list[tuple[str, dict[str, Any], int]]
) -> None:
    def run() -> list[bool]:
        clock = [0]
        plan = FaultPlan(lambda: clock[0])
        plan.add(decode_rule(rule_json(drawn)))
        hits: list[bool] = []
        for point, drawn_request, passed_ms in drawn_steps * 3:
            clock[0] += passed_ms
            hits.append(ask(plan, point)(real_request(drawn_request)) is not None)
        return hits

    assert run() == run()
