"""What Spark is doing, told while it does it: tasks, rows, bytes, and how long the stage at hand will take.

Bytes are those of shuffles: a data source in Python tells Spark its rows alone.

Spark plans a query anew after each stage, so nobody knows how many stages are to come; the time left is told of those
that run. Nothing here needs Spark; running_stages.py asks it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self, TextIO

# How often Spark is asked; a question takes milliseconds.
POLL_SECONDS = 0.5
# How often a line is written where nobody sees it being overwritten.
LINE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage that runs."""

    number: int
    tasks: int
    tasks_done: int
    rows: int
    bytes_shuffled: int


class Progress:
    """Tells on a stream what the session does, for the length of a block."""

    def __init__(self, stages: Callable[[], Sequence[Stage]], stream: TextIO) -> None:
        """stages: returns those that run now."""
        self._stages = stages
        self._line = StatusLine(stream)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="fauxka-progress", daemon=True)

    def __enter__(self) -> Self:
        """Begin."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End, and leave a line that is free."""
        self._ended.set()
        self._thread.join()
        self._line.clear()

    def _run(self) -> None:
        meter = Meter(time.monotonic())
        while not self._ended.wait(POLL_SECONDS):
            now = time.monotonic()
            self._line.tell(meter.line(self._stages(), now), now)


class StatusLine:
    """A line that is overwritten on a terminal, and elsewhere written anew every LINE_SECONDS."""

    def __init__(self, stream: TextIO) -> None:
        """Write nothing yet."""
        self._stream = stream
        self._overwrites = stream.isatty()
        self._width = 0
        self._told_at: float | None = None

    def tell(self, line: str, now: float) -> None:
        """Write a line; now is in seconds of a clock of the caller's."""
        if self._overwrites:
            self._write(f"\r{line.ljust(self._width)}")
            self._width = len(line)
        elif self._told_at is None or now - self._told_at >= LINE_SECONDS:
            self._write(f"{line}\n")
            self._told_at = now

    def clear(self) -> None:
        """Leave nothing of it on a terminal."""
        if self._overwrites:
            self._write(f"\r{' ' * self._width}\r")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


class Meter:
    """Adds up what the stages did, and reckons from their tasks how long those that run will take."""

    def __init__(self, started: float) -> None:
        """started: now, in seconds of a clock of the caller's."""
        self._started = started
        self._first_seen: dict[int, float] = {}
        self._latest: dict[int, Stage] = {}

    def line(self, stages: Iterable[Stage], now: float) -> str:
        """Return a line about the stages that run now."""
        running = list(stages)
        for stage in running:
            self._first_seen.setdefault(stage.number, now)
            self._latest[stage.number] = stage
        rows = sum(stage.rows for stage in self._latest.values())
        size = sum(stage.bytes_shuffled for stage in self._latest.values())
        words = [f"{now - self._started:.0f} s", f"{rows:,} rows", f"{size / 1e6:,.1f} MB shuffled"]
        if running:
            names = ", ".join(str(stage.number) for stage in running)
            done = sum(stage.tasks_done for stage in running)
            words.insert(1, f"stage {names}: {done} of {sum(stage.tasks for stage in running)} tasks")
        left = [seconds for stage in running if (seconds := self._seconds_left(stage, now)) is not None]
        return ", ".join([*words, *([f"about {max(left):.0f} s left of it"] if left else [])])

    def _seconds_left(self, stage: Stage, now: float) -> float | None:
        if not stage.tasks_done:
            return None
        return (now - self._first_seen[stage.number]) / stage.tasks_done * (stage.tasks - stage.tasks_done)
