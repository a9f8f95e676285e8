"""What broke the program, made as small as it gets, and repeated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from .judgement import Judgement
from .plan import Target, Trial
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


def confirmed(alike: Sequence[Tried], attempt: Attempt) -> Finding:
    """Shrink the first of the trials, and repeat it. One that depends on timing is left for another that does not."""
    found: list[Finding] = []
    for each in alike[:CANDIDATES_MAX]:
        trial, seconds = shrunk(each, attempt), each.timeout_seconds
        times = sum(attempt(trial, seconds).is_finding for _ in range(CONFIRMING_RUNS))
        others = [other.trial for other in alike if other is not each]
        found.append(Finding(trial, each.judgement, seconds, times, CONFIRMING_RUNS, others))
        if found[-1].is_certain:
            break
    return max(found, key=lambda finding: finding.confirmed)


def unconfirmed(alike: Sequence[Tried]) -> Finding:
    """Return the first of the trials, not repeated."""
    first, *others = alike
    return Finding(first.trial, first.judgement, first.timeout_seconds, 0, 0, [other.trial for other in others])


def shrunk(found: Tried, attempt: Attempt) -> Trial:
    """Return the smallest trial that breaks the program as this one does: no fault less, and none at a later request.

    The result is 1-minimal, as of delta debugging: without any of its faults the program is not broken.
    """
    trial = found.trial
    if len(trial.faults) == 1:
        # The faults of a single trial at earlier requests were tried before it.
        return trial

    def breaks(smaller: Trial) -> bool:
        judgement = attempt(smaller, found.timeout_seconds)
        return (judgement.outcome, judgement.kinds) == (found.judgement.outcome, found.judgement.kinds)

    index = 0
    while index < len(trial.faults) > 1:
        smaller = Trial([*trial.faults[:index], *trial.faults[index + 1 :]])
        if breaks(smaller):
            trial = smaller
        else:
            index += 1
    for index, (fault, target) in enumerate(trial.faults):
        if target.ordinal:
            earlier = Trial([*trial.faults[:index], (fault, _first_of(target)), *trial.faults[index + 1 :]])
            if breaks(earlier):
                trial = earlier
    return trial


def _first_of(target: Target) -> Target:
    return replace(target, ordinal=0)
