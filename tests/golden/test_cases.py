"""Every captured case put to a started fauxka: all fields have to be equal, but for the cases that not_yet lists."""

import pytest

from fauxka.testing import Broker

from ..each_case import check_each
from .case_recorder import Case
from .not_yet import ALL, reason_for
from .programs import PROGRAMS
from .replay import load_cases, run_what_can_be

CAPTURED = load_cases()


def answers_of(program: str) -> dict[str, Case]:
    """What one fauxka answered to one run of the program, by case."""
    with Broker() as broker:
        return {str(case["case"]): case for case in run_what_can_be(program, broker.bootstrap_servers)}


@pytest.mark.parametrize("program", PROGRAMS)
def test_fauxka_answers_as_kafka_did(program: str) -> None:
    captured = {str(case["case"]): case for case in CAPTURED if case["program"] == program}
    different = {name: reason for name in captured if (reason := reason_for(program, name)) is not None}
    answers = answers_of(program)

    def check(name: str) -> None:
        assert answers.get(name) == captured[name]

    check_each([(name, name) for name in captured], check, different)


def test_every_program_has_its_captured_cases() -> None:
    assert {str(case["program"]) for case in CAPTURED} == set(PROGRAMS)


def test_every_name_in_not_yet_is_that_of_a_captured_case() -> None:
    captured = {(str(case["program"]), str(case["case"]).split(" ")[0]) for case in CAPTURED}

    listed = {(entry.program, name) for entry in ALL for name in entry.names.split()}

    assert listed - captured == set()
