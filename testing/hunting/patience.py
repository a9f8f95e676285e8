"""How long a run may take: a client that waits a minute for a response is slow, and not hung.

- Of trials of one kind, with the same faults at the same APIs, the first that does not end before the timeout goes on
  beside the others, for PATIENT_SECONDS at most. All faults after which a request has no response are of one kind: the
  client waits for it.
- Trials of the same kind that have hung as well are judged by what that one does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...faults.action_declaration import Response
from .finding import Tried
from .judgement import Judgement, Outcome
from .plan import Trial

# Longer than clients wait by default: a consumer waits max.poll.interval.ms, 300 s, for the response of a JoinGroup.
PATIENT_SECONDS = 330.0
# The client waits: for a response that does not come, or for one that it recognises.
_WAITED_FOR = (Response.NONE, Response.DAMAGED)
SLOW = Judgement(Outcome.SLOW, ("the program ended, but only after the timeout",))
_MAY_COME = {"missing", "skipped", "not processed", "state"}
_UNFINISHED = "the program did not end within {seconds:.0f} s, when the budget was spent"
_ENDED_AGAIN = "the program did not end within {seconds:.0f} s, and ended in {runs} more runs"


def kind_of_wait(trial: Trial) -> object:
    """Return what is equal for trials after which the program waits for the same."""
    return frozenset(
        ("no response" if fault.action.response in _WAITED_FOR else fault.name, target.api)
        for fault, target in trial.faults
    )


def unfinished(judgement: Judgement, seconds: float) -> Judgement:
    """Return the judgement of a run that was ended after so many seconds, because the budget was spent.

    What is there twice or out of order stays so; what is missing, or the last event of a key, may come.
    """
    if judgement.kinds - _MAY_COME:
        return judgement
    return Judgement(Outcome.UNFINISHED, (_UNFINISHED.format(seconds=seconds),), hits=judgement.hits)


def ended_again(hung: Tried, runs: int) -> Tried:
    """Return the trial that did not end before its timeout, and did in so many more runs.

    On a busy machine a program needs longer; so this is no finding.
    """
    text = _ENDED_AGAIN.format(seconds=hung.timeout_seconds, runs=runs)
    return replace(hung, judgement=Judgement(Outcome.UNFINISHED, (text,), hits=hung.judgement.hits))


def slow(judgement: Judgement) -> Judgement:
    """Return the judgement of a run that has ended after its timeout, and kept its promise or reported an error."""
    if judgement.outcome not in (Outcome.HELD, Outcome.ERROR):
        return judgement
    return replace(judgement, outcome=SLOW.outcome, reasons=SLOW.reasons)


def told_apart(tried: Sequence[Tried]) -> list[Tried]:
    """Return the trials. Those that hung have the outcome of the one of their kind that had more time."""
    patient = {kind_of_wait(each.trial): each for each in tried if each.timeout_seconds >= PATIENT_SECONDS}
    return [_judged_as(each, patient.get(kind_of_wait(each.trial))) for each in tried]


def _judged_as(each: Tried, patient: Tried | None) -> Tried:
    if each.judgement.outcome is not Outcome.HUNG or patient is None or each is patient:
        return each
    outcome = patient.judgement.outcome
    if outcome is Outcome.HUNG:
        return each
    if outcome in (Outcome.UNFINISHED, Outcome.NOT_JUDGED):
        return replace(each, judgement=replace(patient.judgement, hits=each.judgement.hits))
    return replace(each, judgement=replace(SLOW, hits=each.judgement.hits))
