"""Measure all targets, or those named; or what a part of fauxka costs: its disk, instruments, fixture, instructions."""

import argparse
import json
import os
import time
from pathlib import Path

from . import against, disk, fixture, instructions, instruments, pipeline, report, scale
from .load_program import LoadError
from .measurement import Figures, measure, medians
from .targets import TARGETS, Target, running

# The part of --pipeline that audits logs of several sizes.
SCALE = "scale"
# What a target leaves to the system, files of hundreds of megabytes, is not to be measured with the next one.
SETTLE_SECONDS = 1.0


def main() -> None:
    """Measure and print."""
    names = [target.name for target in TARGETS]
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="rounds of all targets in turn; figures are medians")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    parser.add_argument("--disk", action="store_true", help="the log on disk; names are parts then")
    parser.add_argument("--instruments", action="store_true", help="the rules and the journal of a broker")
    parser.add_argument("--instructions", action="store_true", help="what valgrind counts: of a start, of a Produce")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="this checkout beside another one")
    parser.add_argument("--fixture", action="store_true", help="a broker for tests: ready, and reset")
    parser.add_argument("--pipeline", action="store_true", help="the decoder and the data source; names are parts then")
    parser.add_argument(
        "--records",
        type=record_counts,
        default=scale.RECORD_COUNTS,
        metavar="1e6,1e7",
        help="with --pipeline scale: the sizes of the logs that are generated and audited",
    )
    parser.add_argument("names", nargs="*", help=f"some of: {'; '.join(names)}; with --disk: {'; '.join(disk.PARTS)}")
    arguments = parser.parse_args()
    pipeline_parts = (*pipeline.PARTS, SCALE)
    parts = disk.PARTS if arguments.disk else pipeline_parts if arguments.pipeline else names
    unknown = set(arguments.names) - set(parts)
    if unknown:
        parser.error(f"nothing called {', '.join(sorted(unknown))}")
    if arguments.against:
        results = against.main(arguments.against, arguments.rounds)
    elif arguments.instruments:
        results = instruments.main(arguments.rounds)
    elif arguments.pipeline and SCALE in arguments.names:
        # Takes minutes, and so is measured where it is asked for, and alone.
        results = scale.main(arguments.records)
    elif arguments.pipeline:
        results = pipeline.main(arguments.names, arguments.rounds)
    elif arguments.instructions:
        results = instructions.main()
    elif arguments.fixture:
        results = fixture.main(arguments.rounds)
    else:
        measured = disk.main if arguments.disk else measure_targets
        results = measured(arguments.names, arguments.rounds)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1))


def record_counts(text: str) -> tuple[int, ...]:
    """Return numbers with commas between them, such as 1e6,1e7."""
    return tuple(int(float(number)) for number in text.split(","))


def measure_targets(names: list[str], round_count: int) -> dict[str, Figures]:
    """Measure the named targets, all of them without a name, and print the table and the goals."""
    chosen = [target for target in TARGETS if not names or target.name in names]
    print(f"{report.machine()}; load before the run {os.getloadavg()[0]:.1f}")
    results = measure_in_turn(chosen, round_count)
    print(report.table(results), report.checklist(results), sep="\n\n")
    return results


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
                time.sleep(SETTLE_SECONDS)
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
