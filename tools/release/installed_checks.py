"""The tests of an installed artefact: each raises StepError, and is named in the table by its name here."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .builds import PROGRAMS, UV
from .installation import Installation, install_more
from .steps import ROOT, StepError, environment, expect, run_step
from .table import Row

# Other programs of this machine delay some of them.
STARTS = 3
START_SECONDS_MAX = 60
STOP_SECONDS_MAX = 30
POLL_SECONDS = 0.01
# The last line of `fauxka demo` is what to paste next.
DEMO = "assert_exactly_once()"
# The package's own broker and client: a Produce on the wire, and what the log has then.
OWN_CLIENT = """
from fauxka.testing import Broker
with Broker() as broker:
    broker.topics.create("orders")
    produced = broker.topics.produce("orders", {"value": "tea"})
    print(produced.outcome, [record.value for record in broker.topics.search("orders")])
"""
# How a check fails: by a result, an output that is no JSON, a port or a file, a time limit, or the engine of the tests.
FAILURES = (StepError, ValueError, OSError, subprocess.SubprocessError, AssertionError)
# Another broker of the machine may have the default ports.
FREE_PORTS = {"KAFKA_LISTENERS": "PLAINTEXT://127.0.0.1:0", "FAUXKA_ADMIN_PORT": "0"}
OWN_CLIENT_OUTPUT = "responded [b'tea']\n"
README_ADDRESS = "127.0.0.1:9092"
README_OUTPUT = "".join(f"{number} hello {number}\n" for number in range(10))


@dataclass(frozen=True, slots=True)
class Serving:
    """A broker of an installation. start_seconds: from the start of the process to its ready file."""

    bootstrap: str
    admin: str
    start_seconds: float


def check_installed(installation: Installation, version: str, row: Row) -> None:
    """Run every check, and write into the row what passed and why the others failed."""
    checks: dict[str, Callable[[], None]] = {
        "version": lambda: check_version(installation, version),
        "serve": lambda: check_serve(installation, row),
        "doctor": lambda: check_doctor(installation),
        "demo": lambda: check_demo(installation),
        "own client": lambda: check_own_client(installation),
    }
    # confluent-kafka, the client of the README, has no wheel for musl.
    if not installation.is_musl:
        checks["readme"] = lambda: check_readme(installation)
    if installation.artefact.suffix == ".whl":
        checks["pipx"] = lambda: check_pipx(installation)
        checks["uvx"] = lambda: check_uvx(installation)
    for name, check in checks.items():
        run_check(row, name, check)


def run_check(row: Row, name: str, check: Callable[[], object]) -> None:
    """Run one check, and write its result into the row."""
    try:
        check()
    except FAILURES as error:
        row.failed[name] = str(error)
    else:
        row.passed.append(name)


def check_version(installation: Installation, version: str) -> None:
    """The command reports the version of the release, and whether its modules are compiled."""
    kind = "compiled" if installation.is_compiled else "plain Python"
    output = installation.run("fauxka", "--version")
    expect(output == f"fauxka, version {version}, {kind}\n", f"fauxka --version: {output}")


def check_serve(installation: Installation, row: Row) -> None:
    """The broker starts, is healthy, and ends with exit code 0. The row has the shortest of several starts."""
    seconds: list[float] = []
    for _ in range(STARTS):
        with serving(installation) as broker:
            seconds.append(broker.start_seconds)
            installation.run("fauxka", "health", "--port", broker.bootstrap.rpartition(":")[2])
    row.start_seconds = min(seconds)


def check_doctor(installation: Installation) -> None:
    """`fauxka doctor` finds everything that `fauxka serve` needs."""
    installation.run("fauxka", "doctor", variables=FREE_PORTS)


def check_demo(installation: Installation) -> None:
    """`fauxka demo` ends with what to paste next."""
    expect_demo(installation.run("fauxka", "demo"))


def check_own_client(installation: Installation) -> None:
    """The broker of a test stores what a Produce on the wire sends to it."""
    output = installation.run("python", "-c", OWN_CLIENT)
    expect(output == OWN_CLIENT_OUTPUT, f"own client: {output}")


def check_readme(installation: Installation) -> None:
    """The first programs and commands of README.md: produce and consume, and the same with a lost acknowledgement."""
    install_more(installation, "confluent-kafka")
    program = first_program((ROOT / "README.md").read_text())
    with serving(installation) as broker:
        lines = program.replace(README_ADDRESS, broker.bootstrap)
        output = installation.run("python", "-c", lines)
        expect(output == README_OUTPUT, f"the first program of README.md: {output}")
        installation.run("fauxka", "fault", "add", "lost_ack", "--topic", "greetings", "--admin", broker.admin)
        installation.run("python", "-c", lines)
        verdict = installation.run("fauxka", "verdict", "greetings", "--admin", broker.admin)
        expect("duplicates recognised 1" in verdict, f"fauxka verdict: {verdict}")


def first_program(page: str) -> str:
    """Return the first program in Python of a page. Raises ValueError for a page without one."""
    found = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    if found is None:
        raise ValueError("README.md has no program in Python")
    return found[1]


def check_pipx(installation: Installation) -> None:
    """`pipx run --spec WHEEL fauxka demo`, with a home folder of its own."""
    wheel, python = installation.artefact, installation.python
    expect_demo(run_alone(PROGRAMS / "pipx", "run", "--python", python, "--spec", wheel, "fauxka", "demo"))


def check_uvx(installation: Installation) -> None:
    """`uvx --from WHEEL fauxka demo`."""
    wheel, python = installation.artefact, installation.python
    expect_demo(run_alone(UV, "tool", "run", "--isolated", "--python", python, "--from", wheel, "fauxka", "demo"))


def run_alone(*command: str | Path) -> str:
    """Run a tool that installs for one run, with nothing of it left behind."""
    with tempfile.TemporaryDirectory() as home:
        return run_step(*command, variables=environment({"PIPX_HOME": home, "PIPX_BIN_DIR": f"{home}/bin"}))


def expect_demo(output: str) -> None:
    """Raise StepError if an output is not that of `fauxka demo`."""
    expect(output.rstrip().endswith(DEMO), f"fauxka demo: {output}")


@contextmanager
def serving(installation: Installation) -> Generator[Serving, None, None]:
    """Run `fauxka serve` on free ports for the length of the block, which must end it with exit code 0."""
    with tempfile.TemporaryDirectory() as folder:
        ready, log = Path(folder, "ready.json"), Path(folder, "log")
        options = ("--port", "0", "--admin-port", "0", "--ready-file", str(ready))
        command = installation.command("fauxka", "serve", *options)
        started = time.perf_counter()
        with log.open("w") as output:
            process = subprocess.Popen(
                command, cwd=installation.home, env=installation.variables(), stdout=output, stderr=output
            )
        try:
            addresses = _wait_until_ready(process, ready, log)
            seconds = time.perf_counter() - started
            yield Serving(str(addresses["bootstrap"]), f"http://{addresses['admin']}", seconds)
            process.send_signal(signal.SIGTERM)
            expect(process.wait(STOP_SECONDS_MAX) == 0, f"fauxka serve ended with {process.returncode}")
        finally:
            process.kill()
            process.wait()


def _wait_until_ready(process: subprocess.Popen[bytes], ready: Path, log: Path) -> Mapping[str, object]:
    deadline = time.monotonic() + START_SECONDS_MAX
    while not ready.exists():
        expect(process.poll() is None, f"fauxka serve ended with {process.returncode}: {log.read_text()}")
        expect(time.monotonic() < deadline, f"fauxka serve: not ready after {START_SECONDS_MAX} s")
        time.sleep(POLL_SECONDS)
    addresses: dict[str, object] = json.loads(ready.read_text())
    return addresses
