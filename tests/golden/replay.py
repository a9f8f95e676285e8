"""Running the golden programs, and the files of cases they leave."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from ..wire.wire_connection import ConnectionClosedError
from .case_recorder import Case, CaseRecorder
from .programs import PROGRAMS

CAPTURED = Path(__file__).parent / "golden-4.3.0.jsonl"


def load_cases(path: Path = CAPTURED) -> list[Case]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def write_cases(cases: Iterable[Case], output: TextIO) -> None:
    for case in cases:
        output.write(json.dumps(case) + "\n")


def run_all_programs(bootstrap: str) -> Iterator[Case]:
    """All cases in the order of the captured file, from one fresh broker at "host:port"."""
    for program in PROGRAMS:
        yield from run_program(program, bootstrap)


def run_program(program: str, bootstrap: str) -> list[Case]:
    """All cases of one program, from a broker that nothing else is asking."""
    recorder = CaseRecorder(program, bootstrap)
    for group in PROGRAMS[program](recorder):
        group()
    recorder.connection.close()
    return recorder.cases


def run_what_can_be(program: str, bootstrap: str) -> list[Case]:
    """As run_program, from a broker that does not serve everything: a group of cases ends where it gets no answer.

    What comes after that in the group is then missing from the cases.
    """
    recorder = CaseRecorder(program, bootstrap, patience_seconds=1.0)
    for group in PROGRAMS[program](recorder):
        try:
            group()
        except (ConnectionClosedError, TimeoutError, AssertionError, IndexError, EOFError):
            recorder.reconnect()
    recorder.connection.close()
    return recorder.cases
