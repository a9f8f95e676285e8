"""Responses and stored records of streams groups, compared with those of real Kafkas."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator

import pytest

from fauxka.testing import Broker

from ...each_case import each_case
from ...golden.capture_streams_groups import STREAMS_GROUP_CONFIG, VERSIONS, capture, golden_of

Line = dict[str, object]

GOLDEN_LINES: dict[str, list[Line]] = {
    version: [json.loads(line) for line in golden_of(version).read_text().splitlines()] for version in VERSIONS
}
CASES = [(version, number) for version, lines in GOLDEN_LINES.items() for number in range(len(lines))]


@pytest.fixture(scope="module")
def lines() -> Iterator[dict[str, list[Line]]]:
    """The lines of the same program, run against fauxka, by version of Kafka."""
    found: dict[str, list[Line]] = {}
    for version in VERSIONS:
        output = io.StringIO()
        with Broker(STREAMS_GROUP_CONFIG, as_version=version.removesuffix(".0")) as broker:
            capture(broker.bootstrap_servers, output, version, broker.clock.advance)
        found[version] = [json.loads(line) for line in output.getvalue().splitlines()]
    yield found


@pytest.mark.parametrize("version", VERSIONS)
def test_the_program_sends_the_same_requests(version: str, lines: dict[str, list[Line]]) -> None:
    asked = [{**line, "answer": None, "records": None} for line in lines[version]]

    assert asked == [{**line, "answer": None, "records": None} for line in GOLDEN_LINES[version]]


@each_case(CASES, lambda case: f"{case[0]}-{case[1] + 1}-{GOLDEN_LINES[case[0]][case[1]]['case']}")
def test_the_response_is_kafkas(case: tuple[str, int], lines: dict[str, list[Line]]) -> None:
    version, number = case

    assert lines[version][number] == GOLDEN_LINES[version][number]
