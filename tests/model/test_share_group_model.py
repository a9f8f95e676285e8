"""The verdict on a share group, compared with a model that knows what went wrong with each record."""

from __future__ import annotations

from fauxka.faults.consumption.group_history import GroupHistory
from fauxka.faults.consumption.judge import judge_group

from ..run_counts import count
from .share_group_model import GROUP, ShareGroupModel, Truth

RUNS = count(5000, in_slice=500)
STEPS = 60


def found_in(model: ShareGroupModel) -> set[Truth]:
    history = model.recorder.histories.groups.get(GROUP, GroupHistory())
    verdict = judge_group(GROUP, history, model)
    assert verdict.findings_left_out == 0
    return {
        (each.kind, each.cause, offset)
        for each in verdict.findings
        for offset in range(each.offsets[0], each.offsets[1] + 1)
    }


def test_verdict_finds_the_planted_faults_and_nothing_else() -> None:
    kinds: set[tuple[str, str]] = set()
    for seed in range(RUNS):
        model = ShareGroupModel(seed)

        model.run(STEPS)

        expected, found = model.expected(), found_in(model)
        assert found == expected, f"seed {seed}: missed {expected - found}, invented {found - expected}"
        kinds |= {(kind, cause) for kind, cause, _ in expected}
    assert len(kinds) == 14, sorted(kinds)
