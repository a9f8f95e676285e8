"""The file of --advertised-file: the advertised listeners, which are known after the start of the broker's container.

It has a line for each node.

The port under which a container engine publishes a listener is known once the container runs. A broker that waits for
the file loads its modules meanwhile.
"""

from __future__ import annotations

import os
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


def wait_for_advertised_listeners(path: str, stop_signals: Sequence[signal.Signals], count: int = 1) -> list[str]:
    """Return the first count lines, each a value of advertised.listeners, once the file has so many whole lines.

    Raises ConfigError after WAIT_SECONDS_MAX or for an unreadable file, and SystemExit for one of stop_signals:
    process 1 of a container has no default action for them.
    """
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    handlers = [signal.signal(number, _exit_on_signal) for number in stop_signals]
    try:
        while len(lines := _read_lines(path, count)) < count:
            if time.monotonic() > deadline:
                wanted = "no line" if count == 1 else f"{len(lines)} of {count} lines"
                reason = "" if os.access(path, os.R_OK) or not os.path.lexists(path) else ": Permission denied"
                raise ConfigError(f"--advertised-file: {wanted} in {path} after {WAIT_SECONDS_MAX:.0f} s{reason}")
            time.sleep(POLL_SECONDS)
    finally:
        for number, handler in zip(stop_signals, handlers, strict=True):
            signal.signal(number, handler)
    return lines


def _exit_on_signal(*_: object) -> NoReturn:
    raise SystemExit(0)


def _read_lines(path: str, count: int) -> list[str]:
    """Return at most count whole lines without their ends; none if there is no file, or none that may be read.

    A container engine that copies a file into a container creates it for root alone, and then sets its permissions.
    """
    try:
        with open(path, "rb") as file:
            content = file.read(FILE_BYTES_MAX)
    except (FileNotFoundError, PermissionError):
        return []
    except OSError as error:
        raise ConfigError(f"--advertised-file: {find_path_problem(path, error) or error}") from error
    *lines, _ = content.decode("utf-8", "replace").split("\n")
    if len(lines) < count and len(content) == FILE_BYTES_MAX:
        wanted = "the first line" if count == 1 else f"the first {count} lines"
        raise ConfigError(f"--advertised-file: {wanted} of {path} has more than {FILE_BYTES_MAX} bytes")
    return [line.strip() for line in lines[:count]]
