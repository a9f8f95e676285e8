"""How long a small request waits beside clients that use the broker as much as they can: `benchmarks --fairness`.

A probe sends ApiVersions on a connection of its own every PROBE_SECONDS, and measures the time to the response. A probe
without a response counts as TIMEOUT_SECONDS and is the last one.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager

from . import load_program
from .batch_content import BatchContent
from .comparison import compare
from .disturbing_clients import FETCH_BYTES_MAX, HOST
from .load_program import Case
from .measurement import Figures
from .targets import API_VERSIONS_REQUEST, CHECKOUT, RunningTarget

PROBES = 1_000
PROBE_SECONDS = 0.005
TIMEOUT_SECONDS = 20.0
TOPIC = "fairness"
# Enough for a whole response.
CONTENT = Case("fairness", FETCH_BYTES_MAX // 900_000 + 2, BatchContent(8_200), in_flight=5)
P50_MS, P99_MS, MAX_MS = "p50 ms", "p99 ms", "longest ms"
KINDS = {"pipeline": "one client that pipelines without pause", "slow-readers": "100 slow readers of 36 MB"}


def main(round_count: int) -> dict[str, Figures]:
    """Measure each broker; print and return the medians."""
    return compare(round_count, lambda broker, _: measure(broker))


def measure(broker: RunningTarget) -> Figures:
    """Return the figures of a probe alone, and beside each kind of disturbing clients."""
    load_program.produce(broker.port, TOPIC, CONTENT)
    figures = probe_figures("no other client", broker.port)
    for kind, name in KINDS.items():
        with disturbed(kind, broker.port):
            figures |= probe_figures(name, broker.port)
    return figures


@contextmanager
def disturbed(kind: str, port: int) -> Generator[None]:
    """Have clients of the kind use the broker during the block."""
    command = [sys.executable, "-m", "benchmarks.disturbing_clients", kind, str(port), TOPIC]
    process = subprocess.Popen(command, cwd=CHECKOUT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with process:
        assert process.stdin is not None and process.stdout is not None, "both are pipes"
        try:
            if not process.stdout.readline():
                raise load_program.LoadError(f"the clients of {kind} did not connect")
            yield
        finally:
            process.stdin.close()
            process.wait(TIMEOUT_SECONDS)


def probe_figures(name: str, port: int) -> Figures:
    """Return percentiles of the time from a small request to its response."""
    waits: list[float] = []
    with socket.create_connection((HOST, port), TIMEOUT_SECONDS) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(PROBES):
            time.sleep(PROBE_SECONDS)
            start = time.perf_counter()
            try:
                connection.sendall(API_VERSIONS_REQUEST)
                size = int.from_bytes(connection.recv(4, socket.MSG_WAITALL))
                connection.recv(size, socket.MSG_WAITALL)
            except TimeoutError:
                waits.append(TIMEOUT_SECONDS * 1000)
                break
            waits.append((time.perf_counter() - start) * 1000)
    waits.sort()
    return {
        f"{name}: {P50_MS}": waits[len(waits) // 2],
        f"{name}: {P99_MS}": waits[len(waits) * 99 // 100],
        f"{name}: {MAX_MS}": waits[-1],
    }
