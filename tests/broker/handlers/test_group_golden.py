"""What real Kafka answered to the group APIs, asked of fauxka again: every field of every answer is the same."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator

import pytest

from fauxka.testing import Broker

from ...golden.capture_groups import GOLDEN, GROUP_CONFIG, capture

Line = dict[str, object]

GOLDEN_LINES: list[Line] = [json.loads(line) for line in GOLDEN.read_text().splitlines()]

READY_AT_ONCE = (
    "Kafka creates a coordinator's topic when it is first asked for it, and answers COORDINATOR_NOT_AVAILABLE until "
    "it is there; ours is there at once, and no client has to retry"
)
DIFFERENCES = {
    "first coordinator: of groups": READY_AT_ONCE,
    "first coordinator: of transactions": READY_AT_ONCE,
}


@pytest.fixture(scope="module")
def lines() -> Iterator[list[Line]]:
    """The lines of the same program, run against fauxka."""
    output = io.StringIO()
    with Broker(GROUP_CONFIG) as broker:
        capture(broker.bootstrap_servers, output)
    yield [json.loads(line) for line in output.getvalue().splitlines()]


def _names() -> list[str]:
    return [f"{line['case']} v{line['version']}" for line in GOLDEN_LINES]


def test_the_program_asks_the_same_questions(lines: list[Line]) -> None:
    asked = [{**line, "answer": None} for line in lines]

    assert asked == [{**line, "answer": None} for line in GOLDEN_LINES]


@pytest.mark.parametrize("number", range(len(GOLDEN_LINES)), ids=_names())
def test_the_answer_is_kafkas(lines: list[Line], number: int) -> None:
    expected = GOLDEN_LINES[number]
    is_different = str(expected["case"]) in DIFFERENCES

    assert (lines[number]["answer"] == expected["answer"]) is not is_different, lines[number]["answer"]


def test_every_listed_difference_is_a_case() -> None:
    assert {str(line["case"]) for line in GOLDEN_LINES} >= DIFFERENCES.keys()
