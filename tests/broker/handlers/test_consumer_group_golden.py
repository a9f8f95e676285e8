"""Responses and stored records of consumer protocol groups, compared with those of a real Kafka."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator

import pytest

from fauxka.testing import Broker

from ...each_case import each_case
from ...golden.capture_consumer_groups import CONSUMER_GROUP_CONFIG, GOLDEN, capture

Line = dict[str, object]

GOLDEN_LINES: list[Line] = [json.loads(line) for line in GOLDEN.read_text().splitlines()]


@pytest.fixture(scope="module")
def lines() -> Iterator[list[Line]]:
    """The lines of the same program, run against fauxka."""
    output = io.StringIO()
    with Broker(CONSUMER_GROUP_CONFIG) as broker:
        capture(broker.bootstrap_servers, output)
    yield [json.loads(line) for line in output.getvalue().splitlines()]


def test_the_program_sends_the_same_requests(lines: list[Line]) -> None:
    asked = [{**line, "answer": None, "records": None} for line in lines]

    assert asked == [{**line, "answer": None, "records": None} for line in GOLDEN_LINES]


@each_case(range(len(GOLDEN_LINES)), lambda number: f"{number + 1}-{GOLDEN_LINES[number]['case']}")
def test_the_response_is_kafkas(number: int, lines: list[Line]) -> None:
    assert lines[number] == GOLDEN_LINES[number]
