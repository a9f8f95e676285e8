"""The verdict on a group whose application reports what it processes, compared with a model that knows it."""

from __future__ import annotations

from ..run_counts import count
from .processing_model import ProcessingModel

RUNS = count(2000, in_slice=200)
STEPS = 60


def test_verdict_finds_what_was_processed_twice_or_never_and_nothing_else() -> None:
    for seed in range(RUNS):
        model = ProcessingModel(seed)

        model.run(STEPS)

        expected, found = model.expected(), model.found()
        assert found == expected, f"seed {seed}: missed {expected - found}, invented {found - expected}"


def test_reported_count_is_that_of_the_verdict() -> None:
    for seed in range(RUNS // 10):
        model = ProcessingModel(seed)

        model.run(STEPS)

        counted = {each.partition: each.processed for each in model.verdict().partitions}
        if model.processed:
            assert counted == {index: sum(place == index for place, _ in model.processed) for index in counted}
