"""Other releases of Kafka: every captured case put to a fauxka that follows the release.

A case that differs on purpose, or not yet, is in releases/known.py with its reason.
"""

import pytest

from ..each_case import check_each
from .releases.known import broker_like, reason_for
from .releases.release_captures import ReleaseCapture, by_key, key_of, load_captures
from .releases.release_recorder import run_programs

CAPTURES = load_captures()
# Each changed much against the one before it. The others run in the group `deep`.
IN_EVERY_RUN = ("2.1.1", "2.8.2", "3.9.1", "4.0.0", "4.4.0")
# fauxka reaches a state before it responds. Only a group that cannot go on, as in Kafka, waits that long.
PATIENCE_SECONDS = 5.0


def answers_of(capture: ReleaseCapture) -> dict[str, object]:
    """What a fauxka that follows the release answered, by program and case."""
    with broker_like(capture.release) as broker:
        return dict(by_key(run_programs(broker.bootstrap_servers, capture.ranges, patience_seconds=PATIENCE_SECONDS)))


@pytest.mark.parametrize(
    "version",
    [pytest.param(version, marks=() if version in IN_EVERY_RUN else pytest.mark.deep) for version in CAPTURES],
)
def test_fauxka_answers_as_the_release_did(version: str) -> None:
    capture = CAPTURES[version]
    compared = {
        key: case
        for key, case in capture.cases.items()
        if reason_for(str(case["program"]), str(case["case"]), capture.release) is None
    }
    answers = answers_of(capture)

    def check(key: str) -> None:
        assert answers.get(key) == compared[key]

    check_each([(key, key) for key in compared], check)
    assert set(answers) <= set(capture.cases)


def test_keys_of_cases_are_unique() -> None:
    for capture in CAPTURES.values():
        assert len({key_of(case) for case in capture.cases.values()}) == len(capture.cases)
