"""Progress line of a running Spark job: tasks, rows, shuffled bytes, and the remaining time of the running stages.

Only shuffled bytes are shown, because a Python data source reports only rows to Spark. A Connect server reports tasks
alone. Spark replans a query after each stage, so the number of further stages is unknown. This module does not use
Spark; running_stages.py does.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Self, TextIO

from ..sessions.stage import Stage

# A poll takes milliseconds.
POLL_SECONDS = 0.5
# The interval of lines to a stream that is not a terminal.
LINE_SECONDS = 10.0


class Progress:
    """A context manager that writes the progress of the session to a stream."""

    def __init__(self, stages: Callable[[], Sequence[Stage]], stream: TextIO) -> None:
        """stages: returns the running stages."""
        self._stages = stages
        self._line = StatusLine(stream)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="fauxka-progress", daemon=True)

    def __enter__(self) -> Self:
        """Start the thread that writes the line."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Stop the thread and clear the line."""
        self._ended.set()
        self._thread.join()
        self._line.clear()

    def _run(self) -> None:
        meter = Meter(time.monotonic())
        while not self._ended.wait(POLL_SECONDS):
            now = time.monotonic()
            self._line.show(meter.line(self._stages(), now), now)


class StatusLine:
    """A line that a terminal overwrites; any other stream gets a new line every LINE_SECONDS."""

    def __init__(self, stream: TextIO) -> None:
        """stream: overwritten if it is a terminal."""
        self._stream = stream
        self._overwrites = stream.isatty()
        self._width = 0
        self._written_at: float | None = None

    def show(self, line: str, now: float) -> None:
        """Show a line. now: seconds of a monotonic clock."""
        if self._overwrites:
            self._write(f"\r{line.ljust(self._width)}")
            self._width = len(line)
        elif self._written_at is None or now - self._written_at >= LINE_SECONDS:
            self._write(f"{line}\n")
            self._written_at = now

    def clear(self) -> None:
        """Remove the line from a terminal."""
        if self._overwrites:
            self._write(f"\r{' ' * self._width}\r")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


class Meter:
    """Sums the counts of all stages and estimates the remaining time of the running ones from their finished tasks."""

    def __init__(self, started: float) -> None:
        """started: the start of the job, in seconds of a monotonic clock."""
        self._started = started
        self._first_seen: dict[int, float] = {}
        self._latest: dict[int, Stage] = {}

    def line(self, stages: Iterable[Stage], now: float) -> str:
        """Return the progress line."""
        running = list(stages)
        for stage in running:
            self._first_seen.setdefault(stage.number, now)
            self._latest[stage.number] = stage
        words = [f"{now - self._started:.0f} s", *self._counts()]
        if running:
            names = ", ".join(str(stage.number) for stage in running)
            done = sum(stage.tasks_done for stage in running)
            words.insert(1, f"stage {names}: {done} of {sum(stage.tasks for stage in running)} tasks")
        left = [seconds for stage in running if (seconds := self._seconds_left(stage, now)) is not None]
        return ", ".join([*words, *([f"about {max(left):.0f} s left of it"] if left else [])])

    def _counts(self) -> list[str]:
        counted = [(stage.rows, stage.bytes_shuffled) for stage in self._latest.values() if stage.rows is not None]
        if not counted:
            return []
        rows, size = (sum(numbers) for numbers in zip(*counted, strict=True))
        return [f"{rows:,} rows", f"{size / 1e6:,.1f} MB shuffled"]

    def _seconds_left(self, stage: Stage, now: float) -> float | None:
        if not stage.tasks_done:
            return None
        return (now - self._first_seen[stage.number]) / stage.tasks_done * (stage.tasks - stage.tasks_done)
