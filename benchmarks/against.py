"""Comparison of this checkout with another one: `python -m benchmarks --against CHECKOUT`.

Both run with this interpreter and its packages, in turn, so that a slow minute affects both.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from pathlib import Path

from . import consumer_requests
from .measurement import (
    CPU_US,
    LARGE_PIPELINED,
    LARGE_UNIFORM,
    MB_PER_S,
    MIDDLE_PIPELINED,
    MIDDLE_UNIFORM,
    P50_US,
    REQUESTS_PER_S,
    SMALL_ALONE,
    SMALL_PIPELINED,
    WARM_UP,
    Figures,
    figure_name,
    produce_case,
)
from .report import machine
from .targets import CHECKOUT, Target, running

# The cases and their compared figures; True if more is better.
_PRODUCED = (
    (SMALL_PIPELINED, REQUESTS_PER_S, True),
    (SMALL_PIPELINED, CPU_US, False),
    (SMALL_ALONE, P50_US, False),
    (MIDDLE_PIPELINED, MB_PER_S, True),
    (LARGE_PIPELINED, MB_PER_S, True),
    (MIDDLE_UNIFORM, MB_PER_S, True),
    (LARGE_UNIFORM, MB_PER_S, True),
)
_COMPARED = (
    *((figure_name(case, quantity), is_more_better) for case, quantity, is_more_better in _PRODUCED),
    *((consumer_requests.figure_of(name, REQUESTS_PER_S), True) for name in consumer_requests.NAMES),
    *((consumer_requests.figure_of(name, CPU_US), False) for name in consumer_requests.NAMES),
)
# The tolerated ratio.
WORSE_RATIO_MAX = 1.05


def fauxka_of(checkout: Path) -> Callable[[int, Path], list[str]]:
    """Return the command that runs the fauxka of a checkout."""
    return lambda port, ready_file: [
        "env", f"PYTHONPATH={checkout / 'src'}", sys.executable, "-m", "fauxka", "serve",
        "--port", str(port), "--admin-port", "off", "--ready-file", str(ready_file),
    ]  # fmt: skip


def main(other: Path, round_count: int) -> dict[str, Figures]:
    """Measure both checkouts, print medians and ratios, and return the medians."""
    if not (other / "src" / "fauxka").is_dir():
        raise SystemExit(f"benchmarks: --against {other}: not a checkout of fauxka")
    targets = (Target("other", fauxka_of(other.resolve())), Target("this", fauxka_of(CHECKOUT)))
    rounds: dict[str, list[Figures]] = {target.name: [] for target in targets}
    for number in range(round_count):
        for target in targets if number % 2 else targets[::-1]:
            rounds[target.name].append(_measure(target))
    medians = {
        name: {figure: statistics.median(figures[figure] for figures in measured) for figure in measured[0]}
        for name, measured in rounds.items()
    }
    print(f"{machine()}; {round_count} rounds, medians; worse by more than {WORSE_RATIO_MAX - 1:.0%} is marked")
    print(f"{'':45} {'other':>12} {'this':>12} {'this/other':>11}")
    for name, is_more_better in _COMPARED:
        before, after = medians["other"][name], medians["this"][name]
        worse = before / after if is_more_better else after / before
        mark = "  WORSE" if worse > WORSE_RATIO_MAX else ""
        print(f"{name:45} {before:12.1f} {after:12.1f} {after / before:11.3f}{mark}")
    return medians


def _measure(target: Target) -> Figures:
    figures: Figures = {}
    with running(target) as broker:
        produce_case(broker, WARM_UP, figures={})
        for case in dict.fromkeys(case for case, _, _ in _PRODUCED):
            produce_case(broker, case, figures)
        consumer_requests.measure(broker, figures)
    return figures
