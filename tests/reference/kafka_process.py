"""A real Kafka in a process of its own, for the tests that put the same questions to it as to fauxka."""

import os
import random
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

SCRIPT = Path(__file__).parent / "kafka"
# For releases before 3.3, which need ZooKeeper in production.
ZOOKEEPER_SCRIPT = Path(__file__).parent / "zookeeper_kafka"
KRAFT_SINCE = (3, 3)

# A broker and its controller take a port and the next one. They are drawn from below the range that the kernel gives to
# outgoing connections: a client that polls a port in that range before anybody listens can connect to itself.
FIRST_PORT = 20_000
LAST_PORT = 30_000
PORT_DRAWS_MAX = 50

# Kafka takes about five seconds on a quiet machine; ten times that on one that does much else.
START_SECONDS_MAX = 60
STOP_SECONDS_MAX = 20

# ApiVersions version 0, correlation id 7, client id null, behind the four bytes of its size.
API_VERSIONS_REQUEST = struct.pack(">ihhih", 10, 18, 0, 7, -1)
API_VERSIONS_ANSWER = struct.Struct(">iih")


def reference_jars(version: str | None = None) -> str:
    """Return the folder of Kafka's jars, after a download where there was none. version: as in running_kafka."""
    environment = os.environ if version is None else os.environ | {"KAFKA_VERSION": version}
    command = [str(_script_of(environment.get("KAFKA_VERSION"))), "jars"]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.strip()


@dataclass(frozen=True)
class KafkaProcess:
    """A Kafka that runs: the script, and below it the virtual machine."""

    script: subprocess.Popen[bytes]
    address: str

    def kill(self) -> None:
        """Send the virtual machine SIGKILL, and return when script and machine have ended."""
        children = Path(f"/proc/{self.script.pid}/task/{self.script.pid}/children").read_text().split()
        machine = next(int(pid) for pid in children if Path(f"/proc/{pid}/comm").read_text() == "java\n")
        os.kill(machine, signal.SIGKILL)
        self.script.wait(STOP_SECONDS_MAX)


@contextmanager
def running_kafka(
    log_file: Path, config: Mapping[str, str] | None = None, *, version: str | None = None
) -> Generator[str, None, None]:
    """Run a real Kafka with these server properties for the length of the block, and yield its bootstrap address.

    version: the version of Kafka; None for the default one of the script.
    """
    variables = {} if version is None else {"KAFKA_VERSION": version}
    with kafka_process(log_file, config, variables=variables) as kafka:
        yield kafka.address


@contextmanager
def kafka_process(
    log_file: Path,
    config: Mapping[str, str] | None = None,
    data: Path | None = None,
    *,
    port: int | None = None,
    variables: Mapping[str, str] | None = None,
) -> Generator[KafkaProcess, None, None]:
    """Run a real Kafka for the length of the block, and stop it cleanly.

    data: the folder of its logs, kept; made by it where it is not there. None for one that is removed at the end.
    port: of the broker; its controller has the next one. None for free ones.
    variables: further environment variables. KAFKA_VERSION before 3.3 runs ZooKeeper too; such a broker keeps no data.
    """
    port = free_ports(2) if port is None else port
    properties = [f"{key}={value}" for key, value in (config or {}).items()]
    environment = {**os.environ, **({} if data is None else {"KAFKA_DATA": str(data)}), **(variables or {})}
    with log_file.open("wb") as log:
        process = subprocess.Popen(
            [str(_script_of(environment.get("KAFKA_VERSION"))), "run", str(port), *properties],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
        try:
            wait_until_it_answers(process, port, log_file)
            yield KafkaProcess(process, f"127.0.0.1:{port}")
        finally:
            process.terminate()
            process.wait(STOP_SECONDS_MAX)


def _script_of(version: str | None) -> Path:
    """Return the script that runs a version; None for the default one."""
    if version is None:
        return SCRIPT
    major, minor, *_ = version.split(".")
    return SCRIPT if (int(major), int(minor)) >= KRAFT_SINCE else ZOOKEEPER_SCRIPT


@contextmanager
def running_kafka_nodes(
    folder: Path, count: int, config: Mapping[str, str] | None = None
) -> Generator[list[str], None, None]:
    """Run a real Kafka of several brokers and a controller, and yield the address of each broker, from node 1 on."""
    port = free_ports(count + 1)
    properties = [f"{key}={value}" for key, value in (config or {}).items()]
    # Formatting the folders writes to standard output too.
    subprocess.run(
        [str(SCRIPT), "cluster", str(count), str(port), str(folder), *properties], check=True, capture_output=True
    )
    names = ["controller", *(f"node-{number}" for number in range(1, count + 1))]
    with ExitStack() as running:
        processes = [running.enter_context(_started_node(folder, name)) for name in names]
        for number, process in enumerate(processes[1:]):
            wait_until_it_answers(process, port + number, folder / f"node-{number + 1}.log")
        yield [f"127.0.0.1:{port + number}" for number in range(count)]


@contextmanager
def _started_node(folder: Path, name: str) -> Generator[subprocess.Popen[bytes], None, None]:
    with (folder / f"{name}.log").open("wb") as log:
        command = [str(SCRIPT), "start", str(folder), name]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        yield process
    finally:
        # Without their controller brokers would wait for it; nothing of them is kept.
        process.kill()
        process.wait(STOP_SECONDS_MAX)


def free_ports(count: int) -> int:
    """Return the first of so many free ports in a row."""
    for _ in range(PORT_DRAWS_MAX):
        port = random.randrange(FIRST_PORT, LAST_PORT - count, 2)
        if all(_is_free(port + number) for number in range(count)):
            return port
    raise RuntimeError(f"no {count} free ports in a row in {PORT_DRAWS_MAX} draws from {FIRST_PORT}..{LAST_PORT}")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def wait_until_it_answers(process: subprocess.Popen[bytes], port: int, log_file: Path) -> None:
    deadline = time.monotonic() + START_SECONDS_MAX
    while not _answers_api_versions(port):
        ended = process.poll()
        if ended is not None or time.monotonic() > deadline:
            last_lines = log_file.read_text(errors="replace")[-2000:]
            raise RuntimeError(f"Kafka on port {port} does not answer (exit code {ended}):\n{last_lines}")
        time.sleep(0.1)


def _answers_api_versions(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.settimeout(START_SECONDS_MAX)
            connection.sendall(API_VERSIONS_REQUEST)
            answer = connection.recv(API_VERSIONS_ANSWER.size, socket.MSG_WAITALL)
    except OSError:
        return False
    if len(answer) < API_VERSIONS_ANSWER.size:
        return False
    _size, correlation_id, error_code = API_VERSIONS_ANSWER.unpack(answer)
    return bool(correlation_id == 7 and error_code == 0)
