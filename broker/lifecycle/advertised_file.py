"""The file of --advertised-file: the advertised listeners, which are known after the start of the broker's container.

The port under which a container engine publishes a listener is known once the container runs. A broker that waits for
the file loads its modules meanwhile.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence
from typing import NoReturn

from ...storage.file_systems.path_problems import find_path_problem
from ..config.config_types import ConfigError

# How long a container engine takes to start a container on a loaded machine.
WAIT_SECONDS_MAX = 60.0
POLL_SECONDS = 0.005
# Some hundred listeners.
FILE_BYTES_MAX = 64 * 1024


def wait_for_advertised_listeners(path: str, stop_signals: Sequence[signal.Signals]) -> str:
    """Return the line in the file, a value of advertised.listeners, once the file has a whole line.

    Raises ConfigError after WAIT_SECONDS_MAX or for an unreadable file, and SystemExit for one of stop_signals:
    process 1 of a container has no default action for them.
    """
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    handlers = [signal.signal(number, _exit_on_signal) for number in stop_signals]
    try:
        while (line := _read_line(path)) is None:
            if time.monotonic() > deadline:
                raise ConfigError(f"--advertised-file: no line in {path} after {WAIT_SECONDS_MAX:.0f} s")
            time.sleep(POLL_SECONDS)
    finally:
        for number, handler in zip(stop_signals, handlers, strict=True):
            signal.signal(number, handler)
    return line


def _exit_on_signal(*_: object) -> NoReturn:
    raise SystemExit(0)


def _read_line(path: str) -> str | None:
    """Return the first line without its end; None if there is no file, or no end of a line in it."""
    try:
        with open(path, "rb") as file:
            content = file.read(FILE_BYTES_MAX)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"--advertised-file: {find_path_problem(path, error) or error}") from error
    line, end, _ = content.decode("utf-8", "replace").partition("\n")
    if not end and len(content) == FILE_BYTES_MAX:
        raise ConfigError(f"--advertised-file: the first line of {path} has more than {FILE_BYTES_MAX} bytes")
    return line.strip() if end else None
