"""The programs of this folder: each is installed with its locked packages, and run against a broker."""

import hashlib
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fauxka.testing import Broker

from ..installations import CACHE, INSTALL_SECONDS_MAX, installed, run_uv
from ..projects import run_in_project
from ..runtimes import need
from ..serving_process import environment

HERE = Path(__file__).parent
GROUP = "the group ecosystem"
ORDERS = 10
# A virtual machine and its program take 5 to 20 seconds; ten times that on a busy machine.
RUN_SECONDS_MAX = 240
# From SIGTERM to SIGKILL.
STOP_SECONDS_MAX = 30
POLL_SECONDS = 0.05
LOGGER = "-Dorg.slf4j.simpleLogger"
# Connect logs its address and its start at the level info.
LOG_OPTIONS = (
    f"{LOGGER}.defaultLogLevel=warn",
    *(f"{LOGGER}.log.org.apache.kafka.connect.{name}=info" for name in ("runtime.rest.RestServer", "runtime.Connect")),
)
JAVA_OPTIONS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx512m", *LOG_OPTIONS)


@dataclass(frozen=True)
class Program:
    """An installed program. folder: a copy of its sources, beside which it is installed."""

    folder: Path
    command: tuple[str, ...]

    def run(self, *arguments: str) -> str:
        """Run it to its end, which must be a good one, and return its output."""
        command = (*self.command, *arguments)
        return run_in_project(self.folder, environment(), *command, seconds_max=RUN_SECONDS_MAX)

    @contextmanager
    def running(self, log_file: Path, *arguments: str) -> Generator["Running", None, None]:
        """Run it for the length of the block, and end it with SIGTERM. log_file: of its output."""
        with log_file.open("wb") as log:
            process = subprocess.Popen(
                [*self.command, *arguments],
                cwd=self.folder,
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        try:
            yield Running(process, log_file)
        finally:
            process.terminate()
            try:
                process.wait(STOP_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@dataclass(frozen=True)
class Running:
    """A program that runs until it is stopped."""

    process: subprocess.Popen[bytes]
    log_file: Path

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        """Wait until something is so; fails with the end of the log if the program ends before, or takes too long."""
        deadline = time.monotonic() + RUN_SECONDS_MAX
        while not is_so():
            ended = self.process.poll()
            if ended is not None or time.monotonic() > deadline:
                raise AssertionError(f"exit code {ended}:\n{self.log_file.read_text(errors='replace')[-6000:]}")
            time.sleep(POLL_SECONDS)


def python_program(name: str, version: str | None = None) -> Program:
    """Install a program of Python in an environment of its own, from its requirements.txt with hashes.

    version: of Python, such as "3.11", where the packages support no newer one.
    """
    python = _python_of(version)
    folder = CACHE / "ecosystem" / name
    interpreter = str(folder / "venv" / "bin" / "python")

    def install() -> None:
        shutil.copytree(HERE / name, folder)
        run_uv("venv", "--quiet", "--python", python, str(folder / "venv"))
        requirements = str(folder / "requirements.txt")
        run_uv("pip", "install", "--quiet", "--python", interpreter, "--require-hashes", "-r", requirements)

    installed(folder, _made_of(name, python), install)
    return Program(folder, (interpreter, "program.py"))


def java_program(name: str, main: str, kafka_version: str = "") -> Program:
    """Install a program of Java: the jars of its pom.xml, and its classes.

    main: the class that runs. kafka_version: of Kafka's jars, where the pom.xml has that property; "" for its own.
    """
    need("java", "javac", "mvn", group=GROUP)
    sources = sorted(path.name for path in (HERE / name).glob("*.java"))
    download = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
    compiling = [("javac", "-nowarn", "-cp", "jars/*", "-d", "classes", *sources)] if sources else []
    versions = (f"-Dkafka.version={kafka_version}",) if kafka_version else ()
    downloading = ("mvn", "-q", "-B", download, "-DincludeScope=runtime", "-DoutputDirectory=jars", *versions)
    folder = _installed_by(name, downloading, *compiling, variant=kafka_version)
    return Program(folder, ("java", *JAVA_OPTIONS, "-cp", "classes:jars/*", main))


def node_program(name: str) -> Program:
    """Install a program of Node from its package-lock.json."""
    need("node", "npm", group=GROUP)
    folder = _installed_by(name, ("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"))
    return Program(folder, ("node", "program.js"))


def c_program(name: str) -> Program:
    """Build a program of C by its build.sh, with sources that a package of Node has."""
    need("cc", "make", "node", "npm", group=GROUP)
    install = ("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
    return Program(_installed_by(name, install, ("sh", "build.sh")), ("./program",))


def go_program(name: str) -> Program:
    """Build a program of Go from its go.sum."""
    need("go", group=GROUP)
    return Program(_installed_by(name, ("go", "build", "-o", "program", ".")), ("./program",))


def rust_program(name: str) -> Program:
    """Build a program of Rust from its Cargo.lock."""
    need("cargo", group=GROUP)
    folder = _installed_by(name, ("cargo", "build", "--quiet", "--locked"))
    return Program(folder, ("target/debug/program",))


def _python_of(version: str | None) -> str:
    """Return the Python of this version: that of the tests, or one in PATH. Skips the test without one."""
    if version in (None, f"{sys.version_info.major}.{sys.version_info.minor}"):
        return sys.executable
    need(f"python{version}", group=GROUP)
    return f"python{version}"


def _installed_by(name: str, *commands: Sequence[str], variant: str = "") -> Path:
    """Copy a program into the cache and run commands there, unless that is done. variant: which of several it is."""
    folder = CACHE / "ecosystem" / "-".join(part for part in (name, variant) if part)

    def install() -> None:
        shutil.copytree(HERE / name, folder)
        for command in commands:
            run_in_project(folder, environment(), *command, seconds_max=INSTALL_SECONDS_MAX)

    return installed(folder, _made_of(name, variant) if variant else _made_of(name), install)


def _made_of(name: str, *more: str) -> str:
    """Return a digest of the files of a program."""
    digest = hashlib.sha256(repr(more).encode())
    for path in sorted((HERE / name).rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(repr((path.relative_to(HERE).as_posix(), path.read_bytes())).encode())
    return digest.hexdigest()


def seed_orders(broker: Broker, value_of: Callable[[int], str] = "order {}".format) -> None:
    """Create the topic `orders` with one partition, and append orders of customers 0 and 1 in turn.

    value_of: from the number of an order to its value.
    """
    broker.topics.create("orders", partitions=1)
    broker.topics.seed("orders", [{"key": str(number % 2), "value": value_of(number)} for number in range(ORDERS)])


def seed_json_orders(broker: Broker) -> None:
    """Seed orders that are JSON objects with their customers."""
    seed_orders(broker, lambda number: json.dumps({"customer": number % 2}))


def committed_values(broker: Broker, topic: str) -> list[bytes | None]:
    """Return the values that a consumer with read_committed gets, by partition and offset."""
    stored = broker.records(topic)
    return [each.value for each in stored if not each.is_control and each.transaction in ("none", "committed")]


def markers(broker: Broker, topic: str) -> set[str]:
    """Return the results of the transactions that ended in a topic: "committed", "aborted"."""
    return {each.transaction for each in broker.records(topic) if each.is_control}


def next_offset(broker: Broker, topic: str) -> int:
    """Return the offset after the last record of a topic with one partition; a marker may be there."""
    return max(each.offset for each in broker.records(topic) if not each.is_control) + 1


def committed_offset(broker: Broker, group: str, topic: str, partition: int = 0) -> int | None:
    """Return the offset that a group has committed for a partition; None without one."""
    offsets = [each for found in broker.groups.list() if found.group_id == group for each in found.offsets]
    return next((each.offset for each in offsets if (each.topic, each.partition) == (topic, partition)), None)
