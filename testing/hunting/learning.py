"""The runs without faults: what the program does by itself, and how long it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ...faults.actions import Delay
from ...faults.journal.journal_entries import KEPT_BY
from ...faults.rules.fault_rules import FaultRule, When
from ...faults.rules.match import Match
from ..errors import CallError
from .errors import CannotHunt
from .judgement import differences, with_order_of_both
from .options import Options
from .pairs import TwoTargets, two_in_flight
from .plan import CHANGING, Target, nearest_first, targets_of
from .program import Program, last_line
from .run import Run, Setting, run_once

# A run without faults is done so often: a program that differs by itself cannot be judged.
LEARNING_RUNS = 2
# The last of these runs shows which requests do not wait for the response to another one: the first responses are late.
_LATE = FaultRule(
    name="late responses",
    match=Match(api=list(CHANGING)),
    when=When(times=100),
    point="applied",
    action=Delay(ms=50),
)
LEARNING_SECONDS_MAX = 300.0
# Of the run without faults; and what a program gets at least, because clients wait seconds before they send again.
TIMEOUT_FACTOR = 5
TIMEOUT_SECONDS_MIN = 10.0
TOO_SMALL_BUDGET = "the runs without faults took all of the budget: allow more"


class Learned(NamedTuple):
    """What the program does without faults, and the requests at which faults are tried.

    in_flight: pairs of them that were in flight together, see two_in_flight.
    """

    faultless: Run
    targets: Sequence[Target]
    in_flight: Sequence[TwoTargets]


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
        quick = [run_once(program, once, [], LEARNING_SECONDS_MAX) for _ in range(LEARNING_RUNS - 1)]
        late = run_once(program, once, [_LATE], LEARNING_SECONDS_MAX)
    except CallError as error:
        raise CannotHunt(f"without a fault, the run cannot be read: {error}") from error
    runs = [*quick, late]
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
    for group in setting.groups:
        _check_group(faultless, group, is_processed=setting.is_processed)
    targets = nearest_first(targets_of(*(run.requests for run in runs)), setting.topics)
    return Learned(faultless, targets, two_in_flight(late.requests, targets))


def _check(run: Run) -> None:
    """Raise CannotHunt for a run without faults that nothing can be compared with."""
    if run.ending.is_hung and run.ending.seconds < LEARNING_SECONDS_MAX:
        raise CannotHunt(TOO_SMALL_BUDGET)
    if run.ending.exit_code != 0:
        # The last line of a traceback is what the function has raised.
        last = "" if run.ending.raised else last_line(run.ending.output)
        raise CannotHunt(f"without a fault, the program {run.ending}{': ' if last else ''}{last}")
    if run.failed_check is not None:
        raise CannotHunt(f"without a fault, the check fails: {run.failed_check}")
    if not run.is_journal_whole:
        raise CannotHunt(f"the program sends more requests than a plan is made of: set a greater {KEPT_BY}")


def _check_group(faultless: Run, group: str, *, is_processed: bool) -> None:
    """Raise CannotHunt for a group that a run without faults shows nothing of."""
    verdict = faultless.groups.get(group)
    if verdict is None or not any(partition.delivered for partition in verdict.partitions):
        known = ", ".join(faultless.groups)
        raise CannotHunt(f"the program got no record as group {group}" + (f"; its groups: {known}" if known else ""))
    if is_processed and all(partition.processed_from == "commits" for partition in verdict.partitions):
        raise CannotHunt(f"the program reported nothing that group {group} has processed")
