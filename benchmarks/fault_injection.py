"""The cost of an empty fault plan and the journal: CPU time of a small request with and without them.

The rounds alternate, so a slow minute affects both. CPU time does not include other programs.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from pathlib import Path

from . import load_program
from .goals import verdict_text
from .load_program import Case
from .measurement import SMALL as ONE_RECORD
from .measurement import Figures
from .process_tree import cpu_seconds
from .targets import RunningTarget, Target, fauxka, running

# Busy polling would add the same CPU time to both.
SETTINGS = ("fauxka.busy.poll.us=0",)
SMALL = Case("160 B, pipelined (5)", 60_000, ONE_RECORD, in_flight=5)
WARM_UP = Case("warm-up", 5_000, ONE_RECORD, in_flight=5)
COST_MAX = 0.15


def bare(port: int, ready_file: Path) -> list[str]:
    """Return the command of a broker without rules and journal."""
    return [sys.executable, "-m", "benchmarks.bare_broker", str(port), str(ready_file), *SETTINGS]


def main(round_count: int) -> dict[str, Figures]:
    """Measure both, and print the medians and the goal."""
    with_both: list[float] = []
    with_neither: list[float] = []
    with running(Target("with both", fauxka(*SETTINGS))) as watched, running(Target("bare", bare)) as unwatched:
        turns: list[tuple[RunningTarget, Callable[[float], None]]] = [
            (watched, with_both.append),
            (unwatched, with_neither.append),
        ]
        for broker, _ in turns:
            load_program.produce(broker.port, "warm-up", WARM_UP)
        for number in range(round_count):
            # The order alternates too.
            for broker, add in turns if number % 2 else reversed(turns):
                add(_cpu_us(broker, f"round-{number}"))
    figures = {
        "bare": {"server CPU us a request": statistics.median(with_neither)},
        "with plan and journal": {"server CPU us a request": statistics.median(with_both)},
    }
    cost = statistics.median(a / b - 1 for a, b in zip(with_both, with_neither, strict=True))
    print(f"server CPU us a request of 160 B, medians of {round_count} interleaved rounds:")
    for name, values in figures.items():
        print(f"  {name:<24}{values['server CPU us a request']:6.2f}")
    verdict = verdict_text(cost <= COST_MAX)
    print(f"plan and journal cost {cost:.1%} (median of the rounds; goal: at most {COST_MAX:.0%}): {verdict}")
    return figures


def _cpu_us(broker: RunningTarget, topic: str) -> float:
    before = cpu_seconds(broker.process_id)
    load_program.produce(broker.port, topic, SMALL)
    return (cpu_seconds(broker.process_id) - before) / SMALL.requests * 1e6
