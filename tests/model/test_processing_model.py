"""The counts of a verdict on a group whose application reports what it processes."""

from __future__ import annotations

from ..run_counts import count
from .consumption_kinds import STEPS
from .processing_model import ProcessingModel

RUNS = count(200, in_slice=50)


def test_reported_count_is_that_of_the_verdict() -> None:
    for seed in range(RUNS):
        model = ProcessingModel(seed)

        model.run(STEPS)

        counted = {each.partition: each.processed for each in model.verdict().partitions}
        if model.processed:
            assert counted == {index: sum(place == index for place, _ in model.processed) for index in counted}
