"""`fauxka serve` in a process of its own, for the tests of the command line and of what is installed."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

# A start takes a tenth of a second. Only a hang reaches these limits, on a machine that does much else too.
START_SECONDS_MAX = 120
STOP_SECONDS_MAX = 120
POLL_SECONDS = 0.01

# How the command is called where nothing is installed: the package in the tree.
COMMAND = (sys.executable, "-m", "fauxka")


@dataclass(frozen=True)
class Serving:
    """A broker that serves."""

    process: subprocess.Popen[str]
    bootstrap: str
    ready_file: Path
    admin: str | None = None

    @property
    def port(self) -> int:
        return int(self.bootstrap.rpartition(":")[2])


@dataclass(frozen=True)
class Ended:
    """What a process left behind."""

    exit_code: int
    output: str
    log: str


def environment(variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return this process's environment without what configures a broker, and with variables.

    Without an admin API, unless variables or the command line ask for one: many brokers run at once here.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("KAFKA_", "FAUXKA_", "CLUSTER_"))}
    return {**kept, "FAUXKA_ADMIN_PORT": "off", **(variables or {})}


@contextmanager
def serving(
    folder: Path,
    *arguments: str,
    variables: Mapping[str, str] | None = None,
    command: Sequence[str] = COMMAND,
) -> Generator[Serving, None, None]:
    """Run `fauxka serve` on a free port, unless arguments say otherwise, for the length of the block."""
    ready_file = folder / "ready.json"
    port = () if any(name in arguments for name in ("--port", "--listener")) else ("--port", "0")
    process = subprocess.Popen(
        [*command, "serve", *port, "--ready-file", str(ready_file), *arguments],
        env=environment(variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        ready = wait_until_ready(process, ready_file)
        admin = None if ready["admin"] is None else str(ready["admin"])
        admin = admin if admin is None or "://" in admin else f"http://{admin}"
        yield Serving(process, str(ready["bootstrap"]), ready_file, admin)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def wait_until_ready(process: subprocess.Popen[str], ready_file: Path) -> dict[str, str | None]:
    deadline = time.monotonic() + START_SECONDS_MAX
    while not ready_file.exists():
        if process.poll() is not None:
            _, log = process.communicate()
            raise AssertionError(f"ended with {process.returncode} before it was ready:\n{log}")
        assert time.monotonic() < deadline, f"not ready after {START_SECONDS_MAX} s"
        time.sleep(POLL_SECONDS)
    ready: dict[str, str | None] = json.loads(ready_file.read_text())
    return ready


def stop(broker: Serving, number: int) -> Ended:
    """Send a signal, and return what the process left behind."""
    broker.process.send_signal(number)
    output, log = broker.process.communicate(timeout=STOP_SECONDS_MAX)
    return Ended(broker.process.returncode, output, log)


def run(
    *arguments: str,
    variables: Mapping[str, str] | None = None,
    command: Sequence[str] = COMMAND,
    seconds_max: float = START_SECONDS_MAX,
) -> Ended:
    """Run a command line that ends by itself."""
    result = subprocess.run(
        [*command, *arguments],
        env=environment(variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=seconds_max,
        check=False,
    )
    return Ended(result.returncode, result.stdout, result.stderr)
