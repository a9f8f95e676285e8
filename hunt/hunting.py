"""The hunt: learn, try, confirm, shrink.

First each fault alone, most telling first; then, while the budget lasts, pairs of faults that the program has survived
alone, drawn by the seed. A pair that breaks it is shrunk to the faults that are needed.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace

from .budget import Budget
from .errors import CannotHunt
from .judgement import Judgement, Outcome, Promise, differences, judge
from .plan import Target, Trial, plan_of, targets_of
from .program import Program, last_line
from .run import Run, Setting, run_once

# A run without faults is done so often: a program that differs by itself cannot be judged.
LEARNING_RUNS = 2
CONFIRMING_RUNS = 3
# Of the trials that break a program in the same way, how many are repeated to find one that always does.
CANDIDATES_MAX = 3
# Of the run without faults; and what a program gets at least, because clients wait seconds before they send again.
TIMEOUT_FACTOR = 5
TIMEOUT_SECONDS_MIN = 10.0
LEARNING_SECONDS_MAX = 300.0
# Two faults tell something new only if the program survives each of them.
_SURVIVED = (Outcome.HELD, Outcome.ERROR)


@dataclass(frozen=True, slots=True)
class Options:
    """How to hunt.

    jobs: runs at a time. timeout_seconds: of a run with faults; None for one by the run without. pairs: how many pairs
    of faults are tried, at most; None for as many as there are faults. seed: of the choice of pairs.
    """

    setting: Setting
    promise: Promise = Promise.EXACTLY_ONCE
    budget: Budget = field(default_factory=Budget)
    jobs: int = 1
    timeout_seconds: float | None = None
    pairs: int | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Tried:
    """A trial with its judgement."""

    trial: Trial
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class Finding:
    """A trial after which the program did not do what it promises.

    confirmed: how many of `runs` more runs said so too. others: trials that broke it in the same way, at the same API.
    """

    trial: Trial
    judgement: Judgement
    confirmed: int
    runs: int
    others: Sequence[Trial] = ()

    @property
    def is_certain(self) -> bool:
        """Whether every run with these faults broke the program."""
        return self.confirmed == self.runs


@dataclass(frozen=True, slots=True)
class Result:
    """What a hunt found. planned: the trials that there were; is_stopped: whether a person ended it."""

    faultless: Run
    timeout_seconds: float
    planned: int
    tried: Sequence[Tried]
    findings: Sequence[Finding]
    seconds: float
    is_stopped: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a hunt is, after `last`. seconds: since its begin. seconds_left: of the trials planned so far."""

    last: Tried
    done: int
    planned: int
    found: int
    seconds: float
    seconds_left: float


ShowProgress = Callable[[Progress], None]
Attempt = Callable[[Trial], Judgement]


def hunt_program(program: Program, options: Options, show: ShowProgress | None = None) -> Result:
    """Run the program with each fault that it can meet. show: called after each trial. Raises CannotHunt.

    KeyboardInterrupt during the trials ends them; the result has those that were done.
    """
    begin = time.monotonic()
    faultless = learn(program, options.setting)
    timeout = timeout_of(options, faultless)

    def attempt(trial: Trial) -> Judgement:
        return judge(run_once(program, options.setting, trial.rules, timeout), faultless, options.promise)

    trials = plan_of(targets_of(faultless.requests), options.setting.broker.nodes)
    trying = _Trying(attempt, options, begin, show)
    findings: list[Finding] = []
    is_stopped = False
    try:
        trying.try_all(trials)
        if not trying.is_budget_spent:
            trying.try_all(
                pairs_of(trying.tried, len(trials) if options.pairs is None else options.pairs, options.seed)
            )
        for alike in alike_of(trying.tried):
            findings.append(_confirmed(alike, attempt))
    except KeyboardInterrupt:
        is_stopped = True
        findings += [_unconfirmed(alike) for alike in alike_of(trying.tried)[len(findings) :]]
    return Result(faultless, timeout, trying.planned, trying.tried, findings, time.monotonic() - begin, is_stopped)


def pairs_of(tried: Sequence[Tried], most: int, seed: int) -> list[Trial]:
    """Return pairs of faults at different requests that the program has survived alone."""
    survived = [each.trial for each in tried if each.judgement.outcome in _SURVIVED]
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


class _Trying:
    """The trials that were done. planned: how many there are, those that the budget does not allow included."""

    def __init__(self, attempt: Attempt, options: Options, begin: float, show: ShowProgress | None) -> None:
        self._attempt = attempt
        self._jobs = options.jobs
        self._budget = options.budget
        self._begin = begin
        self._show = show
        self.tried: list[Tried] = []
        self.planned = 0
        self._found = 0

    @property
    def is_budget_spent(self) -> bool:
        """Whether no other trial may start."""
        return self._budget.is_spent(time.monotonic() - self._begin, len(self.tried))

    def try_all(self, trials: Sequence[Trial]) -> None:
        """Do the trials, as many as the budget allows, and keep them in their order."""
        self.planned += len(trials)
        before = len(self.tried)
        for each in self._each(trials):
            self.tried.append(each)
            self._found += each.judgement.is_finding
            if self._show is not None:
                self._show(self._progress())
        # With several jobs they end in another order.
        places = {id(trial): place for place, trial in enumerate(trials)}
        self.tried[before:] = sorted(self.tried[before:], key=lambda each: places[id(each.trial)])

    def _progress(self) -> Progress:
        seconds, done = time.monotonic() - self._begin, len(self.tried)
        left = self._budget.seconds_left(seconds, done, self.planned)
        return Progress(self.tried[-1], done, self.planned, self._found, seconds, left)

    def _each(self, trials: Sequence[Trial]) -> Iterator[Tried]:
        """Yield each trial when it is done, until the budget is spent."""
        left = iter(trials)
        running: dict[Future[Judgement], Trial] = {}
        with ThreadPoolExecutor(self._jobs, thread_name_prefix="hunt") as pool:
            while True:
                while len(running) < self._jobs and self._may_start(len(running)):
                    trial = next(left, None)
                    if trial is None:
                        break
                    running[pool.submit(self._attempt, trial)] = trial
                if not running:
                    return
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    yield Tried(running.pop(future), future.result())

    def _may_start(self, running: int) -> bool:
        return not self._budget.is_spent(time.monotonic() - self._begin, len(self.tried) + running)


def alike_of(tried: Sequence[Tried]) -> list[list[Tried]]:
    """Return the trials that broke the program: in one list those that did it in the same way, at the same APIs."""
    found: dict[object, list[Tried]] = {}
    for each in tried:
        if each.judgement.is_finding:
            apis = frozenset(target.api for _, target in each.trial.faults)
            found.setdefault((each.judgement.outcome, each.judgement.kinds, apis), []).append(each)
    return list(found.values())


def timeout_of(options: Options, faultless: Run) -> float:
    """Return the seconds that a run with faults may take."""
    if options.timeout_seconds is not None:
        return options.timeout_seconds
    return max(TIMEOUT_SECONDS_MIN, TIMEOUT_FACTOR * faultless.ending.seconds)


def learn(program: Program, setting: Setting) -> Run:
    """Run the program without faults. Raises CannotHunt if it fails, or differs from run to run."""
    runs = [run_once(program, setting, [], LEARNING_SECONDS_MAX) for _ in range(LEARNING_RUNS)]
    for run in runs:
        if run.ending.exit_code != 0:
            how = "did not end" if run.ending.is_hung else f"ended with exit code {run.ending.exit_code}"
            last = last_line(run.ending.output)
            raise CannotHunt(f"without a fault, the program {how}{': ' if last else ''}{last}")
        if run.failed_check is not None:
            raise CannotHunt(f"without a fault, the check fails: {run.failed_check}")
    for other in runs[1:]:
        different = differences(runs[0], other)
        if different:
            raise CannotHunt(f"without a fault, two runs of the program differ: {'; '.join(different)}")
    if setting.topics and not any(content.events for content in runs[0].topics.values()):
        raise CannotHunt(f"the program wrote no event to {', '.join(setting.topics)}")
    return runs[0]


def _confirmed(alike: Sequence[Tried], attempt: Attempt) -> Finding:
    """Shrink the first of the trials, and repeat it. One that depends on timing is left for another that does not."""
    found: list[Finding] = []
    for each in alike[:CANDIDATES_MAX]:
        trial = shrunk(each, attempt)
        confirmed = sum(attempt(trial).is_finding for _ in range(CONFIRMING_RUNS))
        others = [other.trial for other in alike if other is not each]
        found.append(Finding(trial, each.judgement, confirmed, CONFIRMING_RUNS, others))
        if found[-1].is_certain:
            break
    return max(found, key=lambda finding: finding.confirmed)


def _unconfirmed(alike: Sequence[Tried]) -> Finding:
    first, *others = alike
    return Finding(first.trial, first.judgement, 0, 0, [other.trial for other in others])


def shrunk(found: Tried, attempt: Attempt) -> Trial:
    """Return the smallest trial that breaks the program as this one does: no fault less, and none at a later request.

    The result is 1-minimal, as of delta debugging: without any of its faults the program is not broken.
    """
    trial = found.trial
    if len(trial.faults) == 1:
        # The faults of a single trial at earlier requests were tried before it.
        return trial

    def breaks(smaller: Trial) -> bool:
        judgement = attempt(smaller)
        return (judgement.outcome, judgement.kinds) == (found.judgement.outcome, found.judgement.kinds)

    place = 0
    while place < len(trial.faults) > 1:
        smaller = Trial([*trial.faults[:place], *trial.faults[place + 1 :]])
        if breaks(smaller):
            trial = smaller
        else:
            place += 1
    for place, (fault, target) in enumerate(trial.faults):
        if target.ordinal:
            earlier = Trial([*trial.faults[:place], (fault, _first_of(target)), *trial.faults[place + 1 :]])
            if breaks(earlier):
                trial = earlier
    return trial


def _first_of(target: Target) -> Target:
    return replace(target, ordinal=0)
