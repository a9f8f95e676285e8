"""The verdict on a group, compared with a model that knows what went wrong with each offset."""

from __future__ import annotations

from fauxka.faults.consumption.group_history import GroupHistory
from fauxka.faults.consumption.judge import judge_group

from ..run_counts import count
from .consumer_model import GROUP, ConsumerModel, Truth

RUNS = count(5000, in_slice=1000)
STEPS = 60


def found_in(model: ConsumerModel) -> set[Truth]:
    history = model.recorder.histories.groups.get(GROUP, GroupHistory())
    verdict = judge_group(GROUP, history, model)
    assert verdict.findings_left_out == 0
    assert all(each.offsets[0] <= each.offsets[1] for each in verdict.findings)
    return {
        (each.kind, each.cause, each.partition, offset)
        for each in verdict.findings
        for offset in ([-1] if each.kind == "stale_member_committed" else range(each.offsets[0], each.offsets[1] + 1))
    }


def test_verdict_finds_the_planted_faults_and_nothing_else() -> None:
    kinds: set[tuple[str, str]] = set()
    for seed in range(RUNS):
        model = ConsumerModel(seed)

        model.run(STEPS)

        expected, found = model.expected(), found_in(model)
        assert found == expected, f"seed {seed}: missed {expected - found}, invented {found - expected}"
        kinds |= {(kind, cause) for kind, cause, _, _ in expected}
    assert len(kinds) == 19, sorted(kinds)


def test_verdict_on_consumers_without_faults_is_clean() -> None:
    for seed in range(RUNS // 10):
        model = ConsumerModel(seed)

        model.run(STEPS, with_faults=False)

        assert found_in(model) == set(), f"seed {seed}"
