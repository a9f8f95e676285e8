"""Values of a match: regular expressions match whole texts, in linear time."""

from __future__ import annotations

import pytest

from fauxka.faults.rules.match import Match, Pattern
from fauxka.faults.rules.value_tests import compile_test


@pytest.mark.parametrize(
    ("regex", "value", "is_match"),
    [
        ("orders-.*", "orders-1", True),
        ("orders", "orders-1", False),
        ("(?i)ORDERS", "orders", True),
        ("größe-\\d", "größe-1", True),
        (".", "\ud800", True),
    ],
)
def test_regex_matches_the_whole_text(regex: str, value: str, is_match: bool) -> None:
    test = compile_test(Match(topic=Pattern(regex)), "topic")

    assert test(value) is is_match


def test_regex_that_would_backtrack_for_ever_answers() -> None:
    test = compile_test(Match(topic=["exact", Pattern("(a+)+$"), Pattern("(a|a)*b")]), "topic")

    assert not test("a" * 10_000 + "!")
    assert test("a" * 10_000)
    assert test("exact")
    assert not test(None)
