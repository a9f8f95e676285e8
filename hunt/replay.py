"""A finding once more: the program without faults, and with the rules of the finding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Unpack

from ..faults.rules.fault_rules import FaultRule
from ..faults.strict_json import convert
from .arguments import How, options_of
from .budget import Budget
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
    faultless, _ = learn(program, options.setting)
    seconds = timeout_of(options, faultless)
    judgement = judge(run_once(program, options.setting, rules, seconds), faultless, options.promise)
    if judgement.outcome is not Outcome.HUNG or options.timeout_seconds is not None:
        return judgement
    later = judge(run_once(program, options.setting, rules, PATIENT_SECONDS), faultless, options.promise)
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
    how: see How. Raises CannotHunt, BadHuntOption, OSError if a command cannot be run.
    """
    options = options_of(how, None if check is None else CheckCommand(check), Budget())
    if before is not None:
        options = replace(options, setting=replace(options.setting, prepare=PrepareCommand(before)))
    judgement = replay(Command(command), options, [convert(rule, FaultRule) for rule in rules])
    assert not judgement.is_finding, "; ".join(judgement.reasons)
