"""A small request waits about as long as with a real Kafka beside clients that use the broker as much as they can."""

from __future__ import annotations

import pytest

from benchmarks import fairness
from benchmarks.measurement import medians
from benchmarks.targets import Target, fauxka, kafka, running

# Both brokers share the processors with the other clients and with the probe.
TIMES_KAFKA_MAX = 1.5
P99_MS_MAX = 60.0
ROUNDS = 3
FAUXKA = Target("fauxka", fauxka())
KAFKA = Target("Kafka", kafka(), writes_ready_file=False)


@pytest.mark.reference
def test_small_request_beside_clients_that_use_all_waits_about_as_long_as_with_kafka() -> None:
    rounds: dict[str, list[dict[str, float]]] = {FAUXKA.name: [], KAFKA.name: []}

    for _ in range(ROUNDS):
        for target in (FAUXKA, KAFKA):
            with running(target) as broker:
                rounds[target.name].append(fairness.measure(broker))
    ours, kafkas = medians(rounds[FAUXKA.name]), medians(rounds[KAFKA.name])

    names = [f"{name}: {fairness.P99_MS}" for name in fairness.KINDS.values()]
    assert max(ours[name] for name in names) < P99_MS_MAX, rounds
    assert max(ours[name] / kafkas[name] for name in names) < TIMES_KAFKA_MAX, rounds
