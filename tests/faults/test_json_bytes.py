"""Bytes in JSON and in Python: every form is the same bytes, and what is written reads back."""

from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import to_builtins

from fauxka.faults.json_bytes import BytesValue, OneBytes, bytes_of, bytes_value_of
from fauxka.faults.rule_error import RuleError
from fauxka.faults.rules.match import HeaderMatch, Match
from fauxka.faults.rules.value_tests import check_match_value
from fauxka.faults.strict_json import check, convert, encode


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("€", b"\xe2\x82\xac"),
        (b"\xff", b"\xff"),
        (BytesValue(text="a"), b"a"),
        (BytesValue(base64=b"\xff"), b"\xff"),
        (BytesValue(text=""), b""),
    ],
)
def test_every_form_has_its_bytes(value: OneBytes, expected: bytes) -> None:
    assert bytes_of(value) == expected


@settings(derandomize=True, deadline=None)
@given(st.binary(max_size=20))
def test_bytes_of_a_response_read_back_as_the_same_bytes(value: bytes) -> None:
    written = to_builtins(bytes_value_of(value))

    key = convert({"key": written}, Match).key

    assert isinstance(key, str | BytesValue)
    assert bytes_of(key) == value


def test_text_that_looks_like_base64_is_text() -> None:
    key = convert({"key": "AAAA"}, Match).key

    assert key == "AAAA"


def test_bytes_of_python_are_written_as_base64_in_an_object() -> None:
    match = Match(key=[b"\xff", "a"], header=HeaderMatch(name="id", value=b"\0"))

    assert to_builtins(match) == {
        "key": [{"base64": "/w=="}, "a"],
        "header": {"name": "id", "value": {"base64": "AA=="}},
    }
    assert convert({"key": [b"\xff", "a"], "header": {"name": "id", "value": b"\0"}}, Match) == match
    assert encode(Match(key=b"a")) == b'{"key":{"base64":"YQ=="}}'


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (BytesValue(), "key has neither text nor base64"),
        (BytesValue(text="a", base64=b"a"), "key has both text and base64"),
        ("\ud800", r"key cannot be '\ud800': not UTF-8 text"),
        (BytesValue(text="\ud800"), r"key.text cannot be '\ud800': not UTF-8 text"),
    ],
)
def test_ambiguous_and_invalid_bytes_are_refused(value: OneBytes, message: str) -> None:
    with pytest.raises(RuleError) as caught:
        check_match_value("key", value)

    assert caught.value.message.startswith(message)


@pytest.mark.parametrize("value", [5, 1.5, True, bytearray(b"a"), object(), [[b"a"]], {"base64": b"a"}])
def test_other_types_are_refused(value: object) -> None:
    with pytest.raises(RuleError) as caught:
        convert({"key": value}, Match)

    assert caught.value.field.startswith("key")


def test_object_of_python_with_another_type_is_refused() -> None:
    with pytest.raises(RuleError, match="key cannot be 5"):
        check(Match(key=cast("Any", 5)))
