"""A log that only counts and a pool without threads: a test decides when a flush begins, ends and fails."""

from collections.abc import Callable
from dataclasses import dataclass, field

from fauxka.broker.replica.partition_flusher import PartitionFlusher
from fauxka.broker.runtime.disk_executor import Step, StepDone

from ..manual_clock import manual_clock


@dataclass
class CountingFlush:
    end_offset: int

    def run(self) -> None:
        raise AssertionError("steps of this scene are not run, they are ended")


@dataclass
class LogLimits:
    flush_ms: int = 1 << 62


@dataclass
class CountingLog:
    """The part of a PartitionLog that flushes."""

    log_end_offset: int = 0
    recovery_point: int = 0
    sealed_offset: int = 0
    is_flush_due: bool = True
    flushes: list[int] = field(default_factory=list[int])
    failures: int = 0
    config: LogLimits = field(default_factory=LogLimits)

    @property
    def has_unflushed_segments(self) -> bool:
        return self.sealed_offset > self.recovery_point

    def begin_flush(self) -> CountingFlush:
        self.flushes.append(self.log_end_offset)
        return CountingFlush(self.log_end_offset)

    def finish_flush(self, flush: CountingFlush) -> None:
        self.recovery_point = flush.end_offset

    def fail_flush(self) -> None:
        self.failures += 1


class HeldSteps:
    """Keeps steps and callbacks until the test lets them go."""

    def __init__(self) -> None:
        self.in_flight: list[StepDone] = []
        self._soon: list[Callable[[], None]] = []

    def run(self, step: Step, done: StepDone) -> None:
        self.in_flight.append(done)

    def soon(self, callback: Callable[[], None]) -> None:
        self._soon.append(callback)

    def settle(self) -> None:
        """Run what is to run soon."""
        while self._soon:
            self._soon.pop(0)()

    def end(self, error: OSError | None = None) -> None:
        """End the oldest step in flight."""
        self.in_flight.pop(0)(error)
        self.settle()


class FlushScene:
    """One log with its flusher, and what it told."""

    def __init__(self) -> None:
        self.log = CountingLog()
        self.steps = HeldSteps()
        self.clock = manual_clock()
        self.is_deleted = False
        self.wakes = 0
        self.said: list[str] = []
        self.answers: list[tuple[str, OSError | None]] = []
        self.flusher = PartitionFlusher(self.log, self, self.steps, self.clock)  # type: ignore[arg-type]

    def wake(self) -> None:
        self.wakes += 1

    def storage_failed(self, doing: str, error: Exception) -> None:
        self.said.append(f"{doing} failed")

    def storage_works(self, doing: str) -> None:
        self.said.append(f"{doing} works")

    def append(self, name: str = "") -> None:
        """Append one record whose answer waits for its flush."""
        self.log.log_end_offset += 1
        self.flusher.when_flushed(self.log.log_end_offset, lambda error: self.answers.append((name, error)))
