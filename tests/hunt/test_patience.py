"""Trials that hung get more time once, and are then judged by what they do."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from fauxka.testing import Broker, hunt
from fauxka.testing.hunting import learning, patience
from fauxka.testing.hunting.judgement import Judgement, Outcome
from fauxka.testing.hunting.patience import PATIENT_SECONDS, first_hung, told_apart
from fauxka.testing.hunting.plan import Fault, Target, Trial, faults_of
from fauxka.testing.hunting.result import Tried

from .programs import idempotent

FAULTS: list[Fault] = list(faults_of("Produce"))[:3]
TARGETS = [Target((("api", "Produce"), ("topic", "orders")), ordinal, 2) for ordinal in range(2)]
HUNG, HELD = Judgement(Outcome.HUNG), Judgement(Outcome.HELD)
BROKEN = Judgement(Outcome.BROKEN, ("x",), frozenset({"missing"}))


def test_one_trial_of_each_fault_runs_again_and_tells_what_the_others_are() -> None:
    slow, broken, hung = FAULTS
    tried = [Tried(Trial([(fault, target)]), HUNG, 10) for fault in FAULTS for target in TARGETS]
    tried.append(Tried(Trial([(slow, TARGETS[0])]), HELD, 10))
    still_hung = replace(HUNG, reasons=("did not end within 330 s",))
    later = {slow.name: HELD, broken.name: BROKEN, hung.name: still_hung}
    asked: list[tuple[str, float]] = []

    def attempt(trial: Trial, seconds: float) -> Judgement:
        asked.append((str(trial), seconds))
        return later[trial.faults[0][0].name]

    with ThreadPoolExecutor() as pool:
        judged = told_apart(tried, first_hung(tried), attempt, pool)

    assert sorted(asked) == sorted((f"{fault.name}: {TARGETS[0]}", PATIENT_SECONDS) for fault in FAULTS)
    assert [(each.judgement.outcome.value, each.timeout_seconds) for each in judged] == [
        *(("slow", 10), ("slow", 10)),
        *(("broken", PATIENT_SECONDS), ("slow", 10)),
        *(("hung", 10), ("hung", 10)),
        ("held", 10),
    ]
    assert [each.judgement for each in judged if each.judgement.outcome is Outcome.HUNG] == [still_hung, HUNG]


def test_one_request_without_a_response_stands_for_all_at_its_api() -> None:
    names = ("no response", "dropped request", "hanging request", "dropped response", "changed correlation id")
    faults = [fault for fault in faults_of("Produce") if fault.name in names]
    fetch = replace(TARGETS[0], match=(("api", "Fetch"),))
    tried = [Tried(Trial([(fault, target)]), HUNG, 10) for target in (TARGETS[0], fetch) for fault in faults]

    assert len(faults) == len(names)
    assert [each.trial for each in first_hung(tried)] == [tried[0].trial, tried[len(names)].trial]


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
