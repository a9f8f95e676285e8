"""A finding once more: the program without faults, and with the rules of the finding."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Unpack

from ...faults.rules.fault_rules import FaultRule
from ...faults.strict_json import convert
from ..errors import CallError
from .arguments import How, options_of
from .budget import Budget
from .errors import CannotHunt
from .judgement import Judgement, Outcome, judge
from .learning import learn, timeout_of
from .options import Options
from .patience import PATIENT_SECONDS, SLOW
from .program import CheckCommand, Command, PrepareCommand, Program
from .run import run_once


def replay(program: Program, options: Options, rules: Sequence[FaultRule]) -> Judgement:
    """Run the program without faults, then with the rules, and return the judgement. Raises CannotHunt, OSError.

    Who names no timeout has a program that hangs run once more, with much time.
    """
    faultless = learn(program, options.setting).faultless

    def judged(seconds: float) -> Judgement:
        try:
            run = run_once(program, options.setting, rules, seconds)
        except CallError as error:
            raise CannotHunt(f"the run with the rules cannot be read: {error}") from error
        judgement = judge(run, faultless, options.promise)
        if judgement.outcome is Outcome.NOT_JUDGED:
            raise CannotHunt(judgement.reasons[0])
        return judgement

    judgement = judged(timeout_of(options, faultless))
    if judgement.outcome is not Outcome.HUNG or options.timeout_seconds is not None:
        return judgement
    later = judged(PATIENT_SECONDS)
    return later if later.is_finding else SLOW


def assert_survives(
    command: Sequence[str],
    rules: Sequence[Mapping[str, object]],
    *,
    before: Sequence[str] | None = None,
    check: Sequence[str] | None = None,
    **how: Unpack[How],
) -> None:
    """Run a command with fault rules, as a hunt did, and raise AssertionError if it breaks its promise.

    rules: as JSON. before, check: commands that run before the command, without faults, and after it.
    how: see How. Warns if no request of the command met a fault. Raises CannotHunt, BadHuntOption, OSError if a command
    cannot be run.
    """
    options = options_of(how, None if check is None else CheckCommand(check), Budget())
    if before is not None:
        options = replace(options, setting=replace(options.setting, prepare=PrepareCommand(before)))
    judgement = replay(Command(command), options, [convert(rule, FaultRule) for rule in rules])
    assert not judgement.is_finding, "; ".join(judgement.reasons)
    if judgement.outcome is Outcome.NOT_MET:
        warnings.warn("no request met a fault: the program sends others now, so hunt it again", stacklevel=2)
