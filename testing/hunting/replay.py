"""A finding once more: the program without faults, and with the rules of the finding."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple, Unpack

from ...faults.rules.fault_rules import FaultRule
from ...faults.strict_json import convert
from ..errors import CallError
from .arguments import How, options_of
from .budget import Budget
from .errors import CannotHunt
from .evidence import evidence_of
from .functions import CheckFunction, Function, PrepareFunction
from .judgement import Judgement, Outcome, judge
from .learning import learn, timeout_of
from .options import Options
from .patience import PATIENT_SECONDS, slow
from .program import CheckCommand, Command, PrepareCommand, Program
from .run import Check, run_once

if TYPE_CHECKING:
    from ..broker import Broker

CommandOrFunction = Sequence[str] | Callable[["Broker"], object]


class Replayed(NamedTuple):
    """The judgement of a run, with its evidence, and its timeline as HTML."""

    judgement: Judgement
    timeline: str


def replayed(program: Program, options: Options, rules: Sequence[FaultRule]) -> Replayed:
    """Run the program without faults, then with the rules, and return what came of it. Raises CannotHunt, OSError.

    Who names no timeout has a program that hangs run once more, with much time.
    """
    faultless = learn(program, options.setting).faultless

    def with_rules(seconds: float) -> Replayed:
        with TemporaryDirectory(prefix="fauxka-hunt-") as folder:
            report = Path(folder) / "run.html"
            try:
                run = run_once(program, options.setting, rules, seconds, report)
            except CallError as error:
                raise CannotHunt(f"the run with the rules cannot be read: {error}") from error
            judgement = judge(run, faultless, options.promise)
            if judgement.outcome is Outcome.NOT_JUDGED:
                raise CannotHunt(judgement.reasons[0])
            return Replayed(replace(judgement, evidence=evidence_of(run)), report.read_text("utf-8"))

    first = with_rules(timeout_of(options, faultless))
    if first.judgement.outcome is not Outcome.HUNG or options.timeout_seconds is not None:
        return first
    later = with_rules(PATIENT_SECONDS)
    return later._replace(judgement=slow(later.judgement))


def replay(
    program: CommandOrFunction,
    rules: Sequence[Mapping[str, object]],
    *,
    before: CommandOrFunction | None = None,
    check: CommandOrFunction | None = None,
    **how: Unpack[How],
) -> Judgement:
    """Run a program with fault rules, as a hunt did, and return the judgement: is_finding if it breaks its promise.

    program: a command, or a function that gets the broker. rules: as JSON.
    before, check: run before the program, without faults, and after it. how: see How.
    Warns if no request of the program met a fault. Raises CannotHunt, BadHuntOption, and OSError if a command cannot be
    run.
    """
    options = options_of(how, _check_of(check), Budget())
    if before is not None:
        prepare = PrepareFunction(before) if callable(before) else PrepareCommand(before)
        options = replace(options, setting=replace(options.setting, prepare=prepare))
    hunted = Function(program) if callable(program) else Command(program)
    judgement = replayed(hunted, options, [convert(rule, FaultRule) for rule in rules]).judgement
    if judgement.outcome is Outcome.NOT_MET:
        warnings.warn("no request met a fault: the program sends others now, so hunt it again", stacklevel=2)
    return judgement


def _check_of(check: CommandOrFunction | None) -> Check | None:
    if check is None:
        return None
    return CheckFunction(check) if callable(check) else CheckCommand(check)
