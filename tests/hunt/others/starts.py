"""Starts a program of tests/ecosystem in a trial of a hunt, and stops it when it has done all of its work."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import Protocol
from weakref import WeakKeyDictionary

from fauxka.testing import Broker

from ...ecosystem.programs import Program

POLL_SECONDS = 0.1
# The end of the log that an error has.
LOG_BYTES_MAX = 3000


class ProgramEnded(Exception):
    """A program that runs until it is stopped has ended by itself: a supervisor starts it again."""


class Started(Protocol):
    """A program that was started."""

    @property
    def log_file(self) -> Path:
        """The file of its output."""
        ...

    def has_ended(self) -> bool:
        """Return whether it has ended by itself."""
        ...


class Startable(Protocol):
    """A program that can be started any number of times, also at the same time."""

    @property
    def program(self) -> Program:
        """What is started."""
        ...

    def started(self, folder: Path, *arguments: str) -> AbstractContextManager[Started]:
        """Run it for the length of the block, and then end it as SIGTERM does. folder: of its log."""
        ...

    def end(self) -> None:
        """Kill what runs, such as a program that hangs."""
        ...


@dataclass(frozen=True, slots=True)
class StartedProcess:
    """A process."""

    process: subprocess.Popen[bytes]
    log_file: Path

    def has_ended(self) -> bool:
        """Return whether it has ended by itself."""
        return self.process.poll() is not None


@dataclass(frozen=True, slots=True)
class Processes:
    """A program with a process for each start."""

    program: Program
    _all: list[subprocess.Popen[bytes]] = field(default_factory=list[subprocess.Popen[bytes]])

    @contextmanager
    def started(self, folder: Path, *arguments: str) -> Generator[StartedProcess]:
        """Run it for the length of the block, and then end it with SIGTERM."""
        with self.program.running(folder / "log", *arguments) as running:
            self._all.append(running.process)
            yield StartedProcess(running.process, running.log_file)

    def end(self) -> None:
        """Kill the processes that run."""
        for process in self._all:
            process.kill()


@dataclass(frozen=True, slots=True)
class Folders:
    """A folder for each broker: what a program keeps there is found again by its next start in the same trial."""

    root: Path
    _of_broker: WeakKeyDictionary[Broker, Path] = field(default_factory=WeakKeyDictionary[Broker, Path])

    def of(self, broker: Broker) -> Path:
        """Return the folder of a broker, and create it for the first start."""
        if broker not in self._of_broker:
            self._of_broker[broker] = Path(mkdtemp(dir=self.root))
        return self._of_broker[broker]


def wait_until_done(started: Started, is_done: Callable[[], bool]) -> None:
    """Wait until a program has done all of its work. Raises ProgramEnded with the end of its log if it ends before.

    There is no timeout: the hunt ends the broker, and is_done then raises an error.
    """
    while not is_done():
        if started.has_ended():
            raise ProgramEnded(started.log_file.read_text(errors="replace")[-LOG_BYTES_MAX:])
        time.sleep(POLL_SECONDS)
