"""Every captured case put to a started fauxka: all fields have to be equal, but for the cases that not_yet lists."""

from functools import cache

import pytest

from fauxka.testing import Broker

from .case_recorder import Case
from .not_yet import ALL, reason_for
from .programs import PROGRAMS
from .replay import load_cases, run_what_can_be

CAPTURED = load_cases()


@cache
def answers_of(program: str) -> dict[str, Case]:
    """What one fauxka answered to one run of the program, by case."""
    with Broker() as broker:
        host, port = broker.bootstrap_servers.rsplit(":", 1)
        return {str(case["case"]): case for case in run_what_can_be(program, host, int(port))}


def as_parameter(case: Case) -> object:
    program, name = str(case["program"]), str(case["case"])
    reason = reason_for(program, name)
    marks = [pytest.mark.xfail(strict=True, reason=reason)] if reason else []
    return pytest.param(program, name, case, id=f"{program.removeprefix('exp_')}: {name}", marks=marks)


@pytest.mark.parametrize(("program", "name", "captured"), [as_parameter(case) for case in CAPTURED])
def test_fauxka_answers_as_kafka_did(program: str, name: str, captured: Case) -> None:
    answer = answers_of(program).get(name)

    assert answer == captured


def test_every_program_has_its_captured_cases() -> None:
    assert {str(case["program"]) for case in CAPTURED} == set(PROGRAMS)


def test_every_name_in_not_yet_is_that_of_a_captured_case() -> None:
    captured = {(str(case["program"]), str(case["case"]).split(" ")[0]) for case in CAPTURED}

    listed = {(entry.program, name) for entry in ALL for name in entry.names.split()}

    assert listed - captured == set()
