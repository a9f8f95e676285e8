"""What broke the program, made as small as it gets, and repeated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from .judgement import Judgement, Outcome
from .plan import Trial
from .result import Finding, Tried

CONFIRMING_RUNS = 3
# Of the trials that break a program in the same way, how many are repeated to find one that always does.
CANDIDATES_MAX = 3

# Runs a trial with so many seconds, and judges it.
Attempt = Callable[[Trial, float], Judgement]


def alike_of(tried: Sequence[Tried]) -> list[list[Tried]]:
    """Return the trials that broke the program: in one list those that did it in the same way, at the same APIs."""
    found: dict[object, list[Tried]] = {}
    for each in tried:
        if each.judgement.is_finding:
            apis = frozenset(target.api for _, target in each.trial.faults)
            found.setdefault((each.judgement.outcome, each.judgement.kinds, apis), []).append(each)
    return list(found.values())


def confirmed(alike: Sequence[Tried], attempt: Attempt, is_slow: Callable[[Trial], bool]) -> Finding:
    """Shrink the first of the trials, and repeat it. One that depends on timing is left for another that does not.

    is_slow: whether a trial that did not end in time ends when it has more.
    """
    found: list[Finding] = []
    for each in alike[:CANDIDATES_MAX]:
        trial, seconds = shrunk(each, attempt), each.timeout_seconds
        is_hung = each.judgement.outcome is Outcome.HUNG
        if is_hung and trial != each.trial and is_slow(trial):
            trial = each.trial
        judgements = [attempt(trial, seconds) for _ in range(CONFIRMING_RUNS)]
        same = [judgement for judgement in judgements if _is_same(judgement, each.judgement)]
        others = [other.trial for other in alike if other is not each]
        # The shrunk trial may break other events than the one that was found. What hangs had more time before.
        judgement = same[-1] if same and not is_hung else each.judgement
        found.append(Finding(trial, judgement, seconds, len(same), CONFIRMING_RUNS, others))
        if found[-1].is_certain:
            break
    return max(found, key=lambda finding: finding.confirmed)


def unconfirmed(alike: Sequence[Tried]) -> Finding:
    """Return the first of the trials, not repeated."""
    first, *others = alike
    return Finding(first.trial, first.judgement, first.timeout_seconds, 0, 0, [other.trial for other in others])


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
