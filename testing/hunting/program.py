"""The program that is hunted: a command that is started for each run. functions.py has programs of this process."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol, runtime_checkable

from ...admin.client.admin_client import ADMIN_VARIABLE
from .errors import BadHuntOption, CannotHunt
from .running import Running

if TYPE_CHECKING:
    from ..broker import Broker

# Where a command finds the broker, and the folder of the run.
BOOTSTRAP_VARIABLES = ("FAUXKA_BOOTSTRAP_SERVERS", "KAFKA_BOOTSTRAP_SERVERS")
FOLDER_VARIABLE = "FAUXKA_HUNT_FOLDER"
PLACEHOLDER = "{bootstrap}"
# The end of the output that is kept.
OUTPUT_BYTES_MAX = 4000
# A check asks a few brokers and counts; one that takes longer waits for something.
CHECK_SECONDS_MAX = 60.0
CHECK_HUNG = f"the check did not end within {CHECK_SECONDS_MAX:.0f} s"


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run of the program ended.

    exit_code: negative for a signal, None if it was ended after the timeout. output: its last lines, as text.
    failed_check: what the program itself has found wrong with its result; None for nothing.
    raised: the exception of a function, as one line; "" without one.
    """

    exit_code: int | None
    seconds: float
    output: str = ""
    failed_check: str | None = None
    raised: str = ""

    @property
    def is_hung(self) -> bool:
        """Whether it did not end by itself."""
        return self.exit_code is None

    def __str__(self) -> str:
        """Return such as "ended with exit code 3"."""
        if self.is_hung:
            return f"did not end within {self.seconds:.0f} s"
        if self.exit_code == 0:
            return "ended well"
        return f"raised {self.raised}" if self.raised else f"ended with exit code {self.exit_code}"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run is: its broker, and an empty folder for what the program keeps, which its next start finds again.

    admin: the URL of the admin API; None without one.
    """

    broker: Broker
    folder: Path
    admin: str | None = None


@runtime_checkable
class Stoppable(Protocol):
    """What runs something that can be ended."""

    def stop(self) -> None:
        """End what runs, and run nothing more."""
        ...


class Program(Stoppable, Protocol):
    """A program that can be run any number of times, also at the same time."""

    def run(self, place: Place, timeout_seconds: float) -> Ending:
        """Run it against the broker, and end it after the timeout. Raises Stopped."""
        ...


@dataclass(frozen=True, slots=True)
class ProgramUntil:
    """A program that is ended at `end`, by time.monotonic(), if not before."""

    program: Program
    end: float

    def run(self, place: Place, timeout_seconds: float) -> Ending:
        """Run the program, and end it after the timeout, or at the end. Raises Stopped."""
        return self.program.run(place, max(0.0, min(timeout_seconds, self.end - time.monotonic())))

    def stop(self) -> None:
        """End what runs, and run nothing more."""
        self.program.stop()


@dataclass(frozen=True, slots=True)
class Command:
    """A command line. {bootstrap} in its words is the address; so are the variables of BOOTSTRAP_VARIABLES.

    FOLDER_VARIABLE is the folder of the run.
    """

    words: Sequence[str]
    _running: Running[subprocess.Popen[bytes]] = field(
        default_factory=lambda: Running(_kill_session), init=False, repr=False, compare=False
    )

    def __str__(self) -> str:
        """Return the command line."""
        return shlex.join(self.words)

    def run(self, place: Place, timeout_seconds: float) -> Ending:
        """Run the command in a session of its own, which is killed after the timeout. Raises Stopped, OSError."""
        bootstrap = place.broker.bootstrap_servers
        words = [word.replace(PLACEHOLDER, bootstrap) for word in self.words]
        begin = time.monotonic()
        with tempfile.TemporaryFile() as output:
            exit_code = self._exit_code(words, environment(place), output, timeout_seconds)
            seconds = time.monotonic() - begin
            size = output.seek(0, os.SEEK_END)
            output.seek(max(0, size - OUTPUT_BYTES_MAX))
            return Ending(exit_code, seconds, output.read().decode(errors="replace"))

    def stop(self) -> None:
        """Kill the commands that run, and start no other."""
        self._running.stop()

    def _exit_code(
        self, words: Sequence[str], variables: Mapping[str, str], output: IO[bytes], timeout_seconds: float
    ) -> int | None:
        def start() -> subprocess.Popen[bytes]:
            return subprocess.Popen(
                words, env=variables, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
            )

        with self._running.running(start) as process, process:
            try:
                return process.wait(timeout_seconds)
            except subprocess.TimeoutExpired:
                return None
            finally:
                _kill_session(process)


@dataclass(frozen=True, slots=True)
class CheckCommand(Command):
    """A command that looks at what the program left, and ends with another exit code than 0 if that is wrong."""

    def __call__(self, place: Place) -> str | None:
        """Return the last line that the command printed if it failed. Raises BadHuntOption if it is no program."""
        with starting("--check"):
            ending = self.run(place, CHECK_SECONDS_MAX)
        if ending.exit_code == 0:
            return None
        if ending.is_hung:
            return CHECK_HUNG
        return last_line(ending.output) or f"the check ended with exit code {ending.exit_code}"


@dataclass(frozen=True, slots=True)
class PrepareCommand(Command):
    """A command that fills a broker before the program starts."""

    def __call__(self, place: Place) -> None:
        """Run it. Raises CannotHunt if it fails, BadHuntOption if it is no program."""
        with starting("--prepare"):
            ending = self.run(place, CHECK_SECONDS_MAX)
        if ending.exit_code != 0:
            last = last_line(ending.output)
            raise CannotHunt(f"--prepare: {self.words[0]} {ending}{': ' if last else ''}{last}")


def last_line(output: str) -> str:
    """Return the last line with text; "" if there is none."""
    return "".join(output.strip().splitlines()[-1:]).strip()


def environment(place: Place) -> Mapping[str, str]:
    """Return this process's environment with the addresses of the broker and the folder of the run."""
    addresses = dict.fromkeys(BOOTSTRAP_VARIABLES, place.broker.bootstrap_servers)
    admin = {} if place.admin is None else {ADMIN_VARIABLE: place.admin}
    return os.environ | addresses | admin | {FOLDER_VARIABLE: str(place.folder)}


@contextlib.contextmanager
def starting(option: str) -> Generator[None]:
    """Start programs that this option names, within the block. Raises BadHuntOption for one that cannot be started."""
    try:
        yield
    except OSError as error:
        message = f"{option}: {error.filename!r} cannot be run: {error.strerror}; allowed: a program"
        raise BadHuntOption(message) from error


def _kill_session(process: subprocess.Popen[bytes]) -> None:
    """Kill a process with its session: children that outlive it would go on with the next run's time and files."""
    if sys.platform == "win32":
        process.kill()
        return
    for group in {process.pid, *_groups_of(process.pid)}:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)


def _groups_of(session: int) -> Iterator[int]:
    """Yield the process groups of a session, from Linux's /proc. timeout(1) and shells with job control make some."""
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            # proc(5): pid, (name), state, parent, group, session. A name may have spaces and parentheses.
            fields = file.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            # It has ended.
            continue
        if int(fields[3]) == session:
            yield int(fields[2])
