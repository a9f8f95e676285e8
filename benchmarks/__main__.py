"""python -m benchmarks [--rounds N] [--json FILE] [TARGET ...]: measure all targets, or those named."""

import argparse
import json
import os
from pathlib import Path

from . import report
from .load_program import LoadError
from .measurement import Figures, measure, medians
from .targets import TARGETS, Target, running


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="rounds of all targets in turn; figures are medians")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    parser.add_argument("targets", nargs="*", help=f"some of: {'; '.join(target.name for target in TARGETS)}")
    arguments = parser.parse_args()
    chosen = [target for target in TARGETS if not arguments.targets or target.name in arguments.targets]
    unknown = set(arguments.targets) - {target.name for target in TARGETS}
    if unknown:
        parser.error(f"no target called {', '.join(sorted(unknown))}")
    print(f"{report.machine()}; load before the run {os.getloadavg()[0]:.1f}")
    results = measure_in_turn(chosen, arguments.rounds)
    print(report.table(results), report.checklist(results), sep="\n\n")
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1))


def measure_in_turn(targets: list[Target], round_count: int) -> dict[str, Figures]:
    """Return the medians of each target; each round runs all of them, so that a slow minute hits all alike.

    Each is started once before, uncounted: its files are then in memory, and Python's bytecode is made.
    """
    rounds: dict[str, list[Figures]] = {}
    for target in targets:
        if target.missing is not None:
            print(f"{target.name} is left out: needs {target.missing}")
            continue
        rounds[target.name] = []
        with running(target):
            pass
    for _ in range(round_count):
        for target in targets:
            if target.name in rounds:
                rounds[target.name].append(_measure(target))
    return {name: medians(figures) for name, figures in rounds.items()}


def _measure(target: Target) -> Figures:
    try:
        with running(target) as broker:
            return measure(broker)
    except (LoadError, RuntimeError) as error:
        print(f"{target.name}: {error}")
        return {}


if __name__ == "__main__":
    main()
