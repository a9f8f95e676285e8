"""Hunts programs that others wrote, and prints a table: which of them keep what they promise.

python -m tests.hunt.others quixstreams faststream
"""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from fauxka.testing import report_text
from fauxka.testing.hunting.arguments import How
from fauxka.testing.hunting.progress_line import ProgressLine
from fauxka.testing.hunting.result import Result

from .hunting import hunted
from .programs import OTHERS

HEAD = ("| program | promise | faults | trials | seconds | result |", "|---|---|---:|---:|---:|---|")


def row_of(name: str, result: Result) -> str:
    """Return a row of the table. faults: the kinds that the program met."""
    met = {fault.name for each in result.tried for fault, _ in each.met}
    found = "; ".join(finding.sentence for finding in result.findings) or "held"
    promise = result.options.promise.value
    cells = (OTHERS[name].version, promise, len(met), len(result.tried), f"{result.seconds:.0f}", found)
    return f"| {' | '.join(map(str, cells))} |"


def main() -> int:
    """Return 1 if something was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.hunt.others", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*OTHERS, []], metavar="NAME", help=", ".join(OTHERS))
    parser.add_argument("--budget", default="5m", help="of each hunt; 5 minutes by default")
    parser.add_argument("--jobs", type=int, default=2, help="trials at a time; 2 by default")
    parser.add_argument("--pairs", type=int, default=0, help="of faults; 0 by default")
    parser.add_argument("--only", action="append", default=[], help="a fault; repeatable")
    parser.add_argument("--skip", action="append", default=[], help="a fault; repeatable")
    parser.add_argument("--timeout", type=float, help="of a trial, in seconds")
    parser.add_argument("--output", type=Path, help="a folder for the findings of each program")
    arguments = parser.parse_args()
    how = How(budget=arguments.budget, jobs=arguments.jobs, pairs=arguments.pairs, skip=arguments.skip)
    if arguments.only:
        how["only"] = arguments.only
    if arguments.timeout is not None:
        how["timeout_seconds"] = arguments.timeout
    # The programs that run end with the hunt.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    rows: list[str] = []
    is_found = False
    for name in arguments.names or OTHERS:
        line = ProgressLine()
        with line.shown():
            result = hunted(OTHERS[name], how, line.show)
        is_found |= bool(result.findings)
        print(name, report_text(result), "", sep="\n", flush=True)
        if arguments.output is not None:
            result.write(arguments.output / name)
        rows.append(row_of(name, result))
    print(*HEAD, *rows, sep="\n")
    return 1 if is_found else 0


if __name__ == "__main__":
    sys.exit(main())
