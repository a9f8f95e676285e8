"""The hunt for functions of this process: small programs with a defect, and their mended twins."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import pytest
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition

from fauxka.testing import Broker, CannotHunt, hunt, report_text
from fauxka.testing.hunting import functions, hunt_program
from fauxka.testing.hunting.confirming import Repeat, Repeated, confirmed, shrunk
from fauxka.testing.hunting.finding import Tried
from fauxka.testing.hunting.judgement import Damage, Judgement, Outcome
from fauxka.testing.hunting.pairs import pairs_of
from fauxka.testing.hunting.plan import Fault, Target, Trial, faults_of, plan_of
from fauxka.testing.hunting.program import Command
from fauxka.testing.hunting.report import details_of
from fauxka.testing.hunting.report_files import json_text, junit_text
from fauxka.testing.hunting.report_html import report_html

from .programs import QUICK, doubling, fill, has_met_a_fault, idempotent, timeout_of_a_run

# Longer than any timeout of a run.
HUNG_SECONDS_MAX = 200


async def doubling_later(broker: Broker) -> None:
    await asyncio.to_thread(doubling, broker)


@pytest.mark.parametrize("program", [doubling, doubling_later])
def test_a_function_that_doubles_an_event_is_found(program: Callable[[Broker], object]) -> None:
    result = hunt(program, topics=["orders"], budget=2, jobs=2)

    (finding,) = result.findings
    assert finding.judgement.reasons[0].endswith("too many")
    assert (finding.confirmed, finding.runs) == (3, 3)
    assert f"1. {finding.trial}\n" in report_text(result)


def test_an_idempotent_function_holds() -> None:
    result = hunt(idempotent, topics=["orders"], budget=4, jobs=2)

    assert not result.findings, report_text(result)
    assert [each.judgement.outcome for each in result.tried] == [Outcome.HELD] * 4
    assert report_text(result).splitlines()[-1].startswith("No finding: the program met a fault in 4 trials, with ")


def test_a_hunt_in_which_no_fault_was_met_states_nothing_about_the_program() -> None:
    result = hunt(idempotent, topics=["orders"], budget=1)
    (tried,) = result.tried
    unmet = replace(tried, judgement=Judgement(Outcome.NOT_MET, hits=[False]))

    lines = report_text(replace(result, tried=[unmet])).splitlines()

    assert lines[-1] == "No finding, and no statement about the program: it met no fault in a run that was judged."


@pytest.mark.hunt
def test_the_same_program_and_seed_have_the_same_plan_and_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    def short_plan(targets: Sequence[Target], nodes: int, late_ms: int) -> list[Trial]:
        return [trial for trial in plan_of(targets, nodes, late_ms) if str(trial).startswith(("lost", "reset"))][:4]

    monkeypatch.setattr(hunt_program, "plan_of", short_plan)
    first, second, other = (hunt(idempotent, topics=["orders"], seed=seed, pairs=3) for seed in (1, 1, 2))

    assert [str(each.trial) for each in first.tried] == [str(each.trial) for each in second.tried]
    assert [str(found.trial) for found in first.findings] == [str(found.trial) for found in second.findings]
    assert len(first.tried) == 7
    assert [str(each.trial) for each in first.tried] != [str(each.trial) for each in other.tried]


def test_an_assertion_of_the_program_or_an_exception_of_the_check_is_a_finding() -> None:
    def with_assertion(broker: Broker) -> None:
        doubling(broker)
        assert len(broker.records("orders")) == 2, "an order is there twice"

    def check(broker: Broker) -> None:
        if len(broker.records("orders")) > 2:
            raise ValueError("an order is there twice")

    by_program = hunt(with_assertion, budget=1)
    by_check = hunt(doubling, check, budget=1)

    assert by_program.findings[0].judgement.reasons[0] == "check: AssertionError: an order is there twice"
    assert by_check.findings[0].judgement.reasons[0] == "check: ValueError: an order is there twice"


def test_a_failure_of_pytest_in_a_check_is_a_finding() -> None:
    def check(broker: Broker) -> None:
        if len(broker.records("orders")) > 2:
            pytest.fail("an order is there twice")

    result = hunt(doubling, check, budget=1)

    assert result.findings[0].judgement.reasons[0] == "check: Failed: an order is there twice"


def test_a_budget_that_is_spent_before_the_first_trial_is_too_small() -> None:
    def slow(broker: Broker) -> None:
        idempotent(broker)
        time.sleep(0.6)

    with pytest.raises(CannotHunt, match="the runs without faults took all of the budget: allow more"):
        hunt(slow, topics=["orders"], budget="1s")


def test_a_check_that_fails_without_a_fault_ends_the_hunt() -> None:
    def check(_: Broker) -> None:
        raise ValueError("nothing is right")

    with pytest.raises(CannotHunt, match="without a fault, the check fails: ValueError: nothing is right"):
        hunt(idempotent, check)


def copy(broker: Broker, *, is_committed_first: bool) -> None:
    """Copy the events from the committed offset on. Raises RuntimeError if one was not written."""
    settings = {"bootstrap.servers": broker.bootstrap_servers, **QUICK}
    place = TopicPartition("orders", 0)
    ours = {"group.id": "copy", "enable.auto.commit": False, "auto.offset.reset": "earliest"}
    with closing(Consumer({**settings, **ours})) as consumer:
        begin = max(0, consumer.committed([place], timeout=20)[0].offset)
        consumer.assign([TopicPartition("orders", 0, begin)])
        for offset in range(begin, 2):
            message = consumer.poll(20)
            assert message is not None
            done = TopicPartition("orders", 0, offset + 1)
            if is_committed_first:
                consumer.commit(offsets=[done], asynchronous=False)
            write_copy(settings, message.value() or b"")
            if not is_committed_first:
                consumer.commit(offsets=[done], asynchronous=False)


def write_copy(settings: Mapping[str, object], event: bytes) -> None:
    failures: list[KafkaError] = []
    producer = Producer({**settings, "retries": 0})
    producer.produce("copies", event, on_delivery=lambda error, _: failures.append(error) if error else None)
    producer.flush()
    if failures:
        raise RuntimeError("a copy was not written")


@pytest.mark.hunt
@pytest.mark.parametrize(
    ("is_committed_first", "kinds"), [(True, [frozenset({"missing"})]), (False, [])], ids=["committed first", "after"]
)
def test_program_that_is_started_again_shows_whether_it_commits_too_early(
    is_committed_first: bool, kinds: list[frozenset[str]]
) -> None:
    result = hunt(
        partial(copy, is_committed_first=is_committed_first),
        topics=["copies"],
        expect="at-least-once",
        restarts=1,
        prepare=fill,
        config={"auto.create.topics.enable": "true"},
        budget=14,
        jobs=2,
    )

    assert [finding.judgement.kinds for finding in result.findings] == kinds, report_text(result)


def test_a_function_that_does_not_end_is_hung_and_the_hunt_goes_on() -> None:
    ended = threading.Event()

    def wait_for_three(broker: Broker) -> None:
        idempotent(broker)
        if has_met_a_fault(broker):
            ended.wait(HUNG_SECONDS_MAX)

    result = hunt(wait_for_three, topics=["orders"], budget=2, jobs=2, timeout_seconds=timeout_of_a_run())
    ended.set()

    assert [each.judgement.outcome for each in result.tried] == [Outcome.HUNG] * 2


def test_what_hangs_is_not_started_again() -> None:
    ended = threading.Event()
    hung: list[Broker] = []

    def wait_once(broker: Broker) -> None:
        idempotent(broker)
        if has_met_a_fault(broker) and broker not in hung:
            hung.append(broker)
            ended.wait(HUNG_SECONDS_MAX)

    result = hunt(wait_once, topics=["orders"], budget=1, timeout_seconds=timeout_of_a_run(), restarts=1)
    ended.set()

    assert [each.judgement.outcome for each in result.tried] == [Outcome.HUNG]


def test_a_function_that_fails_without_a_fault_is_not_started_again() -> None:
    starts: list[Broker] = []

    def fail_first(broker: Broker) -> None:
        starts.append(broker)
        idempotent(broker)
        if len(starts) == 1:
            raise OSError("no orders today")

    with pytest.raises(CannotHunt, match="without a fault, the program raised OSError: no orders today"):
        hunt(fail_first, topics=["orders"], restarts=1)


def test_a_coroutine_that_does_not_end_is_cancelled() -> None:
    cancelled: list[bool] = []

    async def wait_for_ever(broker: Broker) -> None:
        await asyncio.to_thread(idempotent, broker)
        if has_met_a_fault(broker):
            try:
                await asyncio.sleep(1000)
            except asyncio.CancelledError:
                cancelled.append(True)
                raise

    result = hunt(wait_for_ever, topics=["orders"], budget=1, timeout_seconds=timeout_of_a_run())

    assert [each.judgement.outcome for each in result.tried] == [Outcome.HUNG]
    assert len(cancelled) == 4


FAULTS: list[Fault] = list(faults_of("Produce"))[:3]
FIRST, SECOND = (Target((("api", "Produce"), ("topic", name)), 1, 2) for name in ("a", "b"))
HELD, BROKEN = Judgement(Outcome.HELD), Judgement(Outcome.BROKEN, ("x",), [Damage("missing", "x", ())])


def test_a_pair_is_shrunk_to_the_faults_that_are_needed_at_the_first_requests() -> None:
    needed = FAULTS[1]
    trial = Trial([(FAULTS[0], FIRST), (needed, SECOND), (FAULTS[2], FIRST)])

    smallest = shrunk(
        Tried(trial, BROKEN, 1.0),
        lambda smaller, _: BROKEN if any(fault is needed for fault, _ in smaller.faults) else HELD,
    )

    assert [(fault.name, target.ordinal) for fault, target in smallest.faults] == [(needed.name, 0)]


def test_a_fault_is_moved_to_the_earliest_request_that_breaks_the_program() -> None:
    runs: list[int] = []

    def attempt(trial: Trial, _: float) -> Judgement:
        target = trial.faults[0][1]
        runs.append(target.ordinal)
        return BROKEN if target.ordinal >= 37 else HELD

    smallest = shrunk(Tried(Trial([(FAULTS[0], replace(FIRST, ordinal=50, count=100))]), BROKEN, 1.0), attempt)

    assert str(smallest) == f"{FAULTS[0].name}: Produce 38 of 100 to a"
    assert len(runs) <= 6


async def check_later(broker: Broker) -> None:
    await asyncio.sleep(0)
    assert len(broker.records("orders")) == 2


def check_without_end(_: Broker) -> None:
    threading.Event().wait(10)


async def check_later_without_end(_: Broker) -> None:
    await asyncio.sleep(10)


def test_a_coroutine_function_checks_the_result() -> None:
    result = hunt(doubling, check_later, budget=1)

    (finding,) = result.findings
    assert finding.judgement.reasons[0].startswith("check: AssertionError")


@pytest.mark.parametrize("check", [check_without_end, check_later_without_end])
def test_a_check_that_does_not_end_fails(check: Callable[[Broker], object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "CHECK_SECONDS_MAX", 0.3)

    with pytest.raises(CannotHunt, match="the check did not end within"):
        hunt(idempotent, check, budget=1)


def test_a_coroutine_function_prepares_the_broker() -> None:
    async def prepare(broker: Broker) -> None:
        await asyncio.to_thread(fill, broker)
        raise RuntimeError(f"there are {len(broker.records('orders'))} orders")

    with pytest.raises(CannotHunt, match=r"prepare: RuntimeError: there are [1-9][0-9]* orders"):
        hunt(idempotent, topics=["copies"], prepare=prepare, budget=1)


def test_preparing_that_does_not_end_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "CHECK_SECONDS_MAX", 0.3)

    with pytest.raises(CannotHunt, match="prepare: did not end"):
        hunt(idempotent, topics=["orders"], prepare=check_without_end, budget=1)


def repeating(runs: Sequence[Repeated]) -> Repeat:
    def repeat(_trial: Trial, _seconds: float, _count: int, _is_hung: bool) -> Sequence[Repeated]:
        return runs

    return repeat


def test_only_what_breaks_the_program_in_the_same_way_confirms_a_finding() -> None:
    other = Judgement(Outcome.BROKEN, ("y",), [Damage("missing", "y", ()), Damage("reordered", "y", ())])
    doubled = Judgement(Outcome.BROKEN, ("z",), [Damage("too many", "z", ())])
    runs = [Repeated(Judgement(Outcome.HUNG)), Repeated(other, "its timeline"), Repeated(doubled)]
    found = Tried(Trial([(FAULTS[0], replace(FIRST, ordinal=0))]), BROKEN, 1.0)

    finding = confirmed(found, lambda _, __: HELD, repeating(runs), lambda _: False)

    assert (finding.confirmed, finding.runs, finding.judgement) == (1, 3, other)
    assert finding.timeline == "its timeline"


@pytest.mark.parametrize(("is_slow", "ordinal"), [(True, 1), (False, 0)])
def test_a_hang_is_moved_to_an_earlier_request_only_if_it_is_not_slow_there(is_slow: bool, ordinal: int) -> None:
    hung = Judgement(Outcome.HUNG, ("did not end within 10 s",))
    patient = Judgement(Outcome.HUNG, ("did not end within 330 s",))
    found = Tried(Trial([(FAULTS[0], replace(FIRST, ordinal=1, count=2))]), patient, 10)
    asked: list[Trial] = []

    def ends_later(trial: Trial) -> bool:
        asked.append(trial)
        return is_slow

    finding = confirmed(found, lambda _, __: hung, repeating([Repeated(hung)] * 3), ends_later)

    assert [target.ordinal for trial in asked for _, target in trial.faults] == [0]
    assert [target.ordinal for _, target in finding.trial.faults] == [ordinal]
    assert details_of(finding) == ["did not end within 330 s", "in 3 of 3 more runs of 10 s"]


def test_pairs_are_of_faults_that_were_survived_at_different_requests_and_drawn_by_the_seed() -> None:
    singles = [Tried(Trial([(fault, target)]), HELD, 1.0) for fault in FAULTS for target in (FIRST, SECOND)]
    broken = Tried(Trial([(FAULTS[0], replace(FIRST, ordinal=0))]), BROKEN, 1.0)

    pairs = pairs_of([*singles, broken], [], 5, seed=1)

    assert len(pairs) == 5
    assert pairs == pairs_of([*singles, broken], [], 5, seed=1) != pairs_of([*singles, broken], [], 5, seed=2)
    for pair in pairs:
        (_, first), (_, second) = pair.faults
        assert {first, second} == {FIRST, SECOND}
    assert pairs_of(singles[:1], [], 5, seed=1) == []


def test_a_broker_whose_producers_have_expired_is_in_no_pair() -> None:
    expired = next(fault for fault in faults_of("Produce") if fault.name == "producers expired")
    tried = [Tried(Trial([(fault, target)]), HELD, 1.0) for fault, target in ((expired, FIRST), (FAULTS[0], SECOND))]

    assert pairs_of(tried, [], 5, seed=1) == []


def test_results_for_ci_have_each_trial() -> None:
    result = hunt(doubling, topics=["orders"], budget=3, jobs=2)

    found = json.loads(json_text(result))
    (suite,) = ElementTree.fromstring(junit_text(result))

    assert (found["trials"], len(found["tried"]), len(found["findings"])) == (3, 3, 1)
    assert found["coverage"]["tried"] >= 1
    assert suite.attrib["tests"] == "3"
    failures = [case.attrib["name"] for case in suite if case.find("failure") is not None]
    assert failures == [str(each.trial) for each in result.tried if each.judgement.is_finding]


def test_an_expired_producer_is_met_in_the_middle_of_a_program() -> None:
    result = hunt(idempotent, topics=["orders"], only=["producers expired"], jobs=2)

    outcomes = {str(each.trial): each.judgement.outcome for each in result.tried}
    assert outcomes["producers expired: Produce 2 of 2 to orders-0"] in (Outcome.HELD, Outcome.ERROR)
    assert not result.findings, report_text(result)


def test_a_killed_leader_is_survived_by_an_idempotent_program() -> None:
    result = hunt(idempotent, topics=["orders"], nodes=3, only=["node killed", "node shut down"], pairs=0, jobs=2)

    outcomes = {str(each.trial): each.judgement.outcome for each in result.tried}
    assert outcomes["node killed: Produce 2 of 2 to orders-0"] is Outcome.HELD
    assert outcomes["node shut down: Produce 1 of 2 to orders-0"] is Outcome.HELD


def test_page_has_the_outcomes_and_text_from_elsewhere_as_text(tmp_path: Path) -> None:
    result = hunt(doubling, topics=["orders"], budget=3, jobs=2)
    (finding,) = result.findings
    reason = replace(finding.judgement, reasons=("orders: <img src=x> missing",))
    found = replace(finding, judgement=reason, timeline="<p>a timeline</p>")
    odd = replace(result, program=Command(["send", "<b>"]), findings=[found])

    page = report_html(odd, [tmp_path / "1"])

    assert "<code>send &#x27;&lt;b&gt;&#x27;</code>" in page
    assert "<li>orders: &lt;img src=x&gt; missing</li>" in page
    assert '<tr><th>lost acknowledgement</th><td class="broken">broken' in page
    assert "http" not in page
    assert 'srcdoc="&lt;p&gt;a timeline&lt;/p&gt;"' in page
    assert "<details>" not in page
