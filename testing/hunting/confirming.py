"""What broke the program, made as small as it gets, and repeated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from .finding import Finding, Tried
from .judgement import Judgement, Outcome
from .plan import Trial

CONFIRMING_RUNS = 3


@dataclass(frozen=True, slots=True)
class Repeated:
    """The judgement of a run, and its timeline as HTML."""

    judgement: Judgement
    timeline: str = ""


# Runs a trial with so many seconds, and judges it.
Attempt = Callable[[Trial, float], Judgement]
# Runs a trial so often with so many seconds each; the last argument tells whether it hangs.
Repeat = Callable[[Trial, float, int, bool], Sequence[Repeated]]


def confirmed(each: Tried, attempt: Attempt, repeat: Repeat, is_slow: Callable[[Trial], bool]) -> Finding:
    """Shrink a trial that broke the program, and repeat it.

    is_slow: whether a trial that did not end in time ends when it has more.
    """
    trial, seconds = shrunk(each, attempt), each.timeout_seconds
    is_hung = each.judgement.outcome is Outcome.HUNG
    if is_hung and trial != each.trial and is_slow(trial):
        trial = each.trial
    runs = [run for run in repeat(trial, seconds, CONFIRMING_RUNS, is_hung) if _is_whole(run)]
    same = [run for run in runs if _is_same(run.judgement, each.judgement)]
    # The shrunk trial may break other events than the one that was found. What hangs had more time before.
    judgement = same[-1].judgement if same and not is_hung else each.judgement
    timeline = (same or [Repeated(judgement)])[-1].timeline
    return Finding(trial, judgement, seconds, len(same), len(runs), timeline=timeline)


def _is_whole(run: Repeated) -> bool:
    return run.judgement.outcome is not Outcome.UNFINISHED


def shrunk(found: Tried, attempt: Attempt) -> Trial:
    """Return the smallest trial that breaks the program as this one does: no fault less, and each as early as it gets.

    The result is 1-minimal, as of delta debugging: without any of its faults the program is not broken. The requests
    are bisected, as if a fault at a later one broke the program too.
    """

    def breaks(smaller: Trial) -> bool:
        return _is_same(attempt(smaller, found.timeout_seconds), found.judgement)

    trial, index = found.trial, 0
    while index < len(trial.faults) > 1:
        smaller = Trial([*trial.faults[:index], *trial.faults[index + 1 :]])
        if breaks(smaller):
            trial = smaller
        else:
            index += 1
    for index in range(len(trial.faults)):
        trial = _at_earliest(trial, index, breaks)
    return trial


def _at_earliest(trial: Trial, index: int, breaks: Callable[[Trial], bool]) -> Trial:
    """Return the trial with one of its faults at the earliest request at which it breaks the program."""
    fault, target = trial.faults[index]
    low, high = 0, target.ordinal
    while low < high:
        middle = (low + high) // 2
        earlier = Trial([*trial.faults[:index], (fault, replace(target, ordinal=middle)), *trial.faults[index + 1 :]])
        if breaks(earlier):
            trial, high = earlier, middle
        else:
            low = middle + 1
    return trial


def _is_same(judgement: Judgement, found: Judgement) -> bool:
    """Return whether the program broke in the same way. With other timing it may break in one more."""
    if judgement.outcome is not found.outcome:
        return False
    return judgement.kinds == found.kinds or not judgement.kinds.isdisjoint(found.kinds)
