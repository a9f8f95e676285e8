"""Responses and stored records of streams groups, compared with those of real Kafkas."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator

import pytest

from fauxka.testing import Broker

from ...golden.capture_streams_groups import VERSIONS, capture, golden_of
from ...golden.line_comparison import check_lines, lines_of

NO_TIME = "Kafka 4.2 does not write the time of an assignment; no assignment waits for it"
# Cases that differ on purpose, by version and name, each with the reason.
DIFFERENT: dict[str, dict[str, str]] = {
    "4.2.0": {
        "failed: a gets the reason of st-far-changelog": "the text is that of Kafka 4.3 in every release",
        "late: is kept": NO_TIME,
        "life: is deleted": NO_TIME,
        "life: is kept": NO_TIME,
        "life: is kept without members": NO_TIME,
        "missing: is kept": NO_TIME,
        "protocols: a consumer group": "a new consumer group is in epoch 1 before Kafka 4.3",
        "protocols: is kept": NO_TIME,
        "tags: is kept": NO_TIME,
        "threads: is kept": NO_TIME,
        "two: is kept with two": NO_TIME,
    }
}


@pytest.fixture(scope="module")
def answered() -> Iterator[dict[str, list[str]]]:
    """The lines of the same program, run against fauxka, by version of Kafka."""
    found: dict[str, list[str]] = {}
    for version, asked in VERSIONS.items():
        output = io.StringIO()
        with Broker(asked.config, as_version=version.removesuffix(".0")) as broker:
            capture(broker.bootstrap_servers, output, version, broker.clock.advance)
        found[version] = lines_of(output.getvalue())
    yield found


def captured(version: str) -> list[str]:
    """Return the lines of a real Kafka."""
    return lines_of(golden_of(version).read_text())


def sent(lines: list[str]) -> list[dict[str, object]]:
    """Return the lines without what was returned or stored."""
    return [{**json.loads(line), "answer": None, "records": None} for line in lines]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_program_sends_the_same_requests(version: str, answered: dict[str, list[str]]) -> None:
    assert sent(answered[version]) == sent(captured(version))


@pytest.mark.parametrize("version", VERSIONS)
def test_the_response_is_kafkas(version: str, answered: dict[str, list[str]]) -> None:
    check_lines(answered[version], captured(version), DIFFERENT.get(version))
