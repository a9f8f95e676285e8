"""Runs the command whose standard output is a token.

The arguments are those of the configuration: no shell reads them, and nothing of a broker is among them. Standard error
is that of this process.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from threading import Timer

from .client_security import TokenCommand
from .token_error import TokenError


def run_token_command(command: TokenCommand, *, timeout_seconds: float, bytes_max: int) -> bytes:
    """Return the output; of a longer one the first bytes_max + 1 bytes. Raises TokenError, without the output."""
    try:
        # A group of its own, so that the limits end what the program has started too.
        process = subprocess.Popen(
            command.arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "an argument has a zero byte"
        raise TokenError(f"the token command {command.program} cannot be run: {reason}") from None
    timer = Timer(timeout_seconds, _kill, [process])
    timer.start()
    try:
        with process:
            assert process.stdout is not None, "its output is a pipe"
            output = process.stdout.read(bytes_max + 1)
            if len(output) > bytes_max:
                _kill(process)
                return output
            process.wait()
            is_late = not timer.is_alive()
    finally:
        timer.cancel()
    if is_late:
        raise TokenError(f"the token command {command.program} takes more than {timeout_seconds:g} s")
    if process.returncode:
        raise TokenError(f"the token command {command.program} ends with exit code {process.returncode}")
    return output


def _kill(process: subprocess.Popen[bytes]) -> None:
    if sys.platform == "win32":
        process.kill()
        return
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
