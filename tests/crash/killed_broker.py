"""A `fauxka serve --data-dir` that is killed and restarted on the same ports and folder."""

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from ..serving_process import COMMAND, STOP_SECONDS_MAX, environment, wait_until_ready

LOG_TAIL_BYTES = 4000


class KilledBroker:
    """Consecutive processes with the log file `broker.log` and the data folder `data`.

    admin: "host:port" of the running process, if it has an admin API.
    """

    def __init__(self, folder: Path, options: Sequence[str], node_count: int = 1) -> None:
        self.folder = folder
        self.options = list(options)
        self.starts = 0
        self.admin: str | None = None
        self._ports = _reserve_ports(node_count)
        self._process: subprocess.Popen[str] | None = None

    @property
    def port(self) -> int:
        """The port of the first node; each other node has the port of the node before, plus one."""
        number: int = self._ports[0].getsockname()[1]
        return number

    @property
    def address(self) -> str:
        """The addresses of all nodes, as bootstrap servers."""
        return ",".join(f"127.0.0.1:{self.port + index}" for index in range(len(self._ports)))

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
        self.admin = json.loads(Path(self._ready_file).read_text())["admin"]
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
        for port in self._ports:
            port.close()

    def log_tail(self) -> str:
        return (self.folder / "broker.log").read_text(errors="replace")[-LOG_TAIL_BYTES:]


def _reserve_ports(count: int) -> list[socket.socket]:
    """Bind consecutive free ports without listeners, so that no client gets one while the broker restarts."""
    while True:
        bound: list[socket.socket] = []
        try:
            for index in range(count):
                bound.append(socket.socket())
                bound[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                bound[-1].bind(("127.0.0.1", bound[0].getsockname()[1] + index if index else 0))
        except (OSError, OverflowError):
            for each in bound:
                each.close()
        else:
            return bound
