"""The verdict on consumers of a real broker, compared with the model that decides what they do."""

from __future__ import annotations

from fauxka.testing import Broker

from ..run_counts import count
from .consumption_kinds import Comparison
from .wire_broker import CONFIG, NODES

RUNS = count(300, in_slice=10)


def test_verdict_of_a_broker_finds_the_planted_faults_and_nothing_else() -> None:
    comparison = Comparison()
    with Broker(CONFIG, nodes=NODES) as broker:
        for seed in range(RUNS):
            comparison.add_in_broker(seed, broker)

    assert comparison.differences == []
