"""The performance goals of fauxka, checked against the figures of one run."""

from collections.abc import Mapping
from dataclasses import dataclass

from . import measurement
from .load_program import Case
from .measurement import Figures, figure_name
from .targets import FAUXKA, FAUXKA_BATCH, FAUXKA_ON_DISK, KAFKA_NAME, KFAKE_NAME


@dataclass(frozen=True, slots=True)
class Goal:
    """A bound for one figure of one target, or for its ratio to the same figure of another target.

    reference: the other target; None for an absolute bound.
    """

    target: str
    figure: str
    bound: float
    is_at_least: bool
    reference: str | None = KAFKA_NAME

    def value(self, results: Mapping[str, Figures]) -> float | None:
        """Return the figure or its ratio; None if it was not measured."""
        own = results.get(self.target, {}).get(self.figure)
        if own is None or self.reference is None:
            return own
        reference = results.get(self.reference, {}).get(self.figure)
        return own / reference if reference else None

    def line(self, results: Mapping[str, Figures]) -> str:
        """Return a line with the goal, the measured value, and whether it is reached."""
        value = self.value(results)
        unit = f" x the figure of {self.reference}" if self.reference else ""
        bound = f"{'at least' if self.is_at_least else 'at most'} {self.bound:g}{unit}"
        if value is None:
            return f"- not measured: {self.target}: {self.figure}: {bound}"
        is_reached = value >= self.bound if self.is_at_least else value <= self.bound
        return f"- {verdict_text(is_reached)}: {self.target}: {self.figure}: {bound}, is {value:.3g}"


def verdict_text(is_reached: bool) -> str:
    """Return "reached" or "MISSED"."""
    return "reached" if is_reached else "MISSED"


def _at_least(target: str, case: Case, quantity: str, ratio: float, reference: str = KAFKA_NAME) -> Goal:
    return Goal(target, figure_name(case, quantity), ratio, is_at_least=True, reference=reference)


def _at_most(target: str, case: Case, quantity: str, ratio: float, reference: str = KAFKA_NAME) -> Goal:
    return Goal(target, figure_name(case, quantity), ratio, is_at_least=False, reference=reference)


GOALS = (
    _at_most(FAUXKA, measurement.SMALL_ALONE, measurement.CPU_US, 0.25),
    _at_most(FAUXKA, measurement.SMALL_PIPELINED, measurement.CPU_US, 0.25),
    _at_least(FAUXKA, measurement.SMALL_PIPELINED, measurement.REQUESTS_PER_S, 4),
    _at_most(FAUXKA, measurement.SMALL_ALONE, measurement.P50_US, 1),
    _at_least(FAUXKA, measurement.MIDDLE_PIPELINED, measurement.MB_PER_S, 3),
    _at_least(FAUXKA, measurement.MIDDLE_PIPELINED, measurement.MB_PER_S, 1.3, KFAKE_NAME),
    _at_most(FAUXKA, measurement.MIDDLE_PIPELINED, measurement.CPU_US, 0.6, KFAKE_NAME),
    _at_least(FAUXKA, measurement.LARGE_PIPELINED, measurement.MB_PER_S, 1.5),
    _at_least(FAUXKA, measurement.LARGE_PIPELINED, measurement.MB_PER_S, 2, KFAKE_NAME),
    _at_most(FAUXKA, measurement.LARGE_PIPELINED, measurement.CPU_US, 0.6, KFAKE_NAME),
    _at_least(FAUXKA_BATCH, measurement.MIDDLE_PIPELINED, measurement.MB_PER_S, 4),
    _at_least(FAUXKA_BATCH, measurement.LARGE_PIPELINED, measurement.MB_PER_S, 5),
    _at_least(FAUXKA, measurement.SMALL_PIPELINED, measurement.FETCH_MB_PER_S, 1),
    _at_least(FAUXKA, measurement.MIDDLE_PIPELINED, measurement.FETCH_MB_PER_S, 2),
    _at_least(FAUXKA, measurement.LARGE_PIPELINED, measurement.FETCH_MB_PER_S, 2),
    Goal(FAUXKA, measurement.ABOVE_STORED_MIB, 60, is_at_least=False, reference=None),
    Goal(FAUXKA, measurement.COLD_START_MS, 150, is_at_least=False, reference=None),
    Goal(FAUXKA, measurement.IDLE_MIB, 40, is_at_least=False, reference=None),
)

LARGE_START_MS = "start on 5 GB after a clean stop, ms"
LARGE_PEAK_MIB = "peak MiB from that start until 5 GB are fetched"
PRODUCERS_MIB = "1,000,000 producers on one partition, MiB"

# For `python -m benchmarks --disk`. 1.5 GB are 1,430 MiB.
DISK_GOALS = (
    Goal(FAUXKA_ON_DISK, LARGE_START_MS, 1000, is_at_least=False, reference=None),
    Goal(FAUXKA_ON_DISK, LARGE_PEAK_MIB, 150, is_at_least=False, reference=None),
    Goal(FAUXKA_ON_DISK, PRODUCERS_MIB, 1430, is_at_least=False, reference=None),
)

READY_MS = "ready after import, ms"
RESET_MS = "reset after a small test, ms"
RESET_MANY_MS = "reset of 100 partitions, ms"

# For `python -m benchmarks --fixture`.
FIXTURE_GOALS = (
    Goal(FAUXKA, READY_MS, 10, is_at_least=False, reference=None),
    Goal(FAUXKA, RESET_MS, 2, is_at_least=False, reference=None),
    Goal(FAUXKA, RESET_MANY_MS, 5, is_at_least=False, reference=None),
)

PAGE_KB = "page as a browser receives it, KB"
FIRST_TIMELINE_MS = "first timeline of 10,000 requests, ms"
FRAMES_P99_MS = "scrolling: p99 of ms between frames"
HEAP_RATIO = "heap ten minutes later, ratio"
FIRST_CONTENT_MS = "first content with 150 ms and 1.6 Mbit/s, ms"


def blank_frames(rate: int) -> str:
    """Return the name of the figure at a rate in requests a second."""
    return f"{rate:,} requests/s: blank frames, %"


def page_cpu(rate: int) -> str:
    """Return the name of the figure at a rate in requests a second."""
    return f"{rate:,} requests/s: processor time of the browser, s a minute"


PAGE_GOALS = (
    Goal(FAUXKA, PAGE_KB, 150, is_at_least=False, reference=None),
    Goal(FAUXKA, FIRST_CONTENT_MS, 1500, is_at_least=False, reference=None),
    *(Goal(FAUXKA, blank_frames(rate), 0, is_at_least=False, reference=None) for rate in (0, 100, 300, 1000)),
    # Every second frame of 60 Hz.
    Goal(FAUXKA, FRAMES_P99_MS, 34, is_at_least=False, reference=None),
    Goal(FAUXKA, HEAP_RATIO, 1.1, is_at_least=False, reference=None),
)
