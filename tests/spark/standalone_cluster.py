"""A standalone Spark cluster on loopback, with the master and workers of the installed pyspark."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Iterable, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from ..serving_process import environment

LOOPBACK = "127.0.0.1"
# A JVM starts in a few seconds, or many times that on a busy machine.
START_SECONDS_MAX = 120
STOP_SECONDS_MAX = 30
POLL_SECONDS = 0.05

DEPLOY_MASTER = ("org.apache.spark.deploy.master.Master", "--webui-port", "0")
DEPLOY_WORKER = ("org.apache.spark.deploy.worker.Worker", "--webui-port", "0")

_MASTER_IS_UP = re.compile(r"Starting Spark master at (spark://\S+)")
_WORKER_IS_UP = re.compile(r"Successfully registered with master")

# The workers import the packages of this environment through a .pth line with their folder. The checkout itself is
# installed by another .pth file, which is not read from that folder.
_LENT = "lent.pth"


@dataclass(frozen=True)
class Cluster:
    """A running cluster."""

    master: str
    # The Python of the executors, which cannot import fauxka.
    python: Path
    # More environment variables of a driver.
    more: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def variables(self) -> Mapping[str, str]:
        """The environment variables of a driver."""
        return {"PYSPARK_PYTHON": str(self.python), "SPARK_LOCAL_IP": LOOPBACK, **self.more}


def pyspark_home() -> Path:
    """Return the folder that has Spark's jars and programs."""
    pyspark = find_spec("pyspark")
    assert pyspark is not None and pyspark.origin is not None, "pyspark is installed"
    return Path(pyspark.origin).parent


def python_without_fauxka(folder: Path) -> Path:
    """Make an environment with all packages that are installed here except fauxka."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    numpy = find_spec("numpy")
    assert numpy is not None and numpy.origin is not None, "numpy is installed"
    (packages / _LENT).write_text(f"{Path(numpy.origin).parents[1]}\n")
    return folder / "bin" / "python"


@contextmanager
def standalone_cluster(
    folder: Path, *, worker_count: int, variables: Mapping[str, str] | None = None
) -> Generator[Cluster, None, None]:
    """Run a master and workers of one core each within the block. folder: for their files.

    variables: environment variables of the workers, which their executors inherit.
    """
    python = python_without_fauxka(folder / "python")
    with ExitStack() as running:
        started = running.enter_context(daemon(folder, [*DEPLOY_MASTER, "--host", LOOPBACK, "--port", "0"]))
        master = said(started, _MASTER_IS_UP)
        address = ["--host", LOOPBACK, "--port", "0", "--cores", "1", "--memory", "1g"]
        workers = [
            running.enter_context(
                daemon(folder / f"worker-{number}", [*DEPLOY_WORKER, *address, "--work-dir", "work", master], variables)
            )
            for number in range(worker_count)
        ]
        for worker in workers:
            said(worker, _WORKER_IS_UP)
        yield Cluster(master, python)


@dataclass(frozen=True)
class Daemon:
    process: subprocess.Popen[bytes]
    log: Path


@contextmanager
def daemon(
    folder: Path, arguments: Iterable[str], more: Mapping[str, str] | None = None, home: Path | None = None
) -> Generator[Daemon, None, None]:
    """Run a Spark daemon in its own folder, outside the checkout and without its environment variables.

    arguments: its class, and those of the class. home: of Spark, by default the installed pyspark.
    """
    home = home or pyspark_home()
    folder.mkdir(exist_ok=True)
    log = folder / "log"
    kept = {key: value for key, value in environment().items() if key not in ("PYTHONPATH", "SPARK_CONF_DIR")}
    variables = {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": LOOPBACK, "SPARK_DAEMON_MEMORY": "256m"}
    with log.open("wb") as file:
        process = subprocess.Popen(
            [str(home / "bin" / "spark-class"), *arguments],
            env={**kept, **variables, **(more or {})},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield Daemon(process, log)
    finally:
        _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Stop a daemon as Spark's scripts do; a worker stops its executors."""
    process.terminate()
    try:
        process.wait(STOP_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def said(daemon: Daemon, words: re.Pattern[str]) -> str:
    """Wait for a pattern in the log of a daemon; return its last group, or the whole match."""
    deadline = time.monotonic() + START_SECONDS_MAX
    while True:
        text = daemon.log.read_text(errors="replace")
        found = words.search(text)
        if found is not None:
            return found.group(found.lastindex or 0)
        assert daemon.process.poll() is None, f"ended with {daemon.process.returncode}:\n{text}"
        assert time.monotonic() < deadline, f"nothing of {words.pattern} after {START_SECONDS_MAX} s:\n{text}"
        time.sleep(POLL_SECONDS)
