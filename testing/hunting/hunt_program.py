"""The hunt: learn, try, confirm, shrink.

First each fault alone, most telling first; then, while the budget lasts, pairs of faults that the program has survived
alone (pairs.py). What breaks the program is shrunk to the faults that are needed.
"""

from __future__ import annotations

import time
from math import inf

from .earlier import Earlier
from .errors import StoppedEarly
from .learning import learn
from .options import Options
from .pairs import pairs_of
from .plan import plan_of
from .program import Program, ProgramUntil
from .progress import Learning, ShowProgress
from .result import Result
from .trying import Trying


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
        faultless, targets, in_flight = learn(
            ProgramUntil(program, begin + (options.budget.seconds or inf)), options.setting
        )
    except KeyboardInterrupt:
        raise StoppedEarly("stopped while the program ran without faults") from None
    trying = Trying(program, options, faultless, begin, show)
    if earlier is not None:
        trying.go_on_from(earlier)
    late_ms = round(trying.timeout / 2 * 1000)
    trials = [
        trial
        for trial in plan_of(targets, options.setting.broker.nodes, late_ms)
        if all(options.has(fault) for fault, _ in trial.faults)
    ]
    is_stopped = False
    try:
        with trying.running():
            trying.try_all(trials)
            most = len(trials) if options.pairs is None else options.pairs
            if trying.can_go_on:
                trying.try_all(pairs_of(trying.tried, in_flight, most, options.seed))
            trying.finish()
            trying.check_judged()
    except KeyboardInterrupt:
        is_stopped = True
    seconds = time.monotonic() - begin
    return Result(program, options, faultless, trying.planned, trying.tried, trying.findings, seconds, is_stopped)
