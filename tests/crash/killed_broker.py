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
    """Consecutive processes with the log file `broker.log` and the data folder `data`."""

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
        """Start a process without waiting until it is ready."""
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
        # A killed process leaves its ready file behind, so each start uses another name.
        return str(self.folder / f"ready-{self.starts}.json")

    def _environment(self) -> dict[str, str]:
        """Return the environment with a bytecode cache in the folder, for starts as fast as after an installation."""
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
        """Send a signal without waiting for the end of the process."""
        assert self._process is not None
        self._process.send_signal(number)

    def wait_until_gone(self) -> int:
        """Wait for the end of the process, and return its exit code."""
        assert self._process is not None
        code = self._process.wait(STOP_SECONDS_MAX)
        self._process = None
        Path(self._ready_file).unlink(missing_ok=True)
        return code

    def kill_after(self, seconds: float) -> None:
        """Kill the process after some seconds and wait for its end."""
        time.sleep(seconds)
        self.send(signal.SIGKILL)
        self.wait_until_gone()

    def stop_cleanly(self) -> None:
        self.send(signal.SIGTERM)
        code = self.wait_until_gone()
        assert code == 0, f"exit code {code} after SIGTERM\n{self.log_tail()}"

    def close(self) -> None:
        """Kill the process if it is running."""
        if self._process is not None:
            self._process.kill()
            self.wait_until_gone()
        self._port.close()

    def log_tail(self) -> str:
        return (self.folder / "broker.log").read_text(errors="replace")[-LOG_TAIL_BYTES:]
