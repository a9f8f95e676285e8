"""The hunt: learn, try, confirm, shrink.

First each fault alone, most telling first; then, while the budget lasts, pairs of faults that the program has survived
alone, drawn by the seed. A trial that hung runs once more with much time, because it may only be slow. A pair that
breaks the program is shrunk to the faults that are needed.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from ..errors import CallError
from .changes import change_of
from .confirming import alike_of, confirmed, unconfirmed
from .errors import BadHuntOption, CannotHunt, StoppedEarly
from .judgement import Judgement, Outcome, judge
from .learning import learn, timeout_of
from .options import Options
from .patience import PATIENT_SECONDS, first_hung, told_apart
from .plan import Trial, plan_of
from .program import Program, Stoppable
from .result import Finding, Result, Tried
from .run import Run, run_once

# Two faults tell something new only if the program survives each of them.
_SURVIVED = (Outcome.HELD, Outcome.ERROR)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a hunt is, after `last`. seconds: since its begin. seconds_left: of the trials planned so far."""

    last: Tried
    done: int
    planned: int
    found: int
    seconds: float
    seconds_left: float


class Waiting(NamedTuple):
    """A hunt waits for trials that have hung, which have more time now. seconds: at most, if they all hang again."""

    trials: int
    seconds: float


class Confirming(NamedTuple):
    """A hunt repeats what broke the program."""

    findings: int


Stage = Progress | Waiting | Confirming
ShowProgress = Callable[[Stage], None]


def hunt_program(program: Program, options: Options, show: ShowProgress | None = None) -> Result:
    """Run the program with each fault that it can meet. show: called after each trial. Raises CannotHunt.

    KeyboardInterrupt during the trials ends them; the result has those that were done.
    """
    begin = time.monotonic()
    try:
        faultless, targets = learn(program, options.setting)
    except KeyboardInterrupt:
        raise StoppedEarly("stopped while the program ran without faults") from None
    trying = _Trying(program, options, faultless, begin, show)
    late_ms = round(trying.timeout / 2 * 1000)
    trials = plan_of(targets, options.setting.broker.nodes, late_ms)
    findings: list[Finding] = []
    is_stopped = False
    try:
        trying.try_all(trials)
        if not trying.is_budget_spent:
            most = len(trials) if options.pairs is None else options.pairs
            trying.try_all(pairs_of(trying.tried, most, options.seed))
        trying.check_judged()
        rows = alike_of(trying.tried)
        if rows and show is not None:
            show(Confirming(len(rows)))
        for alike in rows:
            findings.append(confirmed(alike, trying.attempt, trying.is_slow))
    except KeyboardInterrupt:
        is_stopped = True
        findings += [unconfirmed(alike) for alike in alike_of(trying.tried)[len(findings) :]]
    return Result(faultless, trying.planned, trying.tried, findings, time.monotonic() - begin, is_stopped)


def pairs_of(tried: Sequence[Tried], most: int, seed: int) -> list[Trial]:
    """Return pairs of faults at different requests that the program has survived alone."""
    survived = [each.trial for each in tried if each.judgement.outcome in _SURVIVED and _is_paired(each.trial)]
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


class _Trying:
    """The trials that were done. planned: their number, with those that the budget does not allow."""

    def __init__(
        self, program: Program, options: Options, faultless: Run, begin: float, show: ShowProgress | None
    ) -> None:
        self._program = program
        self._options = options
        self._faultless = faultless
        self.timeout = timeout_of(options, faultless)
        self._begin = begin
        self._show = show
        self.tried: list[Tried] = []
        self.planned = 0

    def attempt(self, trial: Trial, seconds: float) -> Judgement:
        """Run a trial, which has so many seconds. One that fails, and not by the program, ends only itself."""
        try:
            run = run_once(self._program, self._options.setting, trial.rules, seconds)
        except (BadHuntOption, CallError, CannotHunt, OSError) as error:
            return Judgement(Outcome.NOT_JUDGED, (str(error),))
        return judge(run, self._faultless, self._options.promise)

    def is_slow(self, trial: Trial) -> bool:
        """Whether a trial that did not end before the timeout ends when it has more time."""
        # Who names a timeout says what hangs.
        if self._options.timeout_seconds is not None:
            return False
        return self.attempt(trial, PATIENT_SECONDS).outcome is not Outcome.HUNG

    def check_judged(self) -> None:
        """Raise CannotHunt if no trial tells anything of the program."""
        if not self.planned:
            raise CannotHunt(
                "the program sent no request that a fault can be at: does it use the address of the broker?"
            )
        if not self.tried:
            raise CannotHunt("the runs without faults took all of the budget: allow more")
        outcomes = {each.judgement.outcome for each in self.tried}
        if outcomes == {Outcome.NOT_JUDGED}:
            raise CannotHunt(f"no trial could be judged: {self.tried[0].judgement.reasons[0]}")
        if outcomes <= {Outcome.NOT_JUDGED, Outcome.NOT_MET}:
            raise CannotHunt("no fault was met: the program sends other requests in each run")

    @property
    def is_budget_spent(self) -> bool:
        """Whether no other trial may start."""
        return self._options.budget.is_spent(time.monotonic() - self._begin, len(self.tried))

    def try_all(self, trials: Sequence[Trial]) -> None:
        """Do the trials, as many as the budget allows, and keep them in their order."""
        self.planned += len(trials)
        before = len(self.tried)
        for each in self._each(trials):
            self.tried.append(each)
            if self._show is not None:
                self._show(self._progress())
        # With several jobs they end in another order.
        order = {id(trial): index for index, trial in enumerate(trials)}
        self.tried[before:] = sorted(self.tried[before:], key=lambda each: order[id(each.trial)])
        # Who names a timeout says what hangs.
        hung = first_hung(self.tried[before:]) if self._options.timeout_seconds is None else []
        if not hung:
            return
        if self._show is not None:
            rounds = -(-len(hung) // self._options.jobs)
            self._show(Waiting(len(hung), rounds * PATIENT_SECONDS))
        with self._pool(self._options.jobs) as pool:
            self.tried[before:] = told_apart(self.tried[before:], hung, self.attempt, pool)

    @contextmanager
    def _pool(self, jobs: int) -> Generator[ThreadPoolExecutor]:
        """Yield a pool for runs. A person who stops the hunt does not wait for those that have begun."""
        with ThreadPoolExecutor(jobs, thread_name_prefix="hunt") as pool:
            try:
                yield pool
            except BaseException:
                setting = self._options.setting
                for each in (self._program, setting.prepare, setting.check):
                    if isinstance(each, Stoppable):
                        each.stop()
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _progress(self) -> Progress:
        seconds, done = time.monotonic() - self._begin, len(self.tried)
        left = self._options.budget.seconds_left(seconds, done, self.planned)
        found = sum(each.judgement.is_finding for each in self.tried)
        return Progress(self.tried[-1], done, self.planned, found, seconds, left)

    def _each(self, trials: Sequence[Trial]) -> Iterator[Tried]:
        """Yield each trial when it is done, until the budget is spent."""
        left = iter(trials)
        running: dict[Future[Judgement], Trial] = {}
        with self._pool(self._options.jobs) as pool:
            while True:
                while len(running) < self._options.jobs and self._may_start(len(running)):
                    trial = next(left, None)
                    if trial is None:
                        break
                    running[pool.submit(self.attempt, trial, self.timeout)] = trial
                if not running:
                    return
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    yield Tried(running.pop(future), future.result(), self.timeout)

    def _may_start(self, running: int) -> bool:
        return not self._options.budget.is_spent(time.monotonic() - self._begin, len(self.tried) + running)
