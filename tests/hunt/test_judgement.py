"""Judgement of what a run has left, against the run without faults."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest

from fauxka.faults.consumption.group_verdict import GroupFinding, GroupPartition, GroupVerdict
from fauxka.testing.hunting.judgement import Judgement, Outcome, judge, with_order_of_both
from fauxka.testing.hunting.program import Ending
from fauxka.testing.hunting.promise import Promise
from fauxka.testing.hunting.run import Content, Run

KEY = (0, b"key")
OTHER_KEY = (0, None)


def run_of(events: Sequence[bytes], others: Sequence[bytes] = ()) -> Run:
    content = Content(Counter([*events, *others]), {KEY: events, OTHER_KEY: others})
    return Run(Ending(0, 1.0), {"orders": content}, {}, [], [])


def judged(events: Sequence[bytes], wanted: Sequence[bytes], promise: Promise = Promise.EXACTLY_ONCE) -> Judgement:
    return judge(run_of(events), run_of(wanted), promise)


def test_events_of_a_key_in_another_order_break_exactly_once() -> None:
    judgement = judged([b"b", b"a", b"c"], [b"a", b"b", b"c"])

    assert judgement.kinds == {"reordered"}
    assert judgement.reasons[0] == "orders: 1 event ('a') out of order"


@pytest.mark.parametrize("promise", [Promise.AT_LEAST_ONCE, Promise.AT_MOST_ONCE])
def test_other_promises_have_no_order(promise: Promise) -> None:
    assert judged([b"b", b"a"], [b"a", b"b"], promise).outcome is Outcome.HELD


@pytest.mark.parametrize("events", [[b"a", b"a", b"b"], [b"a", b"b", b"a"]])
def test_an_event_that_is_there_again_is_too_many_and_not_out_of_order(events: Sequence[bytes]) -> None:
    assert judged(events, [b"a", b"b"]).kinds == {"too many"}


def test_an_event_that_is_there_twice_without_faults_has_no_place() -> None:
    assert judged([b"b", b"a", b"a"], [b"a", b"b", b"a"]).outcome is Outcome.HELD


def test_events_of_two_keys_have_no_order() -> None:
    first, second = run_of([b"a"], [b"b"]), run_of([b"a"], [b"b"])

    assert judge(second, first, Promise.EXACTLY_ONCE).outcome is Outcome.HELD


def test_a_lost_batch_whose_events_were_sent_again_breaks_nothing() -> None:
    faultless = run_of([b"a", b"b"])
    sent_again, missing = (
        replace(run, topics={"orders": replace(run.topics["orders"], lost=1)})
        for run in (run_of([b"b", b"a"]), run_of([b"b"]))
    )

    assert judge(sent_again, faultless, Promise.AT_LEAST_ONCE).outcome is Outcome.HELD
    reason = judge(missing, faultless, Promise.AT_LEAST_ONCE).reasons[0]
    assert reason == "orders: 1 event ('a') missing; acknowledged batches that were lost: 1"


def test_an_order_that_differs_without_faults_is_not_compared() -> None:
    faultless = with_order_of_both(run_of([b"a", b"b"], [b"c", b"d"]), run_of([b"b", b"a"], [b"c", b"d"]))

    assert judge(run_of([b"b", b"a"], [b"c", b"d"]), faultless, Promise.EXACTLY_ONCE).outcome is Outcome.HELD
    assert judge(run_of([b"a", b"b"], [b"d", b"c"]), faultless, Promise.EXACTLY_ONCE).kinds == {"reordered"}


@pytest.mark.parametrize(
    ("wanted", "committed", "outcome"),
    [
        (3, 2, Outcome.BROKEN),  # The second event is missing, and the next start begins with the third.
        (3, 1, Outcome.ERROR),
        (6, 2, Outcome.ERROR),  # A program that does not write one event for each record may have written all of these.
        (6, 6, Outcome.BROKEN),
    ],
)
def test_a_failed_program_that_has_committed_the_offset_of_a_missing_event_has_lost_it(
    wanted: int, committed: int, outcome: Outcome
) -> None:
    part = ("copy", "orders", 0)
    faultless = replace(run_of([b"a", b"b", b"c"]), committed={part: wanted})
    failed = replace(run_of([b"a"]), committed={part: committed}, ending=Ending(1, 1.0))

    for promise in (Promise.EXACTLY_ONCE, Promise.AT_LEAST_ONCE):
        assert judge(failed, faultless, promise).outcome is outcome
    assert judge(failed, faultless, Promise.AT_MOST_ONCE).outcome is Outcome.ERROR


def test_at_most_once_allows_a_missing_event_and_none_twice() -> None:
    assert judged([b"a"], [b"a", b"b"], Promise.AT_MOST_ONCE).outcome is Outcome.HELD
    assert judged([b"a", b"b", b"b"], [b"a", b"b"], Promise.AT_MOST_ONCE).kinds == {"too many"}


@pytest.mark.parametrize(
    ("events", "is_in_order"),
    [
        ([b"a", b"b", b"a", b"b", b"c"], True),  # The program began again, and has repeated all that follows.
        ([b"a", b"a", b"b", b"c"], True),
        ([b"a", b"c", b"b", b"c"], False),
        ([b"a", b"b", b"c", b"a"], False),  # A reader has an old event as the newest one.
    ],
)
def test_repeated_events_are_in_order_if_all_that_follows_is_repeated(
    events: Sequence[bytes], *, is_in_order: bool
) -> None:
    judgement = judged(events, [b"a", b"b", b"c"], Promise.AT_LEAST_ONCE_IN_ORDER)

    assert judgement.kinds == (frozenset() if is_in_order else {"reordered"})
    assert judged(events, [b"a", b"b", b"c"], Promise.AT_LEAST_ONCE).outcome is Outcome.HELD


def test_a_program_that_has_failed_may_have_repeated_a_part() -> None:
    failed = replace(run_of([b"a", b"b", b"a"]), ending=Ending(1, 1.0))

    assert judge(failed, run_of([b"a", b"b"]), Promise.AT_LEAST_ONCE_IN_ORDER).outcome is Outcome.ERROR


@pytest.mark.parametrize(
    ("events", "exit_code", "reason"),
    [
        ([b"1", b"1", b"2"], 0, ""),
        ([b"2"], 0, ""),  # What a state was before does not matter.
        ([b"1"], 0, "the last event of key 'key' is '1', not '2'"),
        ([], 0, "key 'key' has no event"),
        ([b"1"], 1, ""),
        ([b"1", b"3"], 1, "the last event of key 'key' is '3', which it never has without faults"),
    ],
)
def test_effectively_once_is_judged_by_the_last_event_of_each_key(
    events: Sequence[bytes], exit_code: int, reason: str
) -> None:
    run = replace(run_of(events), ending=Ending(exit_code, 1.0))

    judgement = judge(run, run_of([b"1", b"2"]), Promise.EFFECTIVELY_ONCE)

    assert judgement.kinds == ({"state"} if reason else frozenset())
    if reason:
        assert judgement.reasons[0] == f"orders: {reason}"


def test_an_event_without_a_key_is_a_state_of_its_own() -> None:
    faultless = run_of([b"1"], [b"a", b"b"])

    assert judge(run_of([b"1"], [b"b", b"a", b"a"]), faultless, Promise.EFFECTIVELY_ONCE).outcome is Outcome.HELD
    assert judge(run_of([b"1"], [b"b"]), faultless, Promise.EFFECTIVELY_ONCE).kinds == {"missing"}


def finding_of(kind: str, cause: str, first: int, last: int, request_ids: Sequence[int] = ()) -> GroupFinding:
    return GroupFinding(
        kind=kind,
        cause=cause,
        topic="orders",
        partition=0,
        offsets=[first, last],
        why="",
        member="a",
        request_ids=list(request_ids),
    )


def judged_group(
    *findings: GroupFinding, committed: int = 0, promise: Promise = Promise.EXACTLY_ONCE, exit_code: int = 0
) -> Judgement:
    partition = GroupPartition(
        topic="orders", partition=0, delivered=9, processed=0, committed=committed, high_watermark=9, lag=0
    )
    verdict = GroupVerdict(group="billing", partitions=[partition], findings=list(findings))
    faultless = replace(run_of([]), groups={"billing": without_findings(verdict)}, judged_groups=["billing"])
    run = replace(faultless, groups={"billing": verdict}, ending=Ending(exit_code, 1.0))
    return judge(run, faultless, promise)


def without_findings(verdict: GroupVerdict) -> GroupVerdict:
    return GroupVerdict(group=verdict.group, partitions=verdict.partitions, findings=[])


SKIPPED = finding_of("never_delivered", "seek", 3, 5)
MOVED_BACK = finding_of("commit_moved_back", "member", 3, 5, request_ids=[7])


@pytest.mark.parametrize(
    ("exit_code", "committed", "outcome"),
    [
        (0, 0, Outcome.BROKEN),
        (1, 6, Outcome.BROKEN),
        (1, 5, Outcome.ERROR),  # The next start begins at the fifth one.
    ],
)
def test_a_skipped_record_is_lost_if_the_program_will_not_read_it(
    exit_code: int, committed: int, outcome: Outcome
) -> None:
    for promise in (Promise.EXACTLY_ONCE, Promise.AT_LEAST_ONCE):
        judgement = judged_group(SKIPPED, committed=committed, exit_code=exit_code, promise=promise)
        assert judgement.outcome is outcome
    assert judged_group(SKIPPED, promise=Promise.AT_MOST_ONCE).outcome is Outcome.HELD


@pytest.mark.parametrize("cause", ["deleted_before_read", "truncated"])
def test_a_record_that_the_log_has_lost_is_not_skipped_by_the_program(cause: str) -> None:
    assert judged_group(finding_of("never_delivered", cause, 3, 5)).outcome is Outcome.HELD


@pytest.mark.parametrize("promise", list(Promise))
def test_a_record_that_was_delivered_twice_may_have_been_processed_once(promise: Promise) -> None:
    twice = finding_of("delivered_twice", "rebalance_before_commit", 3, 5)

    assert judged_group(twice, promise=promise).outcome is Outcome.HELD


def test_a_commit_that_moves_the_group_back_lets_it_process_again() -> None:
    assert judged_group(MOVED_BACK).kinds == {"moved back"}
    assert judged_group(MOVED_BACK, promise=Promise.AT_LEAST_ONCE).outcome is Outcome.HELD
    again = finding_of("delivered_twice", "reset", 0, 8)
    assert judged_group(MOVED_BACK, again).outcome is Outcome.HELD
    because_of_it = finding_of("delivered_twice", "commit_moved_back", 3, 5)
    assert judged_group(MOVED_BACK, because_of_it).outcome is Outcome.BROKEN
