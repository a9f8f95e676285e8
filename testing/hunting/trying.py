"""Does the trials of a hunt, and repeats those that broke the program.

- `jobs` runs at a time. One that has not ended before the timeout makes room for the next, and goes on (patience.py).
- While a fault stays, a program that does not give up waits: after a short while it makes room, too.
- What broke the program is repeated at once; what hangs, when all others have ended.
- No run lasts longer than the budget. Only what is repeated may take a little more.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from ..errors import CallError
from . import patience
from .confirming import Repeated, confirmed
from .earlier import Earlier
from .errors import BadHuntOption, CannotHunt
from .finding import Finding, Tried
from .grouping import Groups
from .judgement import Judgement, Outcome, judge
from .learning import TOO_SMALL_BUDGET, timeout_of
from .options import Options
from .patience import ended_again, kind_of_wait, slow, told_apart, unfinished
from .plan import Trial
from .program import Program, ProgramUntil, Stoppable
from .progress import Confirming, Progress, ShowProgress
from .run import Run, run_once

# Of the budget: what is found in its last seconds is repeated.
_REPEATING_MORE = 1.03
# The runs that wait beside those that are done: they need memory, and nearly no time of the processor.
_WAITING_MAX = 32
# To start and to read a broker takes less, so a run that has ended in time is not taken for one that waits.
_BROKER_SECONDS_MAX = 2.0
_CUT_SECONDS_MIN = 0.05
_SPENT = "the budget was spent before the program met a fault: allow more; a run without faults took {:.1f} s"
_LATE = (Outcome.HUNG, Outcome.SLOW, Outcome.UNFINISHED)


class _Started(NamedTuple):
    """A run that has not ended. seconds: what it has at most."""

    trial: Trial
    began: float
    seconds: float


class Trying:
    """The trials that were done, in the order of the plan, and what was found.

    planned: the number of trials, with those that the budget does not allow. is_done: whether no other trial is wanted.
    """

    def __init__(
        self,
        program: Program,
        options: Options,
        faultless: Run,
        begin: float,
        show: ShowProgress | None = None,
    ) -> None:
        """begin: of the hunt, by time.monotonic(). show: called after each trial."""
        self._program = program
        self._options = options
        self._faultless = faultless
        self._begin = begin
        self._show = show
        self.timeout = timeout_of(options, faultless)
        self.tried: list[Tried] = []
        self._earlier_count = 0
        self._names: set[str] = set()
        self.planned = 0
        self.is_done = False
        self._order: dict[str, int] = {}
        self._running: dict[Future[Judgement], _Started] = {}
        self._pool: ThreadPoolExecutor | None = None
        self._groups = Groups()

    def go_on_from(self, earlier: Earlier) -> None:
        """Take over what an earlier hunt has done and found, before the first trial."""
        self.tried = list(earlier.tried)
        self._earlier_count = len(self.tried)
        self._names = {str(each.trial) for each in self.tried}
        for finding in earlier.findings:
            tried = Tried(finding.trial, finding.judgement, finding.timeout_seconds)
            self._groups.add(tried)
            if finding.runs:
                self._groups.add_repeated(tried, finding)

    @property
    def findings(self) -> list[Finding]:
        """What was found so far."""
        return self._groups.findings

    @property
    def can_go_on(self) -> bool:
        """Whether other trials may start."""
        return not self.is_done and not self._is_spent(0)

    @contextmanager
    def running(self) -> Generator[None]:
        """Allow runs within the block, and end those that go on at its end."""
        with ThreadPoolExecutor(self._options.jobs + _WAITING_MAX, thread_name_prefix="hunt") as self._pool:
            try:
                yield
                if self._running:
                    self._stop()
            except BaseException:
                self._stop()
                raise

    def try_all(self, trials: Sequence[Trial]) -> None:
        """Do the trials, as many as the budget allows. Those that wait may go on."""
        self._order |= {str(trial): len(self._order) + index for index, trial in enumerate(trials)}
        self.planned += len(trials)
        left = deque(trial for trial in trials if str(trial) not in self._names)
        postponed: deque[Trial] = deque()
        while True:
            while self._has_room() and (trial := self._next_of(left, postponed)) is not None:
                self._start(trial)
            if not self._busy_count():
                break
            self._take_ended()
        self._sort()

    def finish(self) -> None:
        """Wait for the runs that go on, and repeat what was not repeated yet."""
        while self._running and not self.is_done:
            self._take_ended()
        self._sort()
        # Who names a timeout says what hangs.
        if self._options.timeout_seconds is None:
            self.tried = told_apart(self.tried)
        for each in self.tried:
            if each.judgement.outcome is Outcome.HUNG:
                self._groups.add(each)
        while not self.is_done and (left := self._groups.not_repeated()):
            self._repeat(left[0])

    def check_judged(self) -> None:
        """Raise CannotHunt if no trial tells anything of the program."""
        if not self.planned:
            raise CannotHunt(
                "the program sent no request that a fault can be at: does it use the address of the broker?"
            )
        if not self.tried:
            raise CannotHunt(TOO_SMALL_BUDGET)
        outcomes = {each.judgement.outcome for each in self.tried}
        if outcomes == {Outcome.NOT_JUDGED}:
            raise CannotHunt(f"no trial could be judged: {self.tried[0].judgement.reasons[0]}")
        is_met = any(any(each.judgement.hits) for each in self.tried)
        if Outcome.UNFINISHED in outcomes and not is_met:
            raise CannotHunt(_SPENT.format(self._faultless.ending.seconds))
        if outcomes <= {Outcome.NOT_JUDGED, Outcome.NOT_MET}:
            raise CannotHunt("no fault was met: the program sends other requests in each run")

    # -- trials

    def _next_of(self, left: deque[Trial], postponed: deque[Trial]) -> Trial | None:
        """Return the next trial. One for which the program probably waits as for another before comes later."""
        waits = self._waits()
        while left:
            trial = left.popleft()
            if kind_of_wait(trial) not in waits:
                return trial
            postponed.append(trial)
        return postponed.popleft() if postponed else None

    def _waits(self) -> set[object]:
        """Return the kinds of the runs that go on, or that have not ended before the timeout."""
        late = [each.trial for each in self.tried if each.judgement.outcome in _LATE]
        return {kind_of_wait(trial) for trial in (*(each.trial for each in self._running.values()), *late)}

    def _start(self, trial: Trial) -> None:
        assert self._pool is not None, "trials are done within running()"
        is_patient = (
            self._options.timeout_seconds is None and not trial.stays and kind_of_wait(trial) not in self._waits()
        )
        seconds = patience.PATIENT_SECONDS if is_patient else self.timeout
        future = self._pool.submit(self._attempt, trial, seconds, self._end)
        self._running[future] = _Started(trial, time.monotonic(), seconds)

    def _has_room(self) -> bool:
        is_free = self._busy_count() < self._options.jobs and len(self._running) < self._options.jobs + _WAITING_MAX
        return is_free and not self.is_done and not self._is_spent(len(self._running))

    def _is_spent(self, running: int) -> bool:
        count = len(self.tried) - self._earlier_count + running
        return self._options.budget.is_spent(time.monotonic() - self._begin, count)

    def _busy_count(self) -> int:
        """Return how many runs have not waited so long that others may start."""
        return sum(self._busy_seconds(each) > 0 for each in self._running.values())

    def _busy_seconds(self, started: _Started) -> float:
        seconds = 0.0 if started.trial.stays else self.timeout
        return started.began + seconds + _BROKER_SECONDS_MAX - time.monotonic()

    def _take_ended(self) -> None:
        """Wait until a run ends, or makes room, and keep those that have ended."""
        busy = [seconds for each in self._running.values() if (seconds := self._busy_seconds(each)) > 0]
        done, _ = wait(self._running, timeout=min(busy, default=None), return_when=FIRST_COMPLETED)
        for future in done:
            started = self._running.pop(future)
            tried = Tried(started.trial, future.result(), started.seconds)
            self.tried.append(tried)
            self._names.add(str(tried.trial))
            if self._show is not None:
                self._show(self._progress(tried))
            self._keep_finding(tried)

    def _progress(self, last: Tried) -> Progress:
        found = sum(each.judgement.outcome is Outcome.BROKEN for each in self.tried)
        waiting = len(self._running) - self._busy_count()
        return Progress(last, len(self.tried), self.planned, found, waiting, self._begin, self._options.budget)

    def _sort(self) -> None:
        last = len(self._order)
        self.tried.sort(key=lambda each: self._order.get(str(each.trial), last))

    def _stop(self) -> None:
        """End the runs, and start no other. Nobody waits for functions that go on."""
        setting = self._options.setting
        for each in (self._program, setting.prepare, setting.check):
            if isinstance(each, Stoppable):
                each.stop()
        assert self._pool is not None, "runs are ended within running()"
        self._pool.shutdown(wait=False, cancel_futures=True)

    # -- findings

    def _keep_finding(self, tried: Tried) -> None:
        if not tried.judgement.is_finding:
            return
        # Others may tell that it is slow.
        is_certain = self._options.timeout_seconds is not None or self._options.is_first_wanted
        if tried.judgement.outcome is Outcome.HUNG and not is_certain:
            return
        candidate = self._groups.add(tried).next_to_repeat
        if candidate is not None and not self.is_done:
            self._repeat(candidate)

    def _repeat(self, tried: Tried) -> None:
        if self._show is not None:
            self._show(Confirming(str(tried.trial)))
        finding = confirmed(tried, self._repeated_once, self._repeated, self._is_slow)
        if tried.judgement.outcome is Outcome.HUNG and finding.is_seen_once:
            self._groups.remove(tried)
            self.tried[self.tried.index(tried)] = ended_again(tried, finding.runs)
            return
        finding = replace(finding, found_seconds=time.monotonic() - self._begin)
        self._groups.add_repeated(tried, finding)
        self.is_done = self._options.is_first_wanted and finding.is_certain

    def _repeated_once(self, trial: Trial, seconds: float) -> Judgement:
        return self._attempt(trial, seconds, self._repeating_end)

    def _repeated(self, trial: Trial, seconds: float, count: int, is_hung: bool) -> list[Repeated]:
        """Run the trial so often, at the same time if the program only waits, until the budget is spent."""
        assert self._pool is not None, "what broke is repeated within running()"
        with TemporaryDirectory(prefix="fauxka-hunt-") as folder:
            files = [Path(folder) / f"{number}.html" for number in range(count)]

            def repeated(file: Path) -> Repeated:
                judgement = self._attempt(trial, seconds, self._repeating_end, file)
                return Repeated(judgement, file.read_text("utf-8") if file.exists() else "")

            if is_hung:
                return list(self._pool.map(repeated, files))
            return [repeated(file) for file in files if time.monotonic() < self._repeating_end]

    def _is_slow(self, trial: Trial) -> bool:
        """Whether a trial that did not end before the timeout ends when it has more time."""
        if self._options.timeout_seconds is not None:
            return False
        return self._repeated_once(trial, patience.PATIENT_SECONDS).outcome is not Outcome.HUNG

    # -- runs

    @property
    def _end(self) -> float:
        return self._begin + (self._options.budget.seconds or inf)

    @property
    def _repeating_end(self) -> float:
        return self._begin + _REPEATING_MORE * (self._options.budget.seconds or inf)

    def _attempt(self, trial: Trial, seconds: float, end: float, report: Path | None = None) -> Judgement:
        """Run a trial for so many seconds, until `end` at most. One that fails, not by the program, ends only itself.

        end: by time.monotonic().
        """
        try:
            program = ProgramUntil(self._program, end)
            run = run_once(program, self._options.setting, trial.rules, seconds, report)
        except (BadHuntOption, CallError, CannotHunt, OSError) as error:
            return Judgement(Outcome.NOT_JUDGED, (str(error),))
        judgement = judge(run, self._faultless, self._options.promise)
        had = run.ending.seconds
        is_cut = run.ending.is_hung and had < seconds - _CUT_SECONDS_MIN
        if is_cut and (judgement.is_finding or judgement.outcome is Outcome.NOT_MET):
            return unfinished(judgement, had)
        return slow(judgement) if had > self.timeout else judgement
