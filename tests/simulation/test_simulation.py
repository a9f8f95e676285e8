"""Runs of the simulation; a printed seed repeats a run: python -m tests.simulation --seeds A..B."""

from __future__ import annotations

import pytest

from .simulation import Simulation, run

SEEDS_AT_ONCE = 100
# In `make test`. A seed takes some 20 ms.
SEEDS_OF_EVERY_RUN = 25


@pytest.mark.simulation
@pytest.mark.parametrize(
    "first", [pytest.param(0, marks=pytest.mark.slice), *range(SEEDS_AT_ONCE, 2000, SEEDS_AT_ONCE)]
)
def test_logs_recover_to_the_state_of_the_model(first: int) -> None:
    for seed in range(first, first + SEEDS_AT_ONCE):
        run(seed)


def test_logs_recover_to_the_state_of_the_model_for_a_few_seeds() -> None:
    for seed in range(SEEDS_OF_EVERY_RUN):
        run(seed)


def test_a_seed_repeats_the_same_run() -> None:
    runs = [Simulation(7), Simulation(7)]

    for each in runs:
        each.run()

    assert runs[0].disk.operations.count == runs[1].disk.operations.count
    assert runs[0].partitions[0].model.taken == runs[1].partitions[0].model.taken
