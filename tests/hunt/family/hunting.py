"""The hunt of one program of the family, and what came of it.

Each hunt has a process of its own: functions that hang go on in their threads, and end with it.
"""

from __future__ import annotations

import faulthandler
import logging
import os
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context

from fauxka.testing import hunt
from fauxka.testing.hunting.errors import CannotHunt
from fauxka.testing.hunting.finding import Finding
from fauxka.testing.hunting.judgement import Outcome

from .programs import PROGRAMS, TWINS, Program

# Most of a trial is waiting.
JOBS_OF_A_HUNT = 8
_BY_NAME = {program.name: program for program in (*PROGRAMS, *TWINS)}


@dataclass(frozen=True, slots=True)
class Row:
    """What came of the hunt of a program.

    finding: in one sentence; None for none. A defect counts as found if each repetition shows it again,
    and a twin as accused in any case.
    error: why it could not be hunted; None if it was.
    """

    name: str
    is_twin: bool
    trials: int
    seconds: float
    finding: str | None = None
    error: str | None = None

    @property
    def is_right(self) -> bool:
        """Whether a defect was found, or nothing in a twin."""
        return self.error is None and self.is_twin == (self.finding is None)

    def __str__(self) -> str:
        """The row as a line."""
        if self.error is not None:
            result = f"not hunted: {self.error}"
        elif self.is_twin:
            result = "clean" if self.finding is None else f"ACCUSED: {self.finding}"
        else:
            result = "MISSED" if self.finding is None else f"found: {self.finding}"
        return f"{self.name}: {result} ({self.trials} trials, {self.seconds:.1f} s)"


def hunted(program: Program, budget: str, seed: int) -> Row:
    """Hunt a program until something is found, or the budget is spent."""
    begin = time.monotonic()
    try:
        how = program.how
        how["first"], how["budget"], how["seed"], how["jobs"] = True, budget, seed, JOBS_OF_A_HUNT
        result = hunt(program.run, **how)
    except CannotHunt as error:
        return Row(program.name, program.is_twin, 0, time.monotonic() - begin, error=str(error))
    counted = [each for each in result.findings if program.is_twin or _is_certainly_broken(each)]
    found = counted[0].sentence if counted else None
    return Row(program.name, program.is_twin, len(result.tried), result.seconds, found)


def _is_certainly_broken(finding: Finding) -> bool:
    return finding.is_certain and finding.judgement.outcome is Outcome.BROKEN


def hunted_apart(programs: Iterable[Program], budget: str, seed: int, jobs: int) -> Iterator[Row]:
    """Hunt programs, each in a process of its own, so many at a time. Yield the rows as they come."""
    with ThreadPoolExecutor(jobs) as pool:
        for ended in as_completed([pool.submit(_hunted_in_process, each, budget, seed) for each in programs]):
            yield ended.result()


def _hunted_in_process(program: Program, budget: str, seed: int) -> Row:
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        try:
            return pool.submit(_hunted_by_name, program.name, budget, seed).result()
        except BrokenProcessPool as error:
            return Row(program.name, program.is_twin, 0, 0.0, error=str(error))


def _hunted_by_name(name: str, budget: str, seed: int) -> Row:
    # The clients complain of each fault, and some at the end of the process. Only a crash is reported.
    logging.disable(logging.CRITICAL)
    faulthandler.enable(os.dup(sys.stderr.fileno()))
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    return hunted(_BY_NAME[name], budget, seed)
