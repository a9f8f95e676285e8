"""One test of many cases fails with each case that fails, and one case runs alone."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .each_case import CASE_VARIABLE, check_each, each_case

SHORT, LONG = ("short", "a"), ("long", "aa")


def has_one_letter(text: str) -> None:
    assert len(text) == 1


def message_of(*cases: tuple[str, str], different: dict[str, str] | None = None) -> str:
    with pytest.raises(pytest.fail.Exception) as failed:
        check_each(cases, has_one_letter, different)
    return str(failed.value)


def test_each_case_that_fails_is_named_with_its_error() -> None:
    message = message_of(SHORT, LONG, ("empty", ""))

    assert message.startswith("2 of 3 cases:\n\nlong\n    AssertionError: assert 2 == 1\n")
    assert "\nempty\n    AssertionError: assert 0 == 1\n" in message


def test_a_case_that_must_be_different_fails_where_it_is_not() -> None:
    check_each([SHORT, LONG], has_one_letter, {"long": "two letters"})

    assert message_of(SHORT, different={"short": "a reason"}).endswith(
        "short\n    is not different, in spite of: a reason"
    )


def test_a_chosen_case_runs_alone_and_raises_its_own_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CASE_VARIABLE, "lo")

    with pytest.raises(AssertionError, match="assert 2 == 1"):
        check_each([("empty", ""), LONG], has_one_letter)
    with pytest.raises(pytest.skip.Exception, match="no case has 'lo' in its name"):
        check_each([SHORT], has_one_letter)


@pytest.fixture
def limit() -> int:
    return 3


SEEN: list[tuple[str, int]] = []


@each_case(["a", "bb"])
def test_a_test_of_many_cases_gets_its_fixtures(text: str, limit: int) -> None:
    SEEN.append((text, limit))

    assert [("a", 3), ("bb", 3)][: len(SEEN)] == SEEN


@each_case([1, 2])
@settings(max_examples=5)
@given(added=st.integers(0, 9))
def test_a_property_is_drawn_for_each_case(number: int, added: int) -> None:
    assert number + added >= number
