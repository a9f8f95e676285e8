"""The family of programs with planted defects: which there are, how they are counted, and a sample that is hunted."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import pytest

from ...runtimes import need
from .__main__ import chosen, recall, rows_of, summary
from .defect import Defect
from .hunting import Row, hunted_apart
from .programs import PROGRAMS, TWINS, Program
from .shape import NEEDED, OF_OTHER_LANGUAGES, OF_PYTHON

# Trials, of programs whose defect is shown by one of the first.
SLICE = "12"
QUICK = (
    "confluent-kafka, idempotent producer: NOT_IDEMPOTENT",
    "aiokafka, outbox relay: MARKED_FIRST",
    "kafka-python, request handler: REPORT_IGNORED",
)
# Of the group hunt: one program of each shape.
SAMPLE, SEED = 22, 48
FAILURE = Row("a", is_twin=False, trials=3, seconds=1.0)
FOUND = Row("b", is_twin=False, trials=5, seconds=2.0, finding="lost acknowledgement: ...")
CLEAN = Row("c", is_twin=True, trials=7, seconds=4.0)
ACCUSED = Row("d", is_twin=True, trials=7, seconds=4.0, finding="reset: ...")


def program(name: str) -> Program:
    (found,) = (each for each in PROGRAMS if each.name == name)
    return found


def test_family_has_two_hundred_programs_with_different_names() -> None:
    assert len(PROGRAMS) >= 200
    assert len({each.name for each in (*PROGRAMS, *TWINS)}) == len(PROGRAMS) + len(TWINS)


def test_each_defect_is_in_a_program() -> None:
    assert {each.defect for each in PROGRAMS} == set(Defect)


def test_twin_promises_the_same_and_has_no_defect() -> None:
    for each in PROGRAMS:
        assert each.twin in TWINS
        assert each.twin.how == each.how
        assert each.twin.is_twin


def test_sample_is_spread_over_shapes_and_clients_and_drawn_by_the_seed() -> None:
    rows = {(each.shape.name, each.client) for each in PROGRAMS}

    first, second, other = (chosen(PROGRAMS, len(rows), seed) for seed in (1, 1, 2))

    assert {(each.shape.name, each.client) for each in first} == rows
    assert first == second != other
    assert chosen(PROGRAMS, None, 1) == sorted(PROGRAMS, key=chosen(PROGRAMS, None, 1).index)


def test_recall_counts_defects_and_false_alarms_count_twins() -> None:
    rows = [FAILURE, FOUND, CLEAN, ACCUSED]

    assert recall(rows) == 0.5
    assert list(summary(rows)) == [
        "recall: 0.500 (1 of 2 defects found)",
        "false alarms: 1 of 2 twins",
        "22 trials, 11 s of hunts",
    ]


@pytest.mark.parametrize(
    ("row", "line"),
    [
        (FAILURE, "a: MISSED (3 trials, 1.0 s)"),
        (FOUND, "b: found: lost acknowledgement: ... (5 trials, 2.0 s)"),
        (CLEAN, "c: clean (7 trials, 4.0 s)"),
        (ACCUSED, "d: ACCUSED: reset: ... (7 trials, 4.0 s)"),
        (Row("e", True, 0, 1.0, error="why"), "e: not hunted: why (0 trials, 1.0 s)"),
    ],
)
def test_line_of_a_program_says_what_came_of_its_hunt(row: Row, line: str) -> None:
    assert str(row) == line


def test_run_that_goes_on_keeps_what_was_hunted(tmp_path: Path) -> None:
    file = tmp_path / "family.jsonl"
    rows = [FOUND, Row("e", True, 0, 1.0, error="why"), CLEAN]
    file.write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows))

    assert rows_of(file) == [FOUND, CLEAN]


def wrong(rows: Sequence[Row]) -> list[str]:
    return [str(row) for row in rows if not row.is_right]


def test_planted_defects_are_found_and_nothing_in_their_twins() -> None:
    programs = [program(name) for name in QUICK]

    rows = list(hunted_apart([*programs, *(each.twin for each in programs)], SLICE, SEED, 2))

    assert not wrong(rows)


@pytest.mark.processes
def test_command_prints_and_writes_a_line_for_each_program(tmp_path: Path) -> None:
    output = tmp_path / "family.jsonl"
    words = ("--only", QUICK[0], "--budget", SLICE, "--output", str(output))

    ended = subprocess.run(
        [sys.executable, "-m", "tests.hunt.family", *words], capture_output=True, text=True, check=False
    )

    assert ended.returncode == 0, ended.stdout + ended.stderr
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    assert sorted(row["name"] for row in rows) == [QUICK[0], program(QUICK[0]).twin.name]
    assert "recall: 1.000 (1 of 1 defects found)\nfalse alarms: 0 of 1 twins\n" in ended.stdout


@pytest.mark.hunt
@pytest.mark.timeout(3600)
def test_sample_of_the_family_is_found_and_no_twin_accused() -> None:
    programs = chosen([each for each in PROGRAMS if each.client in OF_PYTHON], SAMPLE, SEED)
    twins = dict.fromkeys(each.twin for each in programs)

    rows = list(hunted_apart([*programs, *twins], "60s", SEED, 2))

    assert not wrong([row for row in rows if row.is_twin])
    assert recall(rows) >= 0.95, wrong(rows)


@pytest.mark.hunt
@pytest.mark.timeout(900)
@pytest.mark.parametrize("client", OF_OTHER_LANGUAGES)
def test_defects_of_programs_of_another_language_are_found(client: str) -> None:
    need(*NEEDED[client], group=client)
    programs = chosen([each for each in PROGRAMS if each.client == client], 3, SEED)

    assert not wrong(list(hunted_apart(programs, "60s", SEED, 2)))
