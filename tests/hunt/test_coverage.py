"""How much of what can be done to requests was tried."""

import pytest

from fauxka.hunt.coverage import Coverage, coverage_of
from fauxka.hunt.judgement import Judgement, Outcome
from fauxka.hunt.plan import ACKNOWLEDGING, LOST_ACK, RANKS, Fault, Target, Trial, faults_of
from fauxka.hunt.result import Tried

USERS = {"EndTxn", "JoinGroup"}


def tried_at(api: str, *faults: Fault) -> list[Tried]:
    target = Target((("api", api),), 0, 1)
    return [Tried(Trial([(fault, target)]), Judgement(Outcome.HELD), 1.0) for fault in faults]


def test_a_response_that_cannot_be_read_is_a_lost_one() -> None:
    # 23 combinations: the actions of received, applied and answering without observe and throttle.
    assert coverage_of(["Produce"], tried_at("Produce", LOST_ACK)) == Coverage(tried=1, equivalent=3, possible=23)


def test_a_trial_covers_its_api_only() -> None:
    assert coverage_of(["Produce", "Metadata"], tried_at("Produce", LOST_ACK)) == Coverage(1, 3, 46)


@pytest.mark.parametrize("api", ACKNOWLEDGING)
def test_a_plan_has_all_that_can_be_done_to_what_acknowledges(api: str) -> None:
    coverage = coverage_of([api], tried_at(api, *faults_of(api, USERS)))

    assert coverage.tried + coverage.equivalent == coverage.possible


@pytest.mark.parametrize("api", RANKS)
def test_a_plan_has_most_of_what_can_be_done_to_each_api(api: str) -> None:
    coverage = coverage_of([api], tried_at(api, *faults_of(api, USERS)))

    assert coverage.possible - coverage.tried - coverage.equivalent <= 4
