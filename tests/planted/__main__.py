"""Audits drawn logs with planted faults and prints precision and recall: python -m tests.planted --records 60000."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import SystemRandom
from tempfile import TemporaryDirectory

from .audited import findings_in_files, findings_of_broker
from .deduplicated import compare_kept_events
from .events import Found
from .planted_log import PlantedLog
from .plants import BROKER_PLANTS, COPY_PLANTS, PLANTS, Plant, planted_log
from .table import Comparison, table_of

RECORDS = 60_000
EACH_MAX = 3
# The mismatches that are printed for each log.
SHOWN_MAX = 20
Audit = Callable[[PlantedLog, Path], Counter[Found]]
WAYS: dict[str, tuple[tuple[Plant, ...], Audit]] = {
    "path": (PLANTS, findings_in_files),
    "bootstrap": (BROKER_PLANTS, findings_of_broker),
}


def main() -> int:
    """Return 1 if any precision or recall is below 1."""
    arguments = make_parser().parse_args()
    first = SystemRandom().randrange(2**32) if arguments.seed is None else arguments.seed
    last = first + arguments.seeds - 1
    print(f"seeds {first} to {last}", flush=True)
    ways = list(dict.fromkeys(arguments.only or WAYS))
    comparisons = {way: Comparison() for way in ways}
    for seed in range(first, last + 1):
        for way in ways:
            compare(comparisons[way], way, seed, arguments)
        if arguments.kills:
            compare_dedup(comparisons[ways[0]], seed, arguments)
    print(table_of({f"--{way}": comparison for way, comparison in comparisons.items()}))
    is_exact = all(comparison.is_exact for comparison in comparisons.values())
    print(f"seeds {first} to {last}: {'all findings are right' if is_exact else 'NOT ALL FINDINGS ARE RIGHT'}")
    return 0 if is_exact else 1


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.planted", description=__doc__)
    parser.add_argument("--seed", type=int, help="of the first log; drawn by default")
    parser.add_argument("--seeds", type=positive, default=1, metavar="N", help="the number of logs; 1 by default")
    parser.add_argument(
        "--records", type=positive, default=RECORDS, metavar="N", help=f"of a log; {RECORDS} by default"
    )
    parser.add_argument(
        "--each", type=positive, default=EACH_MAX, metavar="N", help=f"1 to N of each fault; {EACH_MAX} by default"
    )
    parser.add_argument("--only", action="append", choices=list(WAYS), help="read the logs in this way only")
    help_of_kills = "kill dedup in N runs and count the events that it keeps; 0 by default, which leaves dedup out"
    parser.add_argument("--kills", type=int, default=0, metavar="N", help=help_of_kills)
    return parser


def positive(text: str) -> int:
    """Return a number of at least 1. Raises ArgumentTypeError."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text} is not a number of at least 1")
    return int(text)


def compare(comparison: Comparison, way: str, seed: int, arguments: argparse.Namespace) -> None:
    """Plant and audit one log, and print a line of it and its mismatches."""
    plants, audit = WAYS[way]
    began = time.monotonic()
    log = planted_log(seed, plants, each_max=arguments.each, record_count=arguments.records)
    with TemporaryDirectory(prefix="fauxka-planted-") as folder:
        found = audit(log, Path(folder))
    counts = f"{log.event_count:,} events, {log.expected.total()} findings planted, {found.total()} found"
    print(f"seed {seed} {way}: {counts}, {time.monotonic() - began:.0f} s", flush=True)
    comparison.add(log.expected, found)
    print_mismatches(log.expected, found)


def compare_dedup(comparison: Comparison, seed: int, arguments: argparse.Namespace) -> None:
    """Plant copies, deduplicate them over kills, and print the number of kept events."""
    log = planted_log(seed, COPY_PLANTS, each_max=arguments.each, record_count=arguments.records)
    with TemporaryDirectory(prefix="fauxka-planted-") as folder:
        sent, kept = compare_kept_events(log, Path(folder), arguments.kills)
    print(
        f"seed {seed} dedup: {sent.total():,} events, {kept.total():,} kept after {arguments.kills} kills", flush=True
    )
    comparison.add(sent, kept)
    print_mismatches(sent, kept)


def print_mismatches(planted: Counter[Found], found: Counter[Found]) -> None:
    """Print the first findings that are only planted or only found."""
    for words, wrong in (("not planted", found - planted), ("not found", planted - found)):
        for one in sorted(wrong, key=str)[:SHOWN_MAX]:
            print(f"  {words}: {one}")


if __name__ == "__main__":
    sys.exit(main())
