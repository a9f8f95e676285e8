"""Programs that a release runs: each has a limit of time, and the last lines of its output are in the error."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# A build with its downloads on a busy machine.
STEP_SECONDS_MAX = 900
# Enough of an output to see why the program failed.
OUTPUT_CHARACTERS_MAX = 2000
# The first letters of variables that configure a broker, a build or another Python.
FOREIGN = ("FAUXKA_", "KAFKA_", "CLUSTER_", "MAKE", "MFLAGS", "PYTHON", "VIRTUAL_ENV", "CFLAGS", "CC")


class StepError(Exception):
    """A program of the release failed, or a result is not the expected one."""


def environment(variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return this process's environment without the variables of FOREIGN, and with variables."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    return {**kept, **(variables or {})}


def run_step(
    *command: str | Path,
    folder: Path = ROOT,
    variables: Mapping[str, str] | None = None,
    seconds_max: float = STEP_SECONDS_MAX,
) -> str:
    """Run a program and return its output. Raises StepError if it fails, is missing, or takes longer than seconds_max.

    variables: the whole environment; None for that of `environment()`.
    """
    words = [str(word) for word in command]
    chosen = environment() if variables is None else dict(variables)
    try:
        ended = subprocess.run(
            words, cwd=folder, env=chosen, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds_max
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise StepError(f"{shown(words)}: {error}") from error
    if ended.returncode != 0:
        output = (ended.stdout + ended.stderr)[-OUTPUT_CHARACTERS_MAX:].strip()
        raise StepError(f"{shown(words)}: exit code {ended.returncode}\n{output}")
    return ended.stdout


def shown(words: Sequence[str]) -> str:
    """Return a command as one short line for a message."""
    line = " ".join(words).replace("\n", " ")
    return line if len(line) <= 200 else f"{line[:200]}..."


def expect(is_so: bool, message: str) -> None:
    """Raise StepError with the message, unless it is so."""
    if not is_so:
        raise StepError(message)
