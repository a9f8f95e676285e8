"""A real Kafka of several brokers whose nodes can be killed, stopped, frozen and brought back one by one."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from .kafka_process import SCRIPT, STOP_SECONDS_MAX, free_ports, wait_until_it_answers

# The cluster id that the script gives to every cluster.
CLUSTER_ID = "AAAAAAAAAAAAAAAAAAAAAA"
# The node id that the script gives to the controller.
CONTROLLER_ID = 100
# A controlled shutdown that finds no controller gives up after five minutes; with one it takes a few seconds.
CONTROLLED_STOP_SECONDS_MAX = 120
# Four virtual machines on few processors: what compiles little and collects with one thread starts soonest.
JAVA_OPTIONS = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"


class KafkaCluster:
    """The running nodes of a prepared folder: the controller, and brokers from node 1 on."""

    def __init__(self, folder: Path, first_port: int, count: int) -> None:
        """count: how many brokers there are; the controller has the port behind theirs."""
        self._folder = folder
        self._first_port = first_port
        self._count = count
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def address(self, node: int) -> str:
        """Return the "host:port" of a node."""
        return f"127.0.0.1:{self._port(node)}"

    def start_all(self) -> None:
        """Start the controller and all brokers, and return when they respond."""
        nodes = [CONTROLLER_ID, *range(1, self._count + 1)]
        for node in nodes:
            self._launch(_name(node))
        for node in nodes:
            self._wait(node)

    def kill(self, node: int) -> None:
        """End a broker, or the controller, by SIGKILL."""
        self._end(_name(node))

    def stop(self, node: int) -> None:
        """Stop a broker by SIGTERM; raises TimeoutExpired when its controlled shutdown takes too long."""
        process = self._processes.pop(_name(node))
        process.terminate()
        process.wait(CONTROLLED_STOP_SECONDS_MAX)

    def start(self, node: int) -> None:
        """Start a node that was killed or stopped, and return when it responds."""
        self._launch(_name(node))
        self._wait(node)

    def freeze(self, node: int) -> None:
        """Stop a broker by SIGSTOP."""
        self._processes[_name(node)].send_signal(signal.SIGSTOP)

    def thaw(self, node: int) -> None:
        """Let a frozen broker go on."""
        self._processes[_name(node)].send_signal(signal.SIGCONT)

    def pass_seconds(self, seconds: float) -> None:
        """Wait: the brokers have the machine's clock."""
        time.sleep(seconds)

    def elapsed_seconds(self) -> float:
        """Return the time of the machine's monotonic clock."""
        return time.monotonic()

    def end_all(self) -> None:
        """End every process."""
        for name in list(self._processes):
            self._end(name)

    def _end(self, name: str) -> None:
        process = self._processes.pop(name)
        process.kill()
        process.wait(STOP_SECONDS_MAX)

    def _launch(self, name: str) -> None:
        with (self._folder / f"{name}.log").open("ab") as log:
            self._processes[name] = subprocess.Popen(
                [str(SCRIPT), "start", str(self._folder), name],
                env={**os.environ, "JAVA_TOOL_OPTIONS": JAVA_OPTIONS},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def _wait(self, node: int) -> None:
        name = _name(node)
        wait_until_it_answers(self._processes[name], self._port(node), self._folder / f"{name}.log")

    def _port(self, node: int) -> int:
        return self._first_port + (self._count if node == CONTROLLER_ID else node - 1)


@contextmanager
def kafka_cluster(
    folder: Path, config: Mapping[str, str], racks: Sequence[str], fill: Callable[[Path], None] | None = None
) -> Generator[KafkaCluster, None, None]:
    """Run a controller and one broker a rack for the length of the block.

    config: server properties of all. fill: called with the folder before the start; may replace the formatted folders
    `controller` and `node-1` and so on.
    """
    port = free_ports(len(racks) + 1)
    properties = [f"{key}={value}" for key, value in config.items()]
    # Formatting the folders writes to standard output too.
    subprocess.run(
        [str(SCRIPT), "cluster", str(len(racks)), str(port), str(folder), *properties],
        env={**os.environ, "JAVA_TOOL_OPTIONS": JAVA_OPTIONS},
        check=True,
        capture_output=True,
    )
    for node, rack in enumerate(racks, 1):
        with (folder / f"{_name(node)}.properties").open("a") as file:
            file.write(f"broker.rack={rack}\n")
    if fill is not None:
        fill(folder)
    cluster = KafkaCluster(folder, port, len(racks))
    try:
        cluster.start_all()
        yield cluster
    finally:
        cluster.end_all()


def _name(node: int) -> str:
    return "controller" if node == CONTROLLER_ID else f"node-{node}"
