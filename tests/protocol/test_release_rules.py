"""The rules of releases. What each does is in tests/golden/test_releases.py, against captures of the releases."""

from __future__ import annotations

import pytest

from fauxka.protocol.apis.api import DEFAULT_RELEASE
from fauxka.protocol.release_rules import NEWEST_RULES, RULES_SINCE, RULES_UNTIL, ReleaseRules, rules_of


def test_each_rule_has_the_release_that_brought_it() -> None:
    assert set(RULES_SINCE) == set(ReleaseRules._fields)


@pytest.mark.parametrize("name", [name for name in RULES_SINCE if name not in RULES_UNTIL])
def test_a_rule_is_that_of_its_release_and_of_all_later_ones(name: str) -> None:
    since = RULES_SINCE[name]
    major, minor = since

    assert not getattr(rules_of((major, minor - 1)), name)
    assert getattr(rules_of(since), name)
    assert getattr(NEWEST_RULES, name)


@pytest.mark.parametrize("name", RULES_UNTIL)
def test_a_rule_that_was_given_up_is_that_of_the_releases_before(name: str) -> None:
    assert getattr(rules_of(RULES_SINCE[name]), name)
    assert not getattr(rules_of(RULES_UNTIL[name]), name)
    assert not getattr(NEWEST_RULES, name)


def test_the_default_release_has_the_newest_rules() -> None:
    assert rules_of(DEFAULT_RELEASE) == NEWEST_RULES
