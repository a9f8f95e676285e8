"""Regular expressions of topic names: where RE2 needs help to return what RE2/J returns, and limits on cost.

test_kafkas_own_classes compares a thousand expressions with RE2/J itself.
"""

from __future__ import annotations

import pytest

from fauxka.broker.coordinators.consumer.topic_regex import (
    COMPILE_STEPS_MAX,
    TOO_LARGE,
    InvalidRegexError,
    TopicRegex,
    compile_steps,
)


def description_of(text: str) -> str:
    """Return the error message of an invalid expression."""
    with pytest.raises(InvalidRegexError) as error:
        TopicRegex(text)
    return error.value.description


@pytest.mark.parametrize(
    ("text", "description"),
    [
        ("(?P<n>a)(?<n>b)", "duplicate capture group name"),
        ("a\\C", "invalid escape sequence"),
        ("a\\x{", "invalid escape sequence"),
        ("(?<!a)b", "invalid named capture"),
        ("a**", "invalid nested repetition operator"),
        ("a*{2,1}", "invalid repeat count"),
        ("a*{1001}", "invalid repeat count"),
        ("a*{3,}?", "invalid nested repetition operator"),
    ],
)
def test_invalid_expression_has_the_message_of_re2j(text: str, description: str) -> None:
    assert description_of(text) == description


@pytest.mark.parametrize(
    ("text", "name"), [("\\Qa\\C\\E", "a\\C"), ("a\\\\C", "a\\C"), ("\\(?P<n>a|\\(?P<n>b", "(P<n>b")]
)
def test_quoted_or_escaped_text_is_literal(text: str, name: str) -> None:
    assert TopicRegex(text).matches(name)


def test_a_name_must_match_as_a_whole() -> None:
    regex = TopicRegex("a|ab")

    assert [name for name in ("a", "ab", "abb", "bab", "") if regex.matches(name)] == ["a", "ab"]


def test_a_name_beyond_ascii_is_matched_by_characters() -> None:
    assert TopicRegex("p.rt").matches("p\u00f6rt")


@pytest.mark.parametrize("text", ["a" * 5_001, "\\pL" * 26, "a{1000}" * 26, "(" * 10_000 + "a" + ")" * 10_000])
def test_an_expression_that_compiles_for_too_long_is_refused_before_it_is_compiled(text: str) -> None:
    assert compile_steps(text) > COMPILE_STEPS_MAX
    assert description_of(text) == TOO_LARGE


def test_an_expression_that_needs_too_much_memory_is_refused() -> None:
    text = "(\\pL{100}){10}"

    assert compile_steps(text) < COMPILE_STEPS_MAX
    assert description_of(text) == TOO_LARGE


def test_the_cost_of_a_match_follows_the_expression_and_the_name() -> None:
    short, long = TopicRegex("a"), TopicRegex("(a?){1000}")

    assert long.match_steps("a" * 100) > 100 * short.match_steps("a" * 100) / 10
    assert long.match_steps("a" * 200) > 1.9 * long.match_steps("a" * 100)
