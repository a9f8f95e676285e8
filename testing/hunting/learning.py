"""The runs without faults: what the program does by itself, and how long it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ...faults.journal.journal_entries import KEPT_BY
from ..errors import CallError
from .errors import CannotHunt
from .judgement import differences, with_order_of_both
from .options import Options
from .plan import Target, targets_of
from .program import Program, last_line
from .run import Run, Setting, run_once

# A run without faults is done so often: a program that differs by itself cannot be judged.
LEARNING_RUNS = 2
LEARNING_SECONDS_MAX = 300.0
# Of the run without faults; and what a program gets at least, because clients wait seconds before they send again.
TIMEOUT_FACTOR = 5
TIMEOUT_SECONDS_MIN = 10.0
TOO_SMALL_BUDGET = "the runs without faults took all of the budget: allow more"


class Learned(NamedTuple):
    """What the program does without faults, and the requests at which faults are tried."""

    faultless: Run
    targets: Sequence[Target]


def timeout_of(options: Options, faultless: Run) -> float:
    """Return the seconds that a run with faults may take."""
    if options.timeout_seconds is not None:
        return options.timeout_seconds
    return max(TIMEOUT_SECONDS_MIN, TIMEOUT_FACTOR * faultless.ending.seconds)


def learn(program: Program, setting: Setting) -> Learned:
    """Run the program without faults. Raises CannotHunt if it fails, or differs from run to run."""
    try:
        # A program that fails without a fault is none to start again.
        once = replace(setting, restarts=0)
        runs = [run_once(program, once, [], LEARNING_SECONDS_MAX) for _ in range(LEARNING_RUNS)]
    except CallError as error:
        raise CannotHunt(f"without a fault, the run cannot be read: {error}") from error
    for run in runs:
        _check(run)
    faultless = runs[0]
    for other in runs[1:]:
        different = differences(faultless, other)
        if different:
            raise CannotHunt(f"without a fault, two runs of the program differ: {'; '.join(different)}")
        faultless = with_order_of_both(faultless, other)
    if setting.topics and not any(content.events for content in faultless.topics.values()):
        raise CannotHunt(f"the program wrote no event to {', '.join(setting.topics)}")
    return Learned(faultless, targets_of(*(run.requests for run in runs)))


def _check(run: Run) -> None:
    """Raise CannotHunt for a run without faults that nothing can be compared with."""
    if run.ending.is_hung and run.ending.seconds < LEARNING_SECONDS_MAX:
        raise CannotHunt(TOO_SMALL_BUDGET)
    if run.ending.exit_code != 0:
        how = "did not end" if run.ending.is_hung else f"ended with exit code {run.ending.exit_code}"
        last = last_line(run.ending.output)
        raise CannotHunt(f"without a fault, the program {how}{': ' if last else ''}{last}")
    if run.failed_check is not None:
        raise CannotHunt(f"without a fault, the check fails: {run.failed_check}")
    if not run.is_journal_whole:
        raise CannotHunt(f"the program sends more requests than a plan is made of: set a greater {KEPT_BY}")
