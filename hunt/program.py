"""The program that is hunted: a command that is started for each run."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Protocol

# Where a command finds the broker.
BOOTSTRAP_VARIABLES = ("FAUXKA_BOOTSTRAP_SERVERS", "KAFKA_BOOTSTRAP_SERVERS")
BOOTSTRAP_PLACE = "{bootstrap}"
# The end of the output that is kept.
OUTPUT_BYTES_MAX = 4000


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run of the program ended.

    exit_code: negative for a signal, None if it was ended after the timeout. output: its last lines, as text.
    """

    exit_code: int | None
    seconds: float
    output: str = ""

    @property
    def is_hung(self) -> bool:
        """Whether it did not end by itself."""
        return self.exit_code is None


class Program(Protocol):
    """A program that can be run any number of times, also at the same time."""

    def run(self, bootstrap: str, timeout_seconds: float) -> Ending:
        """Run it against the broker at the address, and end it after the timeout."""
        ...


@dataclass(frozen=True, slots=True)
class Command:
    """A command line. {bootstrap} in its words is the address; so are the variables of BOOTSTRAP_VARIABLES."""

    words: Sequence[str]

    def run(self, bootstrap: str, timeout_seconds: float) -> Ending:
        """Run the command in a process group of its own, which is killed after the timeout. Raises OSError."""
        words = [word.replace(BOOTSTRAP_PLACE, bootstrap) for word in self.words]
        begin = time.monotonic()
        with tempfile.TemporaryFile() as output:
            exit_code = _run(words, environment(bootstrap), output, timeout_seconds)
            seconds = time.monotonic() - begin
            size = output.seek(0, os.SEEK_END)
            output.seek(max(0, size - OUTPUT_BYTES_MAX))
            return Ending(exit_code, seconds, output.read().decode(errors="replace"))


def environment(bootstrap: str) -> Mapping[str, str]:
    """Return this process's environment with the address of the broker."""
    return os.environ | dict.fromkeys(BOOTSTRAP_VARIABLES, bootstrap)


def _run(words: Sequence[str], variables: Mapping[str, str], output: IO[bytes], timeout_seconds: float) -> int | None:
    with subprocess.Popen(
        words, env=variables, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
    ) as process:
        try:
            return process.wait(timeout_seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            _kill_group(process.pid)


def _kill_group(group: int) -> None:
    # Children that outlive the command would go on with the next run's time and files.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
