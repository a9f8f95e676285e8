"""Brokers without a ready file, as users start them by hand, and commands that find them."""

import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .serving_process import COMMAND, POLL_SECONDS, START_SECONDS_MAX, Ended, environment, run


@dataclass(frozen=True)
class ByHand:
    """A broker that was started without a ready file of its own, as by hand."""

    process: subprocess.Popen[str]
    bootstrap: str
    admin: str

    def end(self, number: signal.Signals) -> None:
        self.process.send_signal(number)
        self.process.wait()


class StartedByHand:
    """Starts brokers, and runs commands that look for them. Both have a folder of running brokers of their own."""

    def __init__(self, folder: Path) -> None:
        self.variables = {"XDG_RUNTIME_DIR": str(folder), "FAUXKA_ADMIN_PORT": "0"}
        self.started: list[ByHand] = []

    def serve(self, *options: str, command: Sequence[str] = COMMAND) -> ByHand:
        process = subprocess.Popen(
            [*command, "serve", "--port", "0", *options],
            env={name: value for name, value in environment(self.variables).items() if value},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdout is not None
        bootstrap, admin = process.stdout.readline().strip(), process.stdout.readline().strip()
        self.started.append(ByHand(process, bootstrap.removeprefix("PLAINTEXT://"), admin))
        return self.started[-1]

    def run(self, *words: str, command: Sequence[str] = COMMAND) -> Ended:
        return run(*words, variables=self.variables, command=command)

    def found(self, expected: str, command: Sequence[str] = COMMAND) -> Ended:
        """Return the result of `fauxka admin` once its output is as expected; the file is written after the print."""
        deadline = time.monotonic() + START_SECONDS_MAX
        while (ended := self.run("admin", command=command)).output != expected and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        return ended

    def close(self) -> None:
        for broker in self.started:
            if broker.process.poll() is None:
                broker.process.kill()
            broker.process.communicate()
