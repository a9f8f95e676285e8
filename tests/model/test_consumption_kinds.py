"""The verdict on groups of every kind, compared with models that know what went wrong with each offset."""

from __future__ import annotations

from fauxka.faults.consumption.facts import Cause, Kind

from ..run_counts import count
from .consumer_model import ConsumerModel
from .consumption_kinds import MODELS, STEPS, Comparison

# A topic that is created again loses records unseen in one of a thousand runs.
RUNS = count(3000, in_slice=900)


def test_verdict_finds_planted_faults_of_every_kind_and_cause_and_nothing_else() -> None:
    comparison = Comparison()
    for name, make_model in MODELS.items():
        for seed in range(RUNS):
            comparison.add(name, seed, make_model(seed))

    assert comparison.differences == []
    assert {kind for kind, _ in comparison.planted} == {each.value for each in Kind}
    assert {cause for _, cause in comparison.planted} == {each.value for each in Cause}


def test_verdict_on_consumers_without_faults_is_clean() -> None:
    for seed in range(RUNS // 10):
        model = ConsumerModel(seed)

        model.run(STEPS, with_faults=False)

        assert model.found() == set(), f"seed {seed}"
