"""A command that produces the lines of its standard input, until the end of the input."""

import subprocess
from collections.abc import Iterable, Sequence

from .client import STEP_SECONDS_MAX


class ProducerProcess:
    """A process of the command."""

    def __init__(self, command: Sequence[str]) -> None:
        """Start it."""
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )

    def write_lines(self, lines: Iterable[bytes]) -> None:
        """Write lines, each with its line feed."""
        assert self._process.stdin is not None
        self._process.stdin.writelines(lines)
        self._process.stdin.flush()

    def end_input(self) -> None:
        """Close the standard input."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        # communicate() would flush it.
        self._process.stdin = None

    def wait(self) -> str:
        """End the input, wait for the process, and return its standard error."""
        _, errors = self._process.communicate(timeout=STEP_SECONDS_MAX)
        assert self._process.returncode == 0, errors.decode()
        return errors.decode()

    def kill(self) -> None:
        """Kill the process if it runs."""
        self._process.kill()
        self._process.communicate()
