"""How long the event loop of a broker lets a small request wait.

    python -m tests.fuzz.pause_probe HOST:PORT PID

A process of its own sends ApiVersions over and over and prints each pause of at least PRINTED_MS. A busy machine is no
pause of the broker: the time in which the probe waited for a processor does not count, and a pause is no longer than
the broker's main thread had a processor meanwhile. Linux counts both.
"""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from ..wire.frames import api_versions_request
from ..wire.wire_connection import WireConnection

PRINTED_MS = 10.0
INTERVAL_SECONDS = 0.005
RESPONSE_SECONDS_MAX = 60.0
START_SECONDS_MAX = 20.0
POLL_SECONDS = 0.01
REQUEST = api_versions_request()
# The statistics of this thread, which is the main thread of its process.
_OWN = Path("/proc/self/schedstat")
CHECKOUT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Pause:
    """A request that waited, in seconds of the monotonic clock; ms: the pause of the broker's loop."""

    start: float
    end: float
    ms: float


@dataclass(frozen=True, slots=True)
class Scheduled:
    """For how long a thread had a processor, and for how long it waited for one."""

    running_ms: float
    waiting_ms: float


def _scheduled(statistics: Path) -> Scheduled:
    running_ns, waiting_ns, _ = map(int, statistics.read_bytes().split())
    return Scheduled(running_ns / 1e6, waiting_ns / 1e6)


class PauseMeter:
    """A connection that measures the pause of one request."""

    def __init__(self, address: str, process_id: int) -> None:
        self._connection = WireConnection(address, seconds_max=RESPONSE_SECONDS_MAX)
        self._broker = Path(f"/proc/{process_id}/task/{process_id}/schedstat")

    def measure(self) -> Pause:
        """Send a request and return its wait. Raises OSError if the broker does not respond."""
        broker_before, own_before = _scheduled(self._broker), _scheduled(_OWN)
        start = time.monotonic()
        self._connection.send(REQUEST)
        self._connection.receive_frame()
        end = time.monotonic()
        broker, own = _scheduled(self._broker), _scheduled(_OWN)
        waited_ms = (end - start) * 1000 - (own.waiting_ms - own_before.waiting_ms)
        return Pause(start, end, min(waited_ms, broker.running_ms - broker_before.running_ms))

    def close(self) -> None:
        self._connection.close()


class PauseProbe:
    """The process of the probe, which writes its pauses to a file."""

    def __init__(self, address: str, process_id: int, folder: Path) -> None:
        self._file = folder / "pauses"
        self._position = 0
        command = [sys.executable, "-m", "tests.fuzz.pause_probe", address, str(process_id)]
        with self._file.open("w") as output:
            self._process = subprocess.Popen(command, cwd=CHECKOUT, stdin=subprocess.DEVNULL, stdout=output)
        deadline = time.monotonic() + START_SECONDS_MAX
        while not self._file.stat().st_size:
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("the pause probe did not start")
            time.sleep(POLL_SECONDS)

    def take(self) -> list[Pause]:
        """Return the pauses since the last call. Raises RuntimeError if the probe has ended."""
        if self._process.poll() is not None:
            raise RuntimeError(f"the pause probe ended with {self._process.returncode}")
        with self._file.open() as file:
            file.seek(self._position)
            written, newline, _ = file.read().rpartition("\n")
        self._position += len(written) + len(newline)
        return [Pause(*map(float, line.split())) for line in written.splitlines()]

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()


def main() -> None:
    meter = PauseMeter(sys.argv[1], int(sys.argv[2]))
    is_first = True
    while True:
        pause = meter.measure()
        # The first one shows that the probe runs.
        if is_first or pause.ms >= PRINTED_MS:
            print(pause.start, pause.end, pause.ms, flush=True)
            is_first = False
        time.sleep(INTERVAL_SECONDS)


if __name__ == "__main__":
    main()
