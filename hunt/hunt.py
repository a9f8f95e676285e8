"""The hunt: learn, try, confirm."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace

from .errors import CannotHunt
from .judgement import Judgement, Promise, differences, judge
from .plan import Trial, plan_of, targets_of
from .program import Program
from .run import Run, Setting, run_once

# A run without faults is done so often: a program that differs by itself cannot be judged.
LEARNING_RUNS = 2
CONFIRMING_RUNS = 3
# Of the run without faults; and what a program gets at least, because clients wait seconds before they send again.
TIMEOUT_FACTOR = 5
TIMEOUT_SECONDS_MIN = 10.0
LEARNING_SECONDS_MAX = 300.0


@dataclass(frozen=True, slots=True)
class Budget:
    """When a hunt ends before all trials were done. None: no limit."""

    seconds: float | None = None
    trials: int | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """How to hunt. jobs: runs at a time. timeout_seconds: of a run with faults; None for one by the run without."""

    setting: Setting
    promise: Promise = Promise.EXACTLY_ONCE
    budget: Budget = field(default_factory=Budget)
    jobs: int = 1
    timeout_seconds: float | None = None


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


# Called after each trial: the trial, how many are done and planned, and how many were findings.
Progress = Callable[[Tried, int, int, int], None]


def hunt(program: Program, options: Options, progress: Progress | None = None) -> Result:
    """Run the program with each fault that it can meet. Raises CannotHunt.

    KeyboardInterrupt during the trials ends them; the result has those that were done.
    """
    begin = time.monotonic()
    faultless = learn(program, options.setting)
    timeout = timeout_of(options, faultless)
    trials = plan_of(targets_of(faultless.requests))

    def attempt(trial: Trial) -> Judgement:
        return judge(run_once(program, options.setting, trial.rules, timeout), faultless, options.promise)

    tried: list[Tried] = []
    findings: list[Finding] = []
    is_stopped = False
    found = 0
    try:
        for each in _each(attempt, trials, options, begin):
            tried.append(each)
            found += each.judgement.is_finding
            if progress is not None:
                progress(each, len(tried), len(trials), found)
        # With several jobs they end in another order.
        places = {id(trial): place for place, trial in enumerate(trials)}
        tried.sort(key=lambda each: places[id(each.trial)])
        for alike in alike_of(tried):
            findings.append(_confirmed(alike, attempt))
    except KeyboardInterrupt:
        is_stopped = True
        findings += [_unconfirmed(alike) for alike in alike_of(tried)[len(findings) :]]
    return Result(faultless, timeout, len(trials), tried, findings, time.monotonic() - begin, is_stopped)


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
            last = run.ending.output.strip().splitlines()[-1:]
            raise CannotHunt(f"without a fault, the program {how}{': ' if last else ''}{''.join(last)}")
    for other in runs[1:]:
        different = differences(runs[0], other)
        if different:
            raise CannotHunt(f"without a fault, two runs of the program differ: {'; '.join(different)}")
    if not any(content.events for content in runs[0].topics.values()):
        raise CannotHunt(f"the program wrote no event to {', '.join(setting.topics)}")
    return runs[0]


def _each(
    attempt: Callable[[Trial], Judgement], trials: Sequence[Trial], options: Options, begin: float
) -> Iterator[Tried]:
    """Yield each trial when it is done, until the budget is spent."""
    budget = options.budget
    left = iter(trials[: budget.trials])
    running: dict[Future[Judgement], Trial] = {}
    with ThreadPoolExecutor(options.jobs, thread_name_prefix="hunt") as pool:
        while True:
            is_time_over = budget.seconds is not None and time.monotonic() - begin > budget.seconds
            while not is_time_over and len(running) < options.jobs and (trial := next(left, None)) is not None:
                running[pool.submit(attempt, trial)] = trial
            if not running:
                return
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield Tried(running.pop(future), future.result())


def _confirmed(alike: Sequence[Tried], attempt: Callable[[Trial], Judgement]) -> Finding:
    """Repeat the first of the trials."""
    confirmed = sum(attempt(alike[0].trial).is_finding for _ in range(CONFIRMING_RUNS))
    return replace(_unconfirmed(alike), confirmed=confirmed, runs=CONFIRMING_RUNS)


def _unconfirmed(alike: Sequence[Tried]) -> Finding:
    first, *others = alike
    return Finding(first.trial, first.judgement, 0, 0, [other.trial for other in others])
