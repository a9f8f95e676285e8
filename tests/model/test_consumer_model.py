"""The verdict on a group, compared with a model that knows what went wrong with each offset."""

from __future__ import annotations

from ..run_counts import count
from .consumer_model import ConsumerModel

RUNS = count(5000, in_slice=400)
STEPS = 60


def test_verdict_finds_the_planted_faults_and_nothing_else() -> None:
    for seed in range(RUNS):
        model = ConsumerModel(seed)

        model.run(STEPS)

        expected, found = model.expected(), model.found()
        assert found == expected, f"seed {seed}: missed {expected - found}, invented {found - expected}"


def test_verdict_on_consumers_without_faults_is_clean() -> None:
    for seed in range(RUNS // 10):
        model = ConsumerModel(seed)

        model.run(STEPS, with_faults=False)

        assert model.found() == set(), f"seed {seed}"
