"""What the plan and the journal cost when there is no rule: CPU of a small request with both and with neither.

The rounds alternate, so that a slow minute hits both alike; CPU time is compared, which other programs do not take.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from pathlib import Path

from . import load_program
from .goals import word_of
from .load_program import Case
from .measurement import Figures
from .process_tree import cpu_seconds
from .targets import RunningTarget, Target, fauxka, running

# Looking for the next request before it comes is CPU time too, and the same for both.
SETTINGS = ("fauxka.busy.poll.us=0",)
SMALL = Case("160 B, pipelined (5)", batches=60_000, records_per_batch=1, in_flight=5)
WARM_UP = Case("warm-up", batches=5_000, records_per_batch=1, in_flight=5)
COST_MAX = 0.15


def bare(port: int, ready_file: Path) -> list[str]:
    """Return the command of a broker with neither."""
    return [sys.executable, "-m", "benchmarks.bare_broker", str(port), str(ready_file), *SETTINGS]


def main(round_count: int) -> dict[str, Figures]:
    """Measure round_count rounds of both, and print the medians and the goal."""
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
            # Who goes first takes turns too.
            for broker, keep in turns if number % 2 else reversed(turns):
                keep(_cpu_us(broker, f"round-{number}"))
    figures = {
        "bare": {"server CPU us a request": statistics.median(with_neither)},
        "with plan and journal": {"server CPU us a request": statistics.median(with_both)},
    }
    cost = statistics.median(a / b - 1 for a, b in zip(with_both, with_neither, strict=True))
    print(f"server CPU us a request of 160 B, medians of {round_count} interleaved rounds:")
    for name, values in figures.items():
        print(f"  {name:<24}{values['server CPU us a request']:6.2f}")
    verdict = word_of(cost <= COST_MAX)
    print(f"plan and journal cost {cost:.1%} (median of the rounds; goal: at most {COST_MAX:.0%}): {verdict}")
    return figures


def _cpu_us(broker: RunningTarget, topic: str) -> float:
    before = cpu_seconds(broker.process_id)
    load_program.produce(broker.port, topic, SMALL)
    return (cpu_seconds(broker.process_id) - before) / SMALL.batches * 1e6
