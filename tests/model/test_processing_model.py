"""The verdict on a group whose application reports what it processes, compared with a model that knows it."""

from __future__ import annotations

from fauxka.faults.consumption.group_history import GroupHistory
from fauxka.faults.consumption.group_verdict import GroupVerdict
from fauxka.faults.consumption.judge import judge_group

from ..run_counts import count
from .consumer_model import GROUP, Truth
from .processing_model import ProcessingModel

RUNS = count(2000, in_slice=500)
STEPS = 60
OF_PROCESSING = {"processed_twice", "committed_unprocessed", "never_processed", "processed_uncommitted"}


def verdict_of(model: ProcessingModel) -> GroupVerdict:
    history = model.recorder.histories.groups.get(GROUP, GroupHistory())
    return judge_group(GROUP, history, model, model.processing(history))


def found_in(verdict: GroupVerdict) -> set[Truth]:
    assert verdict.findings_left_out == 0
    assert all(each.offsets[0] <= each.offsets[1] for each in verdict.findings)
    return {
        (each.kind, each.cause, each.partition, offset)
        for each in verdict.findings
        for offset in ([-1] if each.kind == "stale_member_committed" else range(each.offsets[0], each.offsets[1] + 1))
    }


def test_verdict_finds_what_was_processed_twice_or_never_and_nothing_else() -> None:
    kinds: set[str] = set()
    for seed in range(RUNS):
        model = ProcessingModel(seed)

        model.run(STEPS)

        expected, found = model.expected(), found_in(verdict_of(model))
        assert found == expected, f"seed {seed}: missed {expected - found}, invented {found - expected}"
        kinds |= {kind for kind, _, _, _ in expected}
    assert kinds >= OF_PROCESSING


def test_reported_count_is_that_of_the_verdict() -> None:
    for seed in range(RUNS // 10):
        model = ProcessingModel(seed)

        model.run(STEPS)

        counted = {each.partition: each.processed for each in verdict_of(model).partitions}
        if model.processed:
            assert counted == {index: sum(place == index for place, _ in model.processed) for index in counted}
