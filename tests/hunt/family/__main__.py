"""Programs with one planted defect each, and their twins without it, hunted: recall and false alarms.

python -m tests.hunt.family --sample 20 --seed 17
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from .hunting import Row, hunted_apart
from .programs import PROGRAMS, TWINS, Program
from .shape import CLIENTS

RECALL_MIN = 0.95
OUTPUT = Path("build/family.jsonl")


def chosen(programs: Sequence[Program], count: int | None, seed: int) -> list[Program]:
    """Return so many programs, spread over all shapes and clients; all for None."""
    drawn = random.Random(seed).sample(programs, len(programs))
    taken: dict[tuple[str, str], int] = {}
    ranked: list[tuple[int, Program]] = []
    for program in drawn:
        row = (program.shape.name, program.client)
        ranked.append((taken.get(row, 0), program))
        taken[row] = taken.get(row, 0) + 1
    ranked.sort(key=lambda each: each[0])
    return [program for _, program in ranked[:count]]


def rows_of(file: Path) -> list[Row]:
    """Return what an earlier run has written, without what could not be hunted."""
    rows = [Row(**json.loads(line)) for line in file.read_text().splitlines()]
    return [row for row in rows if row.error is None]


def summary(rows: Sequence[Row]) -> Iterable[str]:
    """Yield the last lines: recall, false alarms, trials and seconds."""
    defects, twins = [row for row in rows if not row.is_twin], [row for row in rows if row.is_twin]
    found = sum(row.is_right for row in defects)
    accused = sum(row.finding is not None for row in twins)
    yield f"recall: {recall(rows):.3f} ({found} of {len(defects)} defects found)"
    yield f"false alarms: {accused} of {len(twins)} twins"
    yield f"{sum(row.trials for row in rows)} trials, {sum(row.seconds for row in rows):.0f} s of hunts"


def recall(rows: Sequence[Row]) -> float:
    """Return the part of the defects that was found; 1 for no defect."""
    defects = [row for row in rows if not row.is_twin]
    return sum(row.is_right for row in defects) / len(defects) if defects else 1.0


def main() -> int:
    """Return 1 if less than RECALL_MIN was found, if a twin was accused, or if a program could not be hunted."""
    parser = argparse.ArgumentParser(prog="python -m tests.hunt.family", description=__doc__)
    parser.add_argument("--list", action="store_true", help="print the names of the programs and how many there are")
    parser.add_argument(
        "--sample", type=int, metavar="N", help="so many with a defect, and their twins; all by default"
    )
    parser.add_argument("--seed", type=int, help="of the sample and of the pairs of faults; drawn by default")
    parser.add_argument("--budget", default="60s", help="of each hunt; 60s by default, as of hunt()")
    parser.add_argument("--client", choices=CLIENTS, action="append", help="those of a client only; repeatable")
    parser.add_argument("--only", action="append", default=[], help="those with this in their names; repeatable")
    parser.add_argument("--jobs", type=int, default=2, help="hunts at a time; 2 by default")
    parser.add_argument("--twins-only", action="store_true", help="twins only")
    parser.add_argument("--no-twins", action="store_true", help="programs with a defect only")
    parser.add_argument(
        "--continue", dest="is_continued", action="store_true", help="keep what --output has, do the rest"
    )
    parser.add_argument("--output", type=Path, default=OUTPUT, help=f"a line of JSON for each program; {OUTPUT}")
    arguments = parser.parse_args()
    clients = arguments.client or CLIENTS
    programs = [
        each
        for each in PROGRAMS
        if each.client in clients and all(part in each.name or part in each.twin.name for part in arguments.only)
    ]
    seed = random.SystemRandom().randrange(2**32) if arguments.seed is None else arguments.seed
    programs = chosen(programs, arguments.sample, seed)
    twins = [each for each in TWINS if each in {program.twin for program in programs}]
    wanted = [*([] if arguments.twins_only else programs), *([] if arguments.no_twins else twins)]
    if arguments.list:
        print(*(each.name for each in wanted), sep="\n")
        print(f"{len(programs)} programs with a defect, {len(twins)} twins")
        return 0
    rows = rows_of(arguments.output) if arguments.is_continued else []
    done = {row.name for row in rows}
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    with arguments.output.open("a" if rows else "w") as output:
        left = [each for each in wanted if each.name not in done]
        for row in hunted_apart(left, arguments.budget, seed, arguments.jobs):
            rows.append(row)
            print(row, flush=True)
            print(json.dumps(asdict(row)), file=output, flush=True)
    print(*summary(rows), f"seed {seed}", sep="\n")
    is_wrong = any(row.error is not None or (row.is_twin and not row.is_right) for row in rows)
    return 1 if is_wrong or recall(rows) < RECALL_MIN else 0


if __name__ == "__main__":
    sys.exit(main())
