"""Runs the simulation for a range of seeds, or for one: python -m tests.simulation --seeds 0..2000."""

from __future__ import annotations

import argparse
import sys
import time
import traceback

from .simulation import SimulationFailed, run


def seeds_of(text: str) -> range:
    """Return the seeds of "A..B", the last one included, or of "A"."""
    first, _, last = text.partition("..")
    return range(int(first), int(last or first) + 1)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", type=seeds_of, default=range(2000), help="A..B or A; 0..1999 by default")
    parser.add_argument("--failures-max", type=int, default=1, help="stop at this many failures")
    arguments = parser.parse_args()
    seeds: range = arguments.seeds
    failures = 0
    started = time.monotonic()
    for seed in seeds:
        try:
            run(seed)
        except SimulationFailed as failed:
            failures += 1
            if len(seeds) == 1:
                traceback.print_exception(failed)
            else:
                print(f"{failed}", file=sys.stderr)
            if failures >= arguments.failures_max:
                break
    print(f"seeds {seeds.start}..{seeds.stop - 1}: {failures} failures, {time.monotonic() - started:.1f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
