"""How much of what can be done to requests was tried."""

from dataclasses import replace

import pytest

from fauxka.faults.rules.rule_checks import ACTIONS_AT
from fauxka.testing.hunting.coverage import Coverage, coverage_of
from fauxka.testing.hunting.finding import Tried
from fauxka.testing.hunting.judgement import Judgement, Outcome
from fauxka.testing.hunting.plan import (
    ACKNOWLEDGING,
    ASKING,
    RANKS,
    Fault,
    Target,
    Trial,
    faults_of,
    nearest_first,
    plan_of,
)

USERS = {"EndTxn", "JoinGroup"}
LOST_ACK = faults_of("Produce")[0]


# The actions of received, applied and answering without those that leave a request as it is, and those of other APIs.
POSSIBLE = sum(
    kind not in ("observe", "throttle", "hold_markers", "corrupt_record")
    for point in ("received", "applied", "answering")
    for kind in ACTIONS_AT[point]
)


def tried_at(api: str, *faults: Fault) -> list[Tried]:
    target = Target((("api", api),), 0, 1)
    return [Tried(Trial([(fault, target)]), Judgement(Outcome.HELD, hits=[True]), 1.0) for fault in faults]


def test_a_response_that_is_cut_off_is_a_lost_one() -> None:
    assert coverage_of(["Produce"], tried_at("Produce", LOST_ACK)) == Coverage(tried=1, equivalent=2, possible=POSSIBLE)


def test_a_trial_covers_its_api_only() -> None:
    # To be delivered twice changes nothing for a request that only asks.
    possible = POSSIBLE + POSSIBLE - 1
    assert coverage_of(["Produce", "Metadata"], tried_at("Produce", LOST_ACK)) == Coverage(1, 2, possible)


def test_a_trial_that_was_not_met_covers_nothing() -> None:
    (tried,) = tried_at("Produce", LOST_ACK)
    unmet = replace(tried, judgement=Judgement(Outcome.NOT_MET, hits=[False]))

    assert coverage_of(["Produce"], [unmet]) == Coverage(0, 0, POSSIBLE)


@pytest.mark.parametrize("api", RANKS)
def test_a_plan_has_most_of_what_can_be_done_to_an_api(api: str) -> None:
    # In no plan: errors of ApiVersions; errors and delays at APIs for which a late or false response is unlikely.
    uncovered = 0 if api in (*ACKNOWLEDGING, *ASKING) and api != "ApiVersions" else 4
    coverage = coverage_of([api], tried_at(api, *faults_of(api, USERS)))

    assert coverage.possible - coverage.tried - coverage.equivalent <= uncovered


def test_lost_acknowledgements_of_what_is_written_and_committed_are_tried_first() -> None:
    targets = [Target((("api", api),), 0, 1) for api in ("Metadata", "JoinGroup", "OffsetCommit", "EndTxn", "Produce")]

    first = [str(trial) for trial in plan_of(targets)[:3]]

    assert first == [f"lost acknowledgement: {api}" for api in ("Produce", "EndTxn", "OffsetCommit")]


def test_requests_that_write_a_judged_topic_are_tried_first_and_then_those_of_their_client() -> None:
    produce, end = ("api", "Produce"), ("api", "EndTxn")
    status = Target((produce, ("client_id", "worker"), ("topic", "status")), 0, 1)
    worker_end = Target((end, ("client_id", "worker")), 0, 1)
    task_end = Target((end, ("client_id", "task")), 0, 1)
    orders = Target((produce, ("client_id", "task"), ("topic", "orders")), 0, 1)

    assert nearest_first([status, worker_end, task_end, orders], ["orders"]) == [orders, task_end, status, worker_end]
