"""What a hunt tries first, what it leaves out, and when it ends."""

import itertools
import threading
import time
from collections.abc import Sequence

import pytest

from fauxka.faults.hunted_faults import Origin
from fauxka.testing import Broker, CannotHunt, hunt, report_text
from fauxka.testing.hunting import learning, patience, progress_line
from fauxka.testing.hunting.arguments import How, options_of
from fauxka.testing.hunting.budget import Budget
from fauxka.testing.hunting.errors import BadHuntOption
from fauxka.testing.hunting.fault_choice import choice_of
from fauxka.testing.hunting.functions import Function
from fauxka.testing.hunting.judgement import Outcome
from fauxka.testing.hunting.learning import learn
from fauxka.testing.hunting.plan import ASKING, RANKS, Fault, faults_of, plan_of
from fauxka.testing.hunting.progress import Confirming
from fauxka.testing.hunting.progress_line import ProgressLine

from .programs import doubling, has_met_a_fault, idempotent, send

FIRST_OF_TWO = "Produce 1 of 2 to orders-0"


def tried_names(include: Sequence[str] = (), only: Sequence[str] = (), skip: Sequence[str] = ()) -> set[str]:
    choice = choice_of(include, only, skip)
    return {fault.name for api in RANKS for fault in faults_of(api, set(RANKS), 2) if choice.has(fault)}


def names_of(faults: Sequence[Fault], origin: Origin) -> set[str]:
    return {fault.name for fault in faults if fault.origin is origin}


def test_every_kind_of_fault_is_tried_before_one_is_tried_at_a_second_request_of_an_api() -> None:
    kinds = planned_kinds()
    first_again = next(index for index, kind in enumerate(kinds) if kind in kinds[:index])

    assert {name for name, _ in kinds[:first_again]} == {name for name, _ in kinds}


def test_faults_at_other_requests_that_acknowledge_come_before_those_at_apis_that_only_ask() -> None:
    kinds = planned_kinds()
    of_produce = [index for index, (_, api) in enumerate(kinds) if api == "Produce"]

    before = {name for name, api in kinds[: max(of_produce)] if api in ASKING}

    assert not before & {kinds[index][0] for index in of_produce}


def planned_kinds() -> list[tuple[str, str]]:
    """Return the names of the faults with their APIs, in the order of the plan."""
    _, targets, _ = learn(Function(idempotent), options_of(How(topics=["orders"]), None, Budget()).setting)
    return [(fault.name, target.api) for trial in plan_of(targets) for fault, target in trial.faults]


def test_faults_that_no_broker_of_kafka_causes_are_tried_on_request_or_by_name() -> None:
    faults = [fault for api in RANKS for fault in faults_of(api, set(RANKS), 2)]
    of_proxies = {"dropped request", "delivered twice"}

    assert names_of(faults, Origin.PROXY) == of_proxies
    assert not tried_names() & of_proxies
    assert tried_names(["proxy"]) == tried_names() | of_proxies
    assert {"OUT_OF_ORDER_SEQUENCE_NUMBER", "changed correlation id"} <= tried_names(["defective"])
    assert tried_names(only=["delivered twice"]) == {"delivered twice"}
    assert tried_names(skip=["lost request"]) == tried_names() - {"lost request"}


def test_a_commit_gets_no_rebalance_that_its_member_is_not_in() -> None:
    apis = ("OffsetCommit", "TxnOffsetCommit", "Heartbeat", "SyncGroup")
    origins = {
        api: fault.origin
        for api in apis
        for fault in faults_of(api, set(RANKS))
        if fault.name == "REBALANCE_IN_PROGRESS"
    }

    assert {origins.pop(api, Origin.DEFECTIVE) for api in apis[:2]} == {Origin.DEFECTIVE}
    assert set(origins.values()) == {Origin.KAFKA}


def test_an_unknown_fault_or_origin_is_refused_with_what_is_allowed() -> None:
    with pytest.raises(BadHuntOption, match=r"^skip: 'lost_request' is no fault; .*; did you mean lost request[?]$"):
        hunt(idempotent, topics=["orders"], skip=["lost_request"])
    with pytest.raises(BadHuntOption, match=r"^include: 'tcp' is no origin of faults; allowed: proxy, defective$"):
        hunt(idempotent, topics=["orders"], include=["tcp"])
    with pytest.raises(BadHuntOption, match=r"^only: 'a' is a text; allowed: a list of names of faults$"):
        hunt(idempotent, topics=["orders"], only="a")


def test_a_request_without_a_response_meets_no_fault_of_responses() -> None:
    def without_responses(broker: Broker) -> None:
        send(broker, [b"a"], acks=0)

    _, targets, _ = learn(Function(without_responses), options_of(How(topics=["orders"]), None, Budget()).setting)
    names = {fault.name for trial in plan_of(targets) for fault, target in trial.faults if target.api == "Produce"}

    assert {"lost acknowledgement", "lost request", "crash before it was applied"} <= names
    assert not names & {"delivered twice", "response cut short", "NOT_LEADER_OR_FOLLOWER"}


def test_a_hunt_can_end_with_the_first_finding_that_is_confirmed() -> None:
    result = hunt(doubling, topics=["orders"], first=True, only=["lost acknowledgement", "reset after it was applied"])

    (finding,) = result.findings
    assert (str(finding.trial), finding.confirmed) == (f"lost acknowledgement: {FIRST_OF_TWO}", 3)
    assert len(result.tried) == 1 < result.planned


def wait_after_a_fault(broker: Broker) -> None:
    idempotent(broker)
    if has_met_a_fault(broker):
        threading.Event().wait(60)


def test_a_budget_is_kept_when_the_program_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    # On a busy machine a run meets its fault late.
    monkeypatch.setattr(learning, "TIMEOUT_SECONDS_MIN", 2.0)
    monkeypatch.setattr(learning, "TIMEOUT_FACTOR", 1)

    result = hunt(wait_after_a_fault, topics=["orders"], budget="8s")

    assert result.seconds <= 8 * 1.1
    assert {each.judgement.outcome for each in result.tried} == {Outcome.UNFINISHED}
    # The first one goes on while others are tried.
    assert len(result.tried) > 1
    assert not result.findings
    assert "a greater budget, or a timeout, tells whether the program hangs" in report_text(result)


def test_a_hunt_whose_budget_ends_before_a_fault_is_met_says_so() -> None:
    starts = itertools.count()

    def program(broker: Broker) -> None:
        if next(starts) >= learning.LEARNING_RUNS:
            threading.Event().wait(60)
        idempotent(broker)

    spent = r"^the budget was spent before the program met a fault: allow more; a run .* s$"
    with pytest.raises(CannotHunt, match=spent):
        hunt(program, topics=["orders"], budget="8s")


def test_a_hang_is_a_finding_when_the_program_had_all_the_time_that_clients_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(learning, "TIMEOUT_SECONDS_MIN", 0.5)
    monkeypatch.setattr(learning, "TIMEOUT_FACTOR", 1)
    monkeypatch.setattr(patience, "PATIENT_SECONDS", 3)
    begin = time.monotonic()

    result = hunt(wait_after_a_fault, topics=["orders"], budget=1, only=["lost request"])

    assert [each.judgement.outcome for each in result.tried] == [Outcome.HUNG]
    (finding,) = result.findings
    assert (finding.confirmed, finding.runs) == (3, 3)
    # The three runs that confirm it wait at the same time.
    assert time.monotonic() - begin < 30


def test_a_pipe_gets_a_line_of_progress_from_time_to_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress_line, "_PIPE_SECONDS", 0.05)
    line = ProgressLine()

    with line.shown():
        line.show(Confirming("lost request: Produce"))
        time.sleep(0.5)

    assert capsys.readouterr().err.startswith("repeating lost request: Produce\n")
