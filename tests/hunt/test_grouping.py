"""One defect is one finding: which trials belong together, over made trials."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from fauxka.testing.hunting.finding import Finding, Tried
from fauxka.testing.hunting.grouping import CANDIDATES_MAX, Groups
from fauxka.testing.hunting.judgement import Damage, Judgement, Outcome
from fauxka.testing.hunting.plan import Fault, Target, Trial, faults_of
from fauxka.testing.hunting.report import details_of

LOST, REFUSED, CRASHED = list(faults_of("Produce"))[:3]
PRODUCE = Target((("api", "Produce"), ("topic", "copies"), ("partition", 0)), 0, 3)
OTHER_PARTITION = replace(PRODUCE, match=(("api", "Produce"), ("topic", "copies"), ("partition", 1)))
OTHER_TOPIC = replace(PRODUCE, match=(("api", "Produce"), ("topic", "bills"), ("partition", 0)))
COMMIT = Target((("api", "OffsetCommit"), ("group_id", "copy")), 0, 3)
HUNG = Judgement(Outcome.HUNG, ("the program did not end within 10 s",))


def broken(kind: str = "missing", event: str = "one coffee") -> Judgement:
    words = f"copies: 1 event ('{event}') {kind}"
    return Judgement(Outcome.BROKEN, (words, "the program ended well"), [Damage(kind, words, [event])], [True])


def tried(*faults: tuple[Fault, Target], judgement: Judgement | None = None) -> Tried:
    return Tried(Trial(list(faults)), judgement or broken(), 10.0)


def grouped(*each: Tried) -> list[list[str]]:
    """Return the trials of each finding, that of the finding first."""
    groups = Groups()
    for trial in each:
        groups.add(trial)
    return [[str(finding.trial), *map(str, finding.others)] for finding in groups.findings]


def test_faults_at_one_place_that_break_the_program_in_the_same_way_are_one_finding() -> None:
    first, second = (LOST, PRODUCE), (REFUSED, OTHER_PARTITION)

    assert len(grouped(tried(first), tried(second, judgement=broken(event="two teas")))) == 1


@pytest.mark.parametrize(
    "other",
    [
        tried((LOST, PRODUCE), judgement=broken("too many")),
        tried((LOST, OTHER_TOPIC), judgement=broken(event="two teas")),
        tried((LOST, COMMIT), judgement=broken(event="two teas")),
        tried((LOST, PRODUCE), judgement=HUNG),
    ],
    ids=["another symptom", "another topic", "another request", "hung"],
)
def test_another_symptom_or_another_place_and_event_is_another_finding(other: Tried) -> None:
    assert len(grouped(tried((REFUSED, PRODUCE)), other)) == 2


def test_the_same_missing_event_after_faults_at_two_places_is_one_finding() -> None:
    assert len(grouped(tried((LOST, PRODUCE)), tried((REFUSED, COMMIT)))) == 1


def test_damage_that_has_an_event_in_common_is_one_finding() -> None:
    both = Damage("missing", "copies: 2 events missing", ["one coffee", "two teas"])
    of_both = replace(broken(), damage=[both])

    assert len(grouped(tried((LOST, PRODUCE)), tried((REFUSED, COMMIT), judgement=of_both))) == 1


def test_a_trial_that_shows_the_same_as_two_findings_makes_them_one() -> None:
    at_produce = tried((LOST, PRODUCE))
    at_commit = tried((LOST, COMMIT), judgement=broken(event="two teas"))
    between = tried((REFUSED, COMMIT))

    assert len(grouped(at_produce, at_commit)) == 2
    assert grouped(at_produce, at_commit, between) == [[str(each.trial) for each in (at_produce, at_commit, between)]]


def test_hangs_are_told_apart_by_their_place() -> None:
    hung = [tried((fault, target), judgement=HUNG) for fault in (LOST, REFUSED) for target in (PRODUCE, COMMIT)]

    assert [len(trials) for trials in grouped(*hung)] == [2, 2]


def found(each: Tried, confirmed: int, runs: int = 3, shrunk_to: Trial | None = None) -> Finding:
    return Finding(shrunk_to or each.trial, each.judgement, each.timeout_seconds, confirmed, runs)


def findings_of(*repeated: tuple[Tried, Finding]) -> Sequence[Finding]:
    groups = Groups()
    for each, finding in repeated:
        groups.add(each)
        groups.add_repeated(each, finding)
    return groups.findings


def test_a_pair_of_which_one_fault_suffices_belongs_to_the_finding_of_that_fault() -> None:
    single = tried((LOST, PRODUCE))
    pair = tried((REFUSED, PRODUCE), (CRASHED, OTHER_TOPIC), judgement=broken(event="two teas"))

    (finding,) = findings_of((single, found(single, 3)), (pair, found(pair, 3, shrunk_to=Trial(pair.trial.faults[:1]))))

    assert finding.trial == single.trial
    assert finding.others == [pair.trial]


def test_a_pair_is_a_finding_if_no_fault_suffices() -> None:
    single = tried((LOST, PRODUCE))
    pair = tried((REFUSED, PRODUCE), (CRASHED, OTHER_TOPIC), judgement=broken("too many"))

    findings = findings_of((single, found(single, 3)), (pair, found(pair, 3)))

    assert [len(finding.trial.faults) for finding in findings] == [1, 2]


def test_a_single_fault_that_is_as_sure_represents_the_finding() -> None:
    pair, single = tried((REFUSED, PRODUCE), (CRASHED, COMMIT)), tried((LOST, PRODUCE))

    (finding,) = findings_of((pair, found(pair, 3)), (single, found(single, 3)))

    assert finding.trial == single.trial


def test_what_was_not_seen_again_comes_last() -> None:
    once = tried((LOST, PRODUCE))
    sometimes = tried((LOST, OTHER_TOPIC), judgement=broken("too many"))
    always = tried((LOST, COMMIT), judgement=HUNG)

    findings = findings_of((once, found(once, 0)), (sometimes, found(sometimes, 1)), (always, found(always, 3)))

    assert [finding.trial for finding in findings] == [always.trial, sometimes.trial, once.trial]
    assert details_of(findings[-1])[-1] == "seen once, and not in 3 more runs"


def test_trials_of_one_defect_are_repeated_until_one_breaks_the_program_each_time() -> None:
    groups = Groups()
    trials = [tried((fault, target)) for fault in (LOST, REFUSED) for target in (PRODUCE, COMMIT)]
    for each in trials:
        groups.add(each)
    repeated: list[Tried] = []
    while (candidate := groups.add(trials[0]).next_to_repeat) is not None:
        repeated.append(candidate)
        groups.add_repeated(candidate, found(candidate, 2))

    assert repeated == trials[:CANDIDATES_MAX]
    groups.add_repeated(trials[3], found(trials[3], 3))
    assert groups.findings[0].trial == trials[3].trial


def test_the_other_faults_are_listed_at_their_apis() -> None:
    faults = [(LOST, PRODUCE), (REFUSED, OTHER_PARTITION), (LOST, OTHER_PARTITION), (CRASHED, COMMIT)]
    pair = tried((REFUSED, PRODUCE), (CRASHED, COMMIT))
    groups = Groups()
    for each in [*(tried(fault) for fault in faults), pair]:
        groups.add(each)

    (finding,) = groups.findings

    assert details_of(finding)[2:] == [
        f"also at Produce: {REFUSED.name}, {LOST.name}",
        f"also at OffsetCommit: {CRASHED.name}",
        f"also at Produce and OffsetCommit: {REFUSED.name} with {CRASHED.name}",
        "not repeated",
    ]
