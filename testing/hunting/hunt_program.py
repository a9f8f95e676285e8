"""The hunt: learn, try, confirm, shrink.

First each fault alone, most telling first; then, while the budget lasts, pairs of faults that the program has survived
alone, drawn by the seed. What breaks the program is shrunk to the faults that are needed.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from math import inf

from .changes import change_of
from .earlier import Earlier
from .errors import StoppedEarly
from .judgement import Outcome
from .learning import learn
from .options import Options
from .plan import Trial, plan_of
from .program import Program, ProgramUntil
from .progress import Learning, ShowProgress
from .result import Result, Tried
from .trying import Trying

# Two faults tell something new only if the program survives each of them.
_SURVIVED = (Outcome.HELD, Outcome.ERROR)


def hunt_program(
    program: Program, options: Options, show: ShowProgress | None = None, earlier: Earlier | None = None
) -> Result:
    """Run the program with each fault that it can meet. Raises CannotHunt.

    show: called after each trial. earlier: what is not done again, and is in the result.
    KeyboardInterrupt during the trials ends them; the result has those that were done.
    """
    begin = time.monotonic()
    if show is not None:
        show(Learning())
    try:
        faultless, targets = learn(ProgramUntil(program, begin + (options.budget.seconds or inf)), options.setting)
    except KeyboardInterrupt:
        raise StoppedEarly("stopped while the program ran without faults") from None
    trying = Trying(program, options, faultless, begin, show)
    if earlier is not None:
        trying.go_on_from(earlier)
    late_ms = round(trying.timeout / 2 * 1000)
    trials = [
        trial
        for trial in plan_of(targets, options.setting.broker.nodes, late_ms)
        if all(options.faults.has(fault) for fault, _ in trial.faults)
    ]
    is_stopped = False
    try:
        with trying.running():
            trying.try_all(trials)
            most = len(trials) if options.pairs is None else options.pairs
            if trying.can_go_on:
                trying.try_all(pairs_of(trying.tried, most, options.seed))
            trying.finish()
            trying.check_judged()
    except KeyboardInterrupt:
        is_stopped = True
    return Result(faultless, trying.planned, trying.tried, trying.findings, time.monotonic() - begin, is_stopped)


def pairs_of(tried: Sequence[Tried], most: int, seed: int) -> list[Trial]:
    """Return pairs of faults at different requests that the program has survived alone."""
    singles = [each for each in tried if len(each.trial.faults) == 1]
    survived = [each.trial for each in singles if each.judgement.outcome in _SURVIVED and _is_paired(each.trial)]
    count = len(survived)
    chosen = random.Random(seed)
    pairs: dict[frozenset[int], Trial] = {}
    # Of few faults there may be fewer pairs than wanted.
    for _ in range(4 * most):
        if len(pairs) == most or count < 2:
            break
        first, second = sorted(chosen.sample(range(count), 2))
        faults = [*survived[first].faults, *survived[second].faults]
        if len({target for _, target in faults}) == len(faults):
            pairs.setdefault(frozenset((first, second)), Trial(faults))
    return list(pairs.values())


def _is_paired(trial: Trial) -> bool:
    changes = [change_of(rule) for rule in trial.rules]
    return all(change is None or change.is_paired for change in changes)
