"""Compares fauxka, kfake and Kafka: each round measures all of them, so that a slow minute affects all."""

from __future__ import annotations

import os
from collections.abc import Callable

from . import load_program, measurement, report
from .measurement import Figures
from .targets import FAUXKA, KAFKA_NAME, KFAKE_NAME, TARGETS, RunningTarget, running

COMPARED = (FAUXKA, KFAKE_NAME, KAFKA_NAME)


def compare(round_count: int, measure: Callable[[RunningTarget, str], Figures]) -> dict[str, Figures]:
    """Measure each broker after a warm-up, print the table, and return the medians by target name.

    measure: takes the running broker and the name of its target.
    """
    targets = [target for target in TARGETS if target.name in COMPARED and target.missing is None]
    rounds: dict[str, list[Figures]] = {target.name: [] for target in targets}
    print(f"{report.machine()}; load before the run {os.getloadavg()[0]:.1f}")
    for _ in range(round_count):
        for target in targets:
            with running(target) as broker:
                load_program.produce(broker.port, "warm-up", measurement.WARM_UP)
                rounds[target.name].append(measure(broker, target.name))
    results = {name: measurement.medians(figures) for name, figures in rounds.items()}
    print(report.table(results))
    return results
