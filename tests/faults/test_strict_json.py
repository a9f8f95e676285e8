"""Bodies and queries to models: any bytes give a value or a InvalidValueError."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from fauxka.admin.operations.reset_operations import Reset
from fauxka.faults.rule_error import InvalidValueError
from fauxka.faults.strict_json import decode, decode_query, encode

from .posted_rules import decode_rule


class Restart(Struct, forbid_unknown_fields=True):
    node: int
    mode: Literal["clean", "dirty"] = "clean"
    labels: dict[str, int] | None = None
    is_last: bool = False


def refused(data: bytes) -> InvalidValueError:
    with pytest.raises(InvalidValueError) as caught:
        decode(data, Restart)
    return caught.value


def test_a_body_becomes_its_model() -> None:
    assert decode(b'{"node": 2, "labels": {"a": 1}}', Restart) == Restart(2, labels={"a": 1})
    assert encode(Restart(2)) == b'{"node":2,"mode":"clean","labels":null,"is_last":false}'


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"nul",
        b"\xff",
        b'{"node": "\xff"}',
        b'{"node": "\\ud800"}',
        b'{"node": NaN}',
        b"[" * 100_000,
        b"{} {}",
    ],
)
def test_invalid_json_is_rejected(data: bytes) -> None:
    error = refused(data)
    assert (error.field, error.allowed) == ("", "JSON in UTF-8")
    assert len(str(error.value)) < 300


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"node": one}', 'expected a value at line 1, column 10, got "one}"'),
        (b'{\n  "node": 1,\n}', 'expected a field name in double quotes at line 3, column 1, got "}"'),
        (b'{"node": 1', "expected a comma or the closing bracket at line 1, column 11, got the end of the body"),
        (b'{"node" 1}', 'expected a colon at line 1, column 9, got "1}"'),
        (b"{} {}", 'expected the end of the body at line 1, column 4, got "{}"'),
        (b'{"node": "1}', "expected a closing quote for the text that starts here at line 1, column 10, "),
        (b'{"mode": "\xff"}', "byte 0xff at position 10 is not UTF-8"),
        (b'{"node": NaN}', "NaN is not a number of JSON"),
        (b'{"mode": "\\ud800"}', "a text has half of a surrogate pair"),
        (b"[" * 100_000, "it is nested too deeply"),
    ],
)
def test_invalid_json_is_described_in_a_sentence_with_the_position(data: bytes, message: str) -> None:
    # Python 3.13 and newer say so of a comma before a bracket.
    newer = "expected no comma before the closing bracket at line 2, column 12"
    described = refused(data).message.removeprefix("the body is not JSON: ")

    assert described.startswith(message) or described.startswith(newer)


@pytest.mark.parametrize("data", [b"", b" \n"])
def test_missing_body_is_answered_with_the_field_that_is_needed(data: bytes) -> None:
    error = refused(data)

    assert (error.field, error.value, error.allowed) == ("node", None, "integer")
    assert error.message.startswith('"node" is missing: the request has no body')


def test_missing_body_without_a_required_field_is_answered_with_its_first_field() -> None:
    with pytest.raises(InvalidValueError, match=r'^"scope" is missing: the request has no body') as caught:
        decode(b"", Reset)

    assert (caught.value.field, caught.value.allowed) == ("scope", "all, data, faults or journal")


@pytest.mark.parametrize(
    ("body", "suggested"),
    [(b'{"nod": 1}', "node"), (b'{"node": 1, "mode": "Clean"}', "clean"), (b'{"node": 1, "is-last": true}', "is_last")],
)
def test_similar_field_or_value_is_suggested(body: bytes, suggested: str) -> None:
    assert refused(body).message.endswith(f"; did you mean {suggested}?")


def test_nothing_is_suggested_if_nothing_is_similar() -> None:
    assert "did you mean" not in refused(b'{"node": 1, "zzz": 1}').message


def test_too_large_numbers_are_rejected() -> None:
    for number in (b"1e999", b"1" * 10_000):
        assert refused(b'{"node": ' + number + b"}").message != ""


@pytest.mark.parametrize(
    ("body", "field", "value", "allowed"),
    [
        (b"[1]", "", [1], "an object with node, mode, labels, is_last"),
        (b"{}", "node", None, "integer"),
        (b'{"node": null}', "node", None, "integer"),
        (b'{"node": 1, "mode": "x"}', "mode", "x", "clean or dirty"),
        (b'{"node": 1, "is_last": 1}', "is_last", 1, "true or false"),
        (b'{"node": 1, "nodes": [1]}', "nodes", [1], "the fields node, mode, labels, is_last"),
        (b'{"node": 1, "labels": 3}', "labels", 3, "an object or null"),
    ],
)
def test_error_names_the_field_and_its_value(body: bytes, field: str, value: object, allowed: str) -> None:
    error = refused(body)
    assert (error.field, error.value, error.allowed) == (field, value, allowed)
    assert error.as_json() == {"field": field, "value": value, "allowed": allowed, "message": error.message}


def test_long_value_is_cut_in_the_error() -> None:
    error = refused(b'{"node": "' + b"x" * 100_000 + b'"}')
    assert error.value == "x" * 200 + "..."
    assert len(error.message) < 300


def test_query_parameters_are_read_from_text() -> None:
    assert decode_query({"node": "3", "is_last": "true"}, Restart) == Restart(3, is_last=True)
    with pytest.raises(InvalidValueError) as caught:
        decode_query({"node": "three"}, Restart)
    assert (caught.value.field, caught.value.value, caught.value.allowed) == ("node", "three", "integer")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
# Documents that are nearly rules: known names with any value.
near_rules = st.dictionaries(
    st.sampled_from(["name", "match", "when", "point", "action", "id", "x - at `$.y`", "a[0].b"]),
    json_values
    | st.sampled_from(["applied", "accepted"])
    | st.dictionaries(
        st.sampled_from(["kind", "ms", "topic", "partition", "header", "key", "times", "probability", "api", "error"]),
        json_values | st.sampled_from(["close", "delay", "error", "Produce"]),
        max_size=3,
    ),
)


@settings(derandomize=True, deadline=None)
@given(near_rules)
def test_any_document_is_a_rule_or_rejected(document: dict[str, Any]) -> None:
    try:
        rule = decode_rule(json.dumps(document).encode())
    except InvalidValueError as error:
        encode(error.as_json())
        assert error.allowed
        assert error.message
    else:
        assert decode_rule(encode(rule)) == rule


@settings(derandomize=True, deadline=None)
@given(st.binary(max_size=50))
def test_any_bytes_are_a_rule_or_rejected(data: bytes) -> None:
    with pytest.raises(InvalidValueError):
        decode_rule(data)


# The first conversion of a process is the one that can meet another thread's.
FIRST_CONVERSIONS = """
import sys, threading
import fauxka.testing.broker
from fauxka.faults.rules.fault_rules import FaultRule
from fauxka.faults.strict_json import convert

sys.setswitchinterval(1e-6)
start = threading.Barrier(4)

def run():
    start.wait()
    convert({"point": "applied", "match": {"api": "Produce"}, "action": {"kind": "close"}}, FaultRule)

threads = [threading.Thread(target=run) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


@pytest.mark.deep
@pytest.mark.slice
def test_first_rules_of_several_brokers_are_converted() -> None:
    for _ in range(10):
        ended = subprocess.run([sys.executable, "-c", FIRST_CONVERSIONS], capture_output=True, text=True, timeout=60)
        assert (ended.returncode, ended.stderr) == (0, "")
