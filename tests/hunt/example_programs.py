"""The programs of examples/hunt, and the options of their hunts."""

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

from ..serving_process import run

FOLDER = Path(__file__).parent.parent.parent / "examples" / "hunt"
# The default budget of 5 minutes, 330 s twice for trials that hung, and the runs that confirm.
HUNT_SECONDS_MAX = 1200
FILL = f"{sys.executable} {FOLDER / 'fill.py'}"
SEED_TOPICS = ("--seed-topic", "orders", "--seed-topic", "copies")
COPYING = ("--topic", "copies", *SEED_TOPICS, "--restarts", "1", "--prepare", FILL)
AT_LEAST_ONCE = ("--expect", "at-least-once")
SENDING = ("--topic", "orders")
OPTIONS = {
    "retry": SENDING,
    "recreated": SENDING,
    "early_commit": (*COPYING, *AT_LEAST_ONCE),
    "repeated": COPYING,
    "halves": COPYING,
    "in_flight": SENDING,
    "partitions": (*SENDING, "--seed-topic", "orders:2"),
    # In runs: how many of its virtual machines start in a time depends on the machine.
    "spark_sink": (*SENDING, "--budget", "8"),
    "outbox": (*SENDING, *AT_LEAST_ONCE, "--restarts", "1"),
}


class Hunted(NamedTuple):
    """The exit code of a hunt, its report, and its result as JSON."""

    exit_code: int
    report: str
    result: Any


def program_of(name: str, *, is_mended: bool) -> str:
    """Return the file of a name of OPTIONS, without its suffix."""
    # What keeps one promise breaks another.
    if name == "repeated" and not is_mended:
        return "early_commit_mended"
    return f"{name}_{'mended' if is_mended else 'defect'}"


def hunted(name: str, folder: Path, *, is_mended: bool) -> Hunted:
    """Hunt a program with its options, two runs at a time, and print a row of figures. folder: for the findings."""
    file = folder / "result.json"
    words = ("--jobs", "2", "-o", str(folder / "found"), "--json", str(file), "--", sys.executable)
    program = program_of(name, is_mended=is_mended)
    ended = run("hunt", *OPTIONS[name], *words, str(FOLDER / f"{program}.py"), seconds_max=HUNT_SECONDS_MAX)
    assert ended.exit_code in (0, 1), ended.log
    result = json.loads(file.read_text())
    print(row_of(program, result))
    return Hunted(ended.exit_code, ended.output, result)


def row_of(program: str, result: Any) -> str:
    """Return a row: program, trials, seconds, findings, the first after, combinations covered."""
    seconds = [each["found_seconds"] for each in result["findings"] if each["found_seconds"] is not None]
    first = f"{min(seconds):.0f} s" if seconds else ""
    coverage = result["coverage"]
    covered = f"{coverage['tried'] + coverage['equivalent']} of {coverage['possible']}"
    cells = (f"`{program}`", result["trials"], f"{result['seconds']:.0f}", len(result["findings"]), first, covered)
    return f"| {' | '.join(map(str, cells))} |"
