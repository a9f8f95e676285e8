"""Starts and stops the measured brokers."""

import hashlib
import json
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .load_program import CACHE

CHECKOUT = Path(__file__).parent.parent
KFAKE = CHECKOUT / "benchmarks" / "kfake"
KAFKA = CHECKOUT / "tests" / "reference" / "kafka"
START_SECONDS_MAX = 180.0
# A clean shutdown syncs gigabytes of dirty pages.
STOP_SECONDS_MAX = 120.0
# Short compared to the fastest cold start, about 100 ms.
POLL_SECONDS = 0.002
# Below the ephemeral ports of the kernel; Kafka needs two consecutive ports.
FIRST_PORT, LAST_PORT = 30_000, 32_000
# ApiVersions version 0 with correlation id 1 and client id null, after the four bytes of its size.
API_VERSIONS_REQUEST = struct.pack(">ihhih", 10, 18, 0, 1, -1)


@dataclass(frozen=True, slots=True)
class Target:
    """A broker to measure.

    command: returns the command for a port and a ready file; the broker uses one of them.
    missing: the missing programs, or None.
    """

    name: str
    command: Callable[[int, Path], list[str]]
    missing: str | None = None
    writes_ready_file: bool = True


@dataclass(frozen=True, slots=True)
class RunningTarget:
    """A running broker."""

    process_id: int
    port: int
    cold_start_ms: float


def fauxka(*config: str) -> Callable[[int, Path], list[str]]:
    """Return the command of a fauxka with these settings."""
    settings = [word for entry in config for word in ("-c", entry)]
    return lambda port, ready_file: [
        sys.executable, "-m", "fauxka", "serve",
        "--port", str(port), "--admin-port", "0", "--ready-file", str(ready_file), *settings,
    ]  # fmt: skip


def fauxka_on_disk(*words: str) -> Callable[[int, Path], list[str]]:
    """Return the command of a fauxka with its data folder beside the ready file and more arguments."""
    in_memory = fauxka()
    return lambda port, ready_file: [
        *in_memory(port, ready_file), "--data-dir", str(ready_file.parent / "data"), *words
    ]  # fmt: skip


def librdkafka_mock(port: int, ready_file: Path) -> list[str]:
    """Return the command of librdkafka's mock, which chooses its own port."""
    return [sys.executable, "-m", "benchmarks.librdkafka_mock", str(ready_file)]


def kafka(*properties: str) -> Callable[[int, Path], list[str]]:
    """Return the command of a real Kafka with these server properties; it writes no ready file."""
    return lambda port, ready_file: [str(KAFKA), "run", str(port), *properties]


def kfake(port: int, ready_file: Path) -> list[str]:
    """Return the command of franz-go's kfake, which go compiles on first use; it writes no ready file."""
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(KFAKE.iterdir()))).hexdigest()[:12]
    program = CACHE / f"kfake-{digest}"
    if not program.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        subprocess.run(["go", "build", "-o", str(program), "."], cwd=KFAKE, check=True)
    return [str(program), str(port)]


def _missing(*programs: str) -> str | None:
    return ", ".join(program for program in programs if shutil.which(program) is None) or None


def kfake_missing() -> str | None:
    """Return the missing programs for kfake, or None."""
    return _missing("go")


def kafka_missing() -> str | None:
    """Return the missing programs for a real Kafka, or None."""
    return _missing("bash", "java", "mvn")


FAUXKA = "fauxka"
FAUXKA_ON_DISK = "fauxka on disk"
FAUXKA_BATCH = "fauxka, validation=batch"
BATCH_SETTING = "fauxka.record.validation=batch"
LIBRDKAFKA_MOCK = "librdkafka's mock"
KFAKE_NAME = "kfake"
KAFKA_NAME = "Kafka 4.3"
TARGETS = (
    Target(FAUXKA, fauxka()),
    Target(FAUXKA_ON_DISK, fauxka_on_disk()),
    Target(FAUXKA_BATCH, fauxka(BATCH_SETTING)),
    Target(LIBRDKAFKA_MOCK, librdkafka_mock),
    Target(KFAKE_NAME, kfake, _missing("go"), writes_ready_file=False),
    Target(KAFKA_NAME, kafka(), kafka_missing(), writes_ready_file=False),
)


@contextmanager
def running(target: Target) -> Generator[RunningTarget]:
    """Run a target during the block. Raises RuntimeError with the end of its log if it does not start."""
    with tempfile.TemporaryDirectory() as folder, running_in(Path(folder), target) as broker:
        yield broker


@contextmanager
def running_in(folder: Path, target: Target) -> Generator[RunningTarget]:
    """Run a target with its files in folder, perhaps those of an earlier run; the block may kill it."""
    ready_file, log_file = folder / "ready.json", folder / "log"
    ready_file.unlink(missing_ok=True)
    port = _free_pair_of_ports()
    with log_file.open("wb") as log:
        start = time.perf_counter()
        process = subprocess.Popen(
            target.command(port, ready_file),
            cwd=CHECKOUT,
            env=bytecode_environment(),
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            port = _port_when_ready(process, port, ready_file, log_file)
            cold_start_ms = (time.perf_counter() - start) * 1000
            if target.writes_ready_file:
                # Waits for the admin API too, so that its start does not disturb the load.
                _wait_for(ready_file)
            yield RunningTarget(process.pid, port, cold_start_ms)
        finally:
            _stop(process)


def bytecode_environment() -> dict[str, str]:
    """Return an environment in which Python caches its bytecode, as for installed packages."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**environment, "PYTHONPYCACHEPREFIX": str(CACHE / "bytecode")}


def _port_when_ready(process: subprocess.Popen[bytes], port: int, ready_file: Path, log_file: Path) -> int:
    deadline = time.monotonic() + START_SECONDS_MAX
    while True:
        if ready_file.exists():
            port = int(json.loads(ready_file.read_text())["bootstrap"].rpartition(":")[2])
        if _is_ready(port):
            return port
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"did not start: {log_file.read_text(errors='replace')[-1000:]}")
        time.sleep(POLL_SECONDS)


def _wait_for(ready_file: Path) -> None:
    deadline = time.monotonic() + START_SECONDS_MAX
    while not ready_file.exists():
        if time.monotonic() > deadline:
            raise RuntimeError(f"no ready file after {START_SECONDS_MAX} s")
        time.sleep(POLL_SECONDS)


def _is_ready(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(API_VERSIONS_REQUEST)
            return len(connection.recv(4, socket.MSG_WAITALL)) == 4
    except OSError:
        return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Terminate the process group of a process."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _free_pair_of_ports() -> int:
    for port in random.sample(range(FIRST_PORT, LAST_PORT, 2), 50):
        if _is_free(port) and _is_free(port + 1):
            return port
    raise RuntimeError(f"found no two consecutive free ports in 50 of {FIRST_PORT}..{LAST_PORT}")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
