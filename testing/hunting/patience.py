"""Runs trials that hung once more, with much time: a client that waits a minute for a response is slow, and not hung.

Of the trials with the same faults at the same APIs one is run. All faults after which a request has no response are the
same here: the client waits for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from itertools import repeat

from ...faults.action_declaration import Response
from .confirming import Attempt
from .judgement import Judgement, Outcome
from .plan import Trial
from .result import Tried

# Longer than clients wait by default: a consumer waits max.poll.interval.ms, 300 s, for the response of a JoinGroup.
PATIENT_SECONDS = 330.0
# The client waits: for a response that does not come, or for one that it recognises.
_WAITED_FOR = (Response.NONE, Response.DAMAGED)
SLOW = Judgement(Outcome.SLOW, ("the program ended, but only after the timeout",))


def first_hung(tried: Sequence[Tried]) -> list[Tried]:
    """Return of the trials that hung one for each of their faults and APIs."""
    found: dict[object, Tried] = {}
    for each in tried:
        if each.judgement.outcome is Outcome.HUNG:
            found.setdefault(_kind_of(each.trial), each)
    return list(found.values())


def told_apart(tried: Sequence[Tried], again: Sequence[Tried], attempt: Attempt, pool: Executor) -> list[Tried]:
    """Return the trials, with another outcome for those that hung and end when they have more time.

    again: those that are run, in the pool, see first_hung.
    """
    judged = list(pool.map(attempt, [each.trial for each in again], repeat(PATIENT_SECONDS)))
    by_kind = {_kind_of(each.trial): judgement for each, judgement in zip(again, judged, strict=True)}
    were_run = {id(each) for each in again}
    return [_judged_again(each, by_kind, was_run=id(each) in were_run) for each in tried]


def _judged_again(each: Tried, by_kind: Mapping[object, Judgement], *, was_run: bool) -> Tried:
    later = by_kind.get(_kind_of(each.trial))
    if each.judgement.outcome is not Outcome.HUNG or later is None:
        return each
    if later.outcome is Outcome.HUNG:
        return replace(each, judgement=later) if was_run else each
    if later.outcome is Outcome.NOT_JUDGED:
        return replace(each, judgement=later)
    if later.outcome is Outcome.BROKEN and was_run:
        return replace(each, judgement=later, timeout_seconds=PATIENT_SECONDS)
    return replace(each, judgement=replace(SLOW, hits=each.judgement.hits))


def _kind_of(trial: Trial) -> object:
    return frozenset(
        ("no response" if fault.action.response in _WAITED_FOR else fault.name, target.api)
        for fault, target in trial.faults
    )
