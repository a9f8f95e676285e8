"""The Dockerfile, as far as it can be checked without building the image."""

import re
from pathlib import Path

import pytest

from fauxka.broker.config.config_sources import gather_config

DOCKERFILE = Path(__file__).resolve().parents[2] / "Dockerfile"


def image_environment() -> dict[str, str]:
    """Return the variables of the last stage."""
    stage = DOCKERFILE.read_text().rpartition("\nFROM ")[2]
    [instruction] = re.findall(r"^ENV ((?:.*\\\n)*.*)$", stage, re.MULTILINE)
    return dict(pair.split("=", 1) for pair in str(instruction).replace("\\\n", " ").split())


@pytest.mark.parametrize(
    ("variables", "assignments", "delay_ms"),
    [
        ({}, (), 0),
        ({"KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS": "3000"}, (), 3000),
        ({}, ("group.initial.rebalance.delay.ms=3000",), 3000),
    ],
    ids=["default", "environment", "command line"],
)
def test_groups_start_at_once_in_a_container_unless_the_key_is_given(
    variables: dict[str, str], assignments: tuple[str, ...], delay_ms: int
) -> None:
    gathered = gather_config({}, {**image_environment(), **variables}, assignments)

    assert gathered.config.group_initial_rebalance_delay_ms == delay_ms
    assert gathered.notes == []
