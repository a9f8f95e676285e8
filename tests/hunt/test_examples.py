"""The programs of examples/hunt: the hunt finds each defect, and nothing in the mended twins.

Each hunt has the default budget. FAUXKA_HUNT_TABLE names a file for a line of figures of each program.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ..serving_process import run

FOLDER = Path(__file__).parent.parent.parent / "examples" / "hunt"
# The default budget of 5 minutes, 330 s twice for trials that hung, and the runs that confirm.
HUNT_SECONDS_MAX = 1200
pytestmark = [pytest.mark.hunt, pytest.mark.timeout(HUNT_SECONDS_MAX + 60)]
FILL = f"{sys.executable} {FOLDER / 'fill.py'}"
SEED_TOPICS = ("--seed-topic", "orders", "--seed-topic", "copies")
COPYING = ("--topic", "copies", *SEED_TOPICS, "--restarts", "1", "--prepare", FILL)
AT_LEAST_ONCE = ("--expect", "at-least-once")
SENDING = ("--topic", "orders")
# What keeps one promise breaks another.
DEFECTS = {"repeated": "early_commit_mended"}
OPTIONS = {
    "retry": SENDING,
    "recreated": SENDING,
    "early_commit": (*COPYING, *AT_LEAST_ONCE),
    "repeated": COPYING,
    "halves": COPYING,
    "in_flight": SENDING,
    "partitions": (*SENDING, "--seed-topic", "orders:2"),
    "spark_sink": SENDING,
    "outbox": (*SENDING, *AT_LEAST_ONCE, "--restarts", "1"),
}


class Hunted(NamedTuple):
    """The exit code of a hunt, its report, and its result as JSON."""

    exit_code: int
    report: str
    result: Any


def hunted(program: str, options: tuple[str, ...], folder: Path) -> Hunted:
    file = folder / "result.json"
    words = ("--jobs", "2", "-o", str(folder / "found"), "--json", str(file), "--", sys.executable)
    ended = run("hunt", *options, *words, str(FOLDER / f"{program}.py"), seconds_max=HUNT_SECONDS_MAX)
    assert ended.exit_code in (0, 1), ended.log
    found = Hunted(ended.exit_code, ended.output, json.loads(file.read_text()))
    add_to_table(program, ended.output)
    return found


def add_to_table(program: str, report: str) -> None:
    if "FAUXKA_HUNT_TABLE" in os.environ:
        with Path(os.environ["FAUXKA_HUNT_TABLE"]).open("a") as table:
            table.write(f"{program:20} {report.splitlines()[-1]}\n")


@pytest.mark.parametrize("name", OPTIONS)
def test_defect_is_found_and_seen_again_each_time(name: str, tmp_path: Path) -> None:
    found = hunted(DEFECTS.get(name, f"{name}_defect"), OPTIONS[name], tmp_path)

    assert found.exit_code == 1
    assert any(finding["confirmed"] == finding["runs"] > 0 for finding in found.result["findings"]), found.report


def test_function_is_hunted_in_its_process() -> None:
    file = FOLDER / "in_process.py"
    ended = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=False)

    assert ended.returncode == 0, ended.stdout + ended.stderr
    add_to_table("in_process", ended.stdout)


@pytest.mark.parametrize("name", OPTIONS)
def test_mended_twin_has_no_finding(name: str, tmp_path: Path) -> None:
    found = hunted(f"{name}_mended", OPTIONS[name], tmp_path)

    assert found.exit_code == 0, found.report
