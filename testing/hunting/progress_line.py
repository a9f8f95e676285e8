"""The line of progress of a command: on a terminal always the newest, in a pipe one every 10 s."""

from __future__ import annotations

import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager

import click

from .progress import Learning, Progress, Stage
from .report import progress_text

_PIPE_SECONDS = 10.0
_TERMINAL_SECONDS = 1.0
# To the begin of the line, without what it had.
CLEAR = "\r\x1b[K"


class ProgressLine:
    """Shows the newest stage of a hunt on stderr."""

    def __init__(self) -> None:
        """Begin with the runs without faults."""
        self._is_terminal = sys.stderr.isatty()
        self._stage: Stage = Learning()
        self._lock = threading.Lock()
        self._ended = threading.Event()

    @contextmanager
    def shown(self) -> Generator[None]:
        """Show the line again and again during the block, and remove it from a terminal at its end."""
        thread = threading.Thread(target=self._repeat, name="hunt progress", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._ended.set()
            thread.join()
            self._clear()

    def show(self, stage: Stage) -> None:
        """Tell a trial that broke the program at once, and show the stage."""
        with self._lock:
            self._stage = stage
            self._clear()
            if isinstance(stage, Progress) and stage.last.judgement.is_finding:
                click.echo(f"{stage.last.judgement.outcome.value}: {stage.last.trial}", err=True)
            if self._is_terminal:
                self._write()

    def _repeat(self) -> None:
        while not self._ended.wait(_TERMINAL_SECONDS if self._is_terminal else _PIPE_SECONDS):
            with self._lock:
                self._clear()
                self._write()

    def _write(self) -> None:
        click.echo(progress_text(self._stage), nl=not self._is_terminal, err=True)

    def _clear(self) -> None:
        if self._is_terminal:
            click.echo(CLEAR, nl=False, err=True)
