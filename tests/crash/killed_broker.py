"""A `fauxka serve --data-dir` that is killed and restarted on the same port and folder."""

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from fauxka.scenarios.brokers.reserved_port import ReservedPort

from ..serving_process import COMMAND, STOP_SECONDS_MAX, environment, wait_until_ready

LOG_TAIL_BYTES = 4000


class KilledBroker:
    """One process after the other. What they log is in `broker.log`, what they store in `data`."""

    def __init__(self, folder: Path, options: Sequence[str]) -> None:
        self.folder = folder
        self.options = list(options)
        self.starts = 0
        self._port = ReservedPort()
        self._process: subprocess.Popen[str] | None = None

    @property
    def port(self) -> int:
        return self._port.number

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start a process; it is not ready when this returns."""
        assert self._process is None, "there is a process already"
        self.starts += 1
        words = ["--port", str(self.port), "--data-dir", str(self.folder / "data"), "--ready-file", self._ready_file]
        with (self.folder / "broker.log").open("a") as log:
            self._process = subprocess.Popen(
                [*COMMAND, "serve", *words, *self.options],
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                text=True,
            )

    @property
    def _ready_file(self) -> str:
        # One for each process: a killed one leaves its own behind.
        return str(self.folder / f"ready-{self.starts}.json")

    def _environment(self) -> dict[str, str]:
        """The environment with Python's bytecode kept in the folder, for starts as short as where it is installed."""
        kept = {name: value for name, value in environment().items() if name != "PYTHONDONTWRITEBYTECODE"}
        return {**kept, "PYTHONPYCACHEPREFIX": str(self.folder / "bytecode")}

    def wait_until_ready(self) -> None:
        assert self._process is not None
        try:
            wait_until_ready(self._process, Path(self._ready_file))
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.log_tail()}") from None
        os.unlink(self._ready_file)

    def send(self, number: int) -> None:
        """Send a signal; the process is not gone when this returns."""
        assert self._process is not None
        self._process.send_signal(number)

    def wait_until_gone(self) -> int:
        """Return the exit code of the process that was sent a signal."""
        assert self._process is not None
        code = self._process.wait(STOP_SECONDS_MAX)
        self._process = None
        Path(self._ready_file).unlink(missing_ok=True)
        return code

    def kill_after(self, seconds: float) -> None:
        """Kill the process in this many seconds and return when it is gone."""
        time.sleep(seconds)
        self.send(signal.SIGKILL)
        self.wait_until_gone()

    def stop_cleanly(self) -> None:
        self.send(signal.SIGTERM)
        code = self.wait_until_gone()
        assert code == 0, f"exit code {code} after SIGTERM\n{self.log_tail()}"

    def close(self) -> None:
        """Leave no process behind."""
        if self._process is not None:
            self._process.kill()
            self.wait_until_gone()
        self._port.close()

    def log_tail(self) -> str:
        return (self.folder / "broker.log").read_text(errors="replace")[-LOG_TAIL_BYTES:]
