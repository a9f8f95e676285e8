"""Trials that hung get more time once, and are then judged by what they do."""

import threading
import time
from dataclasses import replace

import pytest

from fauxka.testing import Broker, hunt, report_text
from fauxka.testing.hunting import learning, patience
from fauxka.testing.hunting.finding import Tried
from fauxka.testing.hunting.judgement import Damage, Judgement, Outcome
from fauxka.testing.hunting.patience import PATIENT_SECONDS, kind_of_wait, slow, told_apart, unfinished
from fauxka.testing.hunting.plan import Fault, Target, Trial, faults_of

from .programs import has_met_a_fault, idempotent, timeout_of_a_run

FAULTS: list[Fault] = list(faults_of("Produce"))[:3]
TARGETS = [Target((("api", "Produce"), ("topic", "orders")), ordinal, 2) for ordinal in range(2)]
HUNG, HELD = Judgement(Outcome.HUNG), Judgement(Outcome.HELD)
BROKEN = Judgement(Outcome.BROKEN, ("x",), [Damage("missing", "x", ())])


def test_the_one_with_more_time_tells_what_the_others_of_its_kind_are() -> None:
    still_hung = replace(HUNG, reasons=("did not end within 330 s",))
    later = zip(FAULTS, (HELD, BROKEN, still_hung), strict=True)
    tried = [
        each
        for fault, judgement in later
        for each in (
            Tried(Trial([(fault, TARGETS[0])]), slow(judgement), PATIENT_SECONDS),
            Tried(Trial([(fault, TARGETS[1])]), HUNG, 10),
        )
    ]

    judged = told_apart(tried)

    assert [each.judgement.outcome.value for each in judged] == ["slow", "slow", "broken", "slow", "hung", "hung"]
    assert judged[4].judgement == still_hung


def test_what_the_budget_ends_before_it_is_known_to_hang_is_no_finding() -> None:
    cut = unfinished(HUNG, 20)
    patient, other = (Trial([(FAULTS[0], target)]) for target in TARGETS)

    judged = told_apart([Tried(patient, cut, PATIENT_SECONDS), Tried(other, HUNG, 10)])

    assert [each.judgement for each in judged] == [cut, cut]
    assert not cut.is_finding


@pytest.mark.parametrize("kind", ["missing", "skipped", "not processed", "state"])
def test_what_is_missing_when_the_budget_ends_a_run_may_come(kind: str) -> None:
    cut = Judgement(Outcome.BROKEN, ("x",), [Damage(kind, "x", ())])

    assert unfinished(cut, 20).outcome is Outcome.UNFINISHED


@pytest.mark.parametrize("kind", ["too many", "reordered", "processed twice", "moved back"])
def test_what_is_there_when_the_budget_ends_a_run_stays(kind: str) -> None:
    cut = Judgement(Outcome.BROKEN, ("x",), [Damage(kind, "x", ())])

    assert unfinished(cut, 20) == cut


def test_one_request_without_a_response_stands_for_all_at_its_api() -> None:
    names = ("no response", "dropped request", "hanging request", "dropped response", "changed correlation id")
    faults = [fault for fault in faults_of("Produce") if fault.name in names]
    fetch = replace(TARGETS[0], match=(("api", "Fetch"),))

    kinds = {kind_of_wait(Trial([(fault, target)])) for target in (TARGETS[0], fetch) for fault in faults}

    assert len(faults) == len(names)
    assert len(kinds) == 2


def test_a_program_that_waits_longer_than_others_is_slow_and_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "TIMEOUT_SECONDS_MIN", 0.5)
    monkeypatch.setattr(learning, "TIMEOUT_FACTOR", 1)
    monkeypatch.setattr(patience, "PATIENT_SECONDS", 20)
    starts: list[float] = []

    def waiting(broker: Broker) -> None:
        idempotent(broker)
        starts.append(time.monotonic())
        if len(starts) > learning.LEARNING_RUNS:
            time.sleep(1.5)

    result = hunt(waiting, topics=["orders"], budget=1)

    assert [each.judgement.outcome for each in result.tried] == [Outcome.SLOW]
    assert not result.findings


def test_what_hangs_once_and_ends_in_all_other_runs_is_no_finding() -> None:
    ended, hung = threading.Event(), threading.Event()

    def wait_once(broker: Broker) -> None:
        idempotent(broker)
        if has_met_a_fault(broker) and not hung.is_set():
            hung.set()
            ended.wait(PATIENT_SECONDS)

    result = hunt(wait_once, topics=["orders"], budget=1, timeout_seconds=timeout_of_a_run())
    ended.set()

    assert [each.judgement.outcome for each in result.tried] == [Outcome.UNFINISHED]
    assert not result.findings
    assert "and ended in 3 more runs" in report_text(result)
