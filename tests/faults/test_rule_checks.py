"""Rules from and to JSON, and every error with its field, value and allowed values."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest

from fauxka.faults.actions import Close, Error, Throttle
from fauxka.faults.json_bytes import BytesValue
from fauxka.faults.rule_error import RuleError
from fauxka.faults.rules.fault_rules import FaultRule, When
from fauxka.faults.rules.match import HeaderMatch, IntegerRange, Match, Pattern
from fauxka.faults.rules.rule_checks import ACTIONS_AT, check_rule
from fauxka.faults.strict_json import encode

from .posted_rules import decode_rule

ACTIONS: dict[str, dict[str, Any]] = {
    "observe": {},
    "error": {"error": "NOT_LEADER_OR_FOLLOWER", "scope": "partition"},
    "drop": {},
    "delay": {"ms": 100, "release_order": False, "mute": False},
    "hang": {"release_order": False, "mute": False},
    "hold": {"release_order": False, "mute": False},
    "close": {},
    "reset": {},
    "truncate": {"bytes": 7},
    "corrupt": {"at": 4, "bytes": 2},
    "drip": {"bytes": 1, "every_ms": 10},
    "throttle": {"ms": 1000},
    "deliver_twice": {},
    "crash": {"restart_after_ms": 50},
}
POINTS = ("accepted", "received", "applied", "answering")
# Where each of these actions is possible, written out once more.
ALLOWED = {
    "accepted": "observe delay hang close reset drip",
    "received": "observe error drop delay hang hold close reset throttle deliver_twice crash",
    "applied": "observe error drop delay hang hold close reset throttle crash",
    "answering": "observe delay close reset truncate corrupt drip",
}
MATCH = {
    "api": ["Produce", "Fetch"],
    "api_version": {"from": 9, "to": 12},
    "node": 1,
    "listener": "PLAINTEXT",
    "connection": 4,
    "client_id": {"regex": "app-.*"},
    "mechanism": ["PLAIN", "SCRAM-SHA-256"],
    "principal": ["User:alice", {"regex": "User:app-.*"}],
    "transactional_id": "t",
    "topic": ["orders", {"regex": "bills-.*"}],
    "partition": [0, {"from": 4}],
    "producer_id": 7,
    "producer_epoch": {"from": -1, "to": 3},
    "base_sequence": {"to": 150},
    "record_count": {"from": 2, "to": 5},
    "key": ["key", {"text": "key"}, {"base64": "/w=="}],
    "header": {"name": "id", "value": {"base64": "AP8="}},
}
WHEN = {
    "skip": 1,
    "times": None,
    "every": 2,
    "probability": 0.25,
    "seed": 42,
    "after_ms": 10,
    "until_ms": 20,
}


def refused(rule: dict[str, Any]) -> RuleError:
    with pytest.raises(RuleError) as caught:
        decode_rule(json.dumps(rule).encode())
    return caught.value


def closing(**fields: Any) -> dict[str, Any]:
    return {"point": "applied", "action": {"kind": "close"}, **fields}


@pytest.mark.parametrize(("point", "kind"), list(product(POINTS, ACTIONS)))
def test_each_point_accepts_only_its_actions(point: str, kind: str) -> None:
    rule = {"point": point, "action": {"kind": kind, **ACTIONS[kind]}}
    if kind in ALLOWED[point].split():
        assert decode_rule(json.dumps(rule).encode()).point == point
        return
    error = refused(rule)
    assert (error.field, error.value, error.allowed) == ("action.kind", kind, ", ".join(ACTIONS_AT[point]))
    assert error.message.startswith(f"{kind} cannot be applied at {point}: ")


def test_actions_are_possible_where_they_were() -> None:
    possible = {point: [kind for kind in kinds if kind in ACTIONS] for point, kinds in ACTIONS_AT.items()}

    assert possible == {point: kinds.split() for point, kinds in ALLOWED.items()}


@pytest.mark.parametrize("kind", ACTIONS)
def test_rule_as_json_is_a_valid_rule(kind: str) -> None:
    point = next(point for point in ("received", "answering") if kind in ALLOWED[point].split())
    rule = {
        "name": "lose two acks",
        "enabled": False,
        "match": MATCH,
        "when": WHEN,
        "point": point,
        "action": {"kind": kind, **ACTIONS[kind]},
    }
    decoded = decode_rule(json.dumps(rule).encode())
    assert json.loads(encode(decoded)) == rule
    assert decode_rule(encode(decoded)) == decoded


def test_defaults_are_filled_in() -> None:
    printed = json.loads(encode(decode_rule(json.dumps(closing()).encode())))
    assert printed == {
        "name": "",
        "enabled": True,
        "match": {},
        "when": {"skip": 0, "times": 1, "every": 1, "probability": 1, "seed": 0, "after_ms": 0, "until_ms": None},
        "point": "applied",
        "action": {"kind": "close"},
    }


def test_rule_response_can_be_posted_again() -> None:
    answered = closing(id=3, hits=1, matched=2, remaining=0, last_hit_ms=5, near_misses=[{"field": "topic"}])
    assert decode_rule(json.dumps(answered).encode()) == FaultRule(point="applied", action=Close())


def test_json_and_python_make_the_same_rule() -> None:
    match = Match(
        api=["Produce", "Fetch"],
        client_id=Pattern("app-.*"),
        partition=[0, IntegerRange(first=4)],
        key=["key", BytesValue("key"), b"\xff"],
        header=HeaderMatch(name="id", value=b"\0\xff"),
    )
    fields = ("api", "client_id", "partition", "key", "header")
    rule = closing(match={name: MATCH[name] for name in fields}, when={"times": 2})
    assert decode_rule(json.dumps(rule).encode()) == FaultRule(
        match=match, when=When(times=2), point="applied", action=Close()
    )


@pytest.mark.parametrize(
    ("rule", "field", "value", "allowed"),
    [
        ({"action": {"kind": "close"}}, "point", None, "accepted, answering, applied or received"),
        ({"point": "applied"}, "action", None, "an object with kind: observe, error, "),
        (closing(point="never"), "point", "never", "accepted, answering, applied or received"),
        (closing(action={}), "action.kind", None, "observe, error, drop, "),
        (closing(action={"kind": "explode"}), "action.kind", "explode", "observe, error, drop, "),
        (closing(action=5), "action", 5, "an object with kind: observe, "),
        (closing(action={"kind": "delay"}), "action.ms", None, "integer >= 0"),
        (closing(action={"kind": "delay", "ms": -1}), "action.ms", -1, "integer >= 0"),
        (closing(action={"kind": "delay", "ms": 1, "s": 2}), "action.s", 2, "the fields kind, release_order, mute, ms"),
        (closing(action={"kind": "close", "ms": 1}), "action.ms", 1, "the fields kind"),
        (closing(nmae="x"), "nmae", "x", "the fields name, enabled, match, when, point, action"),
        (closing(name=5), "name", 5, "text of at most 1000 characters"),
        (closing(match={"partition": "x"}), "match.partition", "x", "integer >= 0, an object with from, to, "),
        (closing(match={"partition": True}), "match.partition", True, "integer >= 0, "),
        (closing(match={"partition": 1.5}), "match.partition", 1.5, "integer >= 0, "),
        (closing(match={"partition": [0, -1]}), "match.partition[1]", -1, "integer >= 0 or an object with from, to"),
        (closing(match={"partition": {"form": 1}}), "match.partition.form", 1, "the fields from, to"),
        (closing(match={"partition": {}}), "match.partition", {}, "from, to or both"),
        (closing(match={"partition": [{"from": 3, "to": 2}]}), "match.partition[0].to", 2, "integer >= 3"),
        (closing(match={"partition": []}), "match.partition", [], "integer >= 0, "),
        (closing(match={"partition": 2**63}), "match.partition", 2**63, "integer >= 0, "),
        (closing(match={"producer_id": -2}), "match.producer_id", -2, "integer >= -1, "),
        (closing(match={"topic": {"regex": "("}}), "match.topic.regex", "(", "a regular expression of RE2"),
        (closing(match={"topic": {"regex": "(?!a)b"}}), "match.topic.regex", "(?!a)b", "a regular expression of RE2"),
        (closing(match={"topic": ["a", {"regex": 1}]}), "match.topic[1].regex", 1, "text of at most 1000 characters"),
        (closing(match={"api": "Produc"}), "match.api", "Produc", "AddOffsetsToTxn, "),
        (closing(match={"api": ["Fetch", "fetch"]}), "match.api[1]", "fetch", "AddOffsetsToTxn, "),
        (closing(match={"key": {"base64": "no base64!"}}), "match.key.base64", "no base64!", "base64 text"),
        (closing(match={"key": {"base64": "/w"}}), "match.key.base64", "/w", "base64 text"),
        (closing(match={"key": 5}), "match.key", 5, "text, an object with text, base64, a list with 1 to 1000 of "),
        (closing(match={"key": {}}), "match.key", {}, 'a text, {"text": "..."} or {"base64": "..."}'),
        (closing(match={"key": {"text": None}}), "match.key.text", None, "text"),
        (
            closing(match={"key": ["a", {"text": "a", "base64": "YQ=="}]}),
            "match.key[1]",
            {"text": "a", "base64": "YQ=="},
            'a text, {"text": "..."} or {"base64": "..."}',
        ),
        (closing(match={"header": {"name": "id", "value": {}}}), "match.header.value", {}, "a text, "),
        (closing(match={"header": [{"name": "id", "value": 1}]}), "match.header[0].value", 1, "text, an object with"),
        (closing(match={"header": {"value": "AA=="}}), "match.header.name", None, "text"),
        (
            closing(match={"header": "id"}),
            "match.header",
            "id",
            "an object with name, value, a list with 1 to 1000 of these or null",
        ),
        (closing(when={"times": 0}), "when.times", 0, "integer >= 1 or null"),
        (closing(when={"every": 0}), "when.every", 0, "integer >= 1"),
        (closing(when={"skip": -1}), "when.skip", -1, "integer >= 0"),
        (closing(when={"probability": 1.5}), "when.probability", 1.5, "number 0..1"),
        (closing(when={"seed": "x"}), "when.seed", "x", "integer"),
        (closing(when={"after_ms": 5, "until_ms": 5}), "when.until_ms", 5, "integer >= 6"),
        (closing(when=None), "when", None, "an object with skip, times, "),
        (closing(action={"kind": "error"}), "action.error", None, "text or integer -32768..32767"),
        (closing(action={"kind": "error", "error": "NOT_LEADER"}), "action.error", "NOT_LEADER", "the name of a Kafka"),
        (closing(action={"kind": "error", "error": 2**15}), "action.error", 2**15, "text or integer -32768..32767"),
        (
            closing(action={"kind": "error", "error": 6, "scope": "x"}),
            "action.scope",
            "x",
            "partition, request or topic",
        ),
        (
            closing(point="accepted", action={"kind": "hang", "release_order": True}),
            "action.release_order",
            True,
            "false",
        ),
        (
            closing(point="received", action={"kind": "hold", "release_order": True, "mute": True}),
            "action.mute",
            True,
            "false with release_order",
        ),
        (closing(point="accepted", match={"topic": "a"}), "match.topic", "a", "node, listener, connection"),
    ],
)
def test_invalid_rule_is_rejected_with_its_field(rule: dict[str, Any], field: str, value: object, allowed: str) -> None:
    error = refused(rule)
    assert (error.field, error.value) == (field, value)
    assert error.allowed.startswith(allowed)
    assert error.message.replace('"', "").startswith(field)


@pytest.mark.parametrize(
    ("api", "match"),
    [
        ("Fetch", {"base_sequence": 0}),
        ("Fetch", {"record_count": 1}),
        ("Fetch", {"key": "AA=="}),
        ("Fetch", {"header": {"name": "id"}}),
        ("Fetch", {"producer_id": 7}),
        ("Heartbeat", {"topic": "orders"}),
        ("Metadata", {"partition": 0}),
        ("Produce", {"group_id": "g"}),
        ("Fetch", {"transactional_id": "t"}),
    ],
)
def test_field_that_the_api_does_not_have_is_rejected(api: str, match: dict[str, Any]) -> None:
    field = next(iter(match))
    error = refused(closing(match={"api": api, **match}))
    assert (error.field, error.value) == (f"match.{field}", match[field])
    assert api in error.message
    # Another API that can name it is enough.
    others = ["Produce", "FindCoordinator"]
    decode_rule(json.dumps(closing(match={"api": [api, *others], **match})).encode())


@pytest.mark.parametrize(
    ("match", "message"),
    [
        ({"group_id": "g", "key": "a"}, "match.group_id: no Produce request has a group_id"),
        (
            {"api": ["JoinGroup", "Produce"], "group_id": "g", "transactional_id": "t"},
            "match.transactional_id: no JoinGroup request with a group_id has a transactional_id",
        ),
        (
            {"api": "Produce", "api_version": {"from": 14}},
            "match.api_version: a request of another version is not handled; served are 0 to 13 of Produce",
        ),
    ],
)
def test_rule_that_no_request_can_meet_is_rejected_with_the_reason(match: dict[str, Any], message: str) -> None:
    error = refused(closing(match=match))
    assert (error.field, error.message) == (message.partition(":")[0], message)


@pytest.mark.parametrize(
    "match",
    [
        {"api": ["Produce", "Heartbeat"], "api_version": [2, {"from": 5, "to": 9}], "key": "a"},
        {"api": ["Produce", "Heartbeat"], "api_version": 0},
        {"api": "ApiVersions", "api_version": 99},
        {"api_version": 99},
    ],
)
def test_rule_that_a_request_of_one_of_the_versions_can_meet_is_accepted(match: dict[str, Any]) -> None:
    decode_rule(json.dumps(closing(match=match)).encode())


@pytest.mark.parametrize(
    ("api", "match"),
    [
        ("EndTxn", {"producer_id": 7, "producer_epoch": 0, "transactional_id": "t"}),
        ("Fetch", {"topic": "orders", "partition": 0}),
        ("Metadata", {"topic": "orders"}),
        ("DescribeGroups", {"group_id": "g"}),
        ("OffsetFetch", {"group_id": "g", "partition": 0}),
        ("Produce", {"transactional_id": "t", "producer_id": 7, "key": "AA=="}),
    ],
)
def test_field_that_the_api_has_is_accepted(api: str, match: dict[str, Any]) -> None:
    decode_rule(json.dumps(closing(match={"api": api, **match})).encode())


def test_scope_that_the_response_does_not_have_is_rejected() -> None:
    action = {"kind": "error", "error": 6, "scope": "partition"}
    error = refused(closing(match={"api": ["Produce", "Heartbeat"]}, action=action))
    assert (error.field, error.value, error.allowed) == ("action.scope", "partition", "request")
    assert "Heartbeat" in error.message


def test_throttle_is_rejected_if_the_response_has_no_field() -> None:
    error = refused(closing(match={"api": "SaslHandshake"}, action={"kind": "throttle", "ms": 5}))
    assert (error.field, error.value) == ("action.kind", "throttle")
    decode_rule(json.dumps(closing(match={"api": "Produce"}, action={"kind": "throttle", "ms": 5})).encode())


def test_similar_name_is_suggested() -> None:
    assert refused(closing(match={"api": "produce"})).message.endswith("; did you mean Produce?")
    error = refused(closing(action={"kind": "error", "error": "NOT_LEADER_OR_FOLOWER"}))
    assert error.message.endswith("; did you mean NOT_LEADER_OR_FOLLOWER?")


def test_rule_created_in_python_is_validated() -> None:
    with pytest.raises(RuleError) as caught:
        check_rule(FaultRule(match=Match(partition=-1), point="applied", action=Close()))
    assert (caught.value.field, caught.value.value) == ("match.partition", -1)
    with pytest.raises(RuleError):
        check_rule(FaultRule(when=When(times=0), point="applied", action=Close()))
    check_rule(FaultRule(match=Match(key=b"\xff"), point="applied", action=Throttle(ms=0)))
    check_rule(FaultRule(point="received", action=Error(error="NONE")))
