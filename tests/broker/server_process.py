"""A fauxka serve process, for tests of its memory, file descriptors and log."""

import json
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

START_SECONDS_MAX = 20.0
STOP_SECONDS_MAX = 10.0
POLL_SECONDS = 0.01


class ServerProcess:
    """A running server."""

    def __init__(self, process: subprocess.Popen[bytes], address: str, log_file: Path) -> None:
        self.process = process
        self.address = address
        self.log_file = log_file

    def memory_mib(self) -> float:
        """Resident memory."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        raise AssertionError("the process has no memory")

    def open_files(self) -> int:
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))

    def log(self) -> str:
        return self.log_file.read_text()


@contextmanager
def running_server(folder: Path, *settings: str) -> Generator[ServerProcess]:
    """Run a broker inside the with block. settings: "key=value"."""
    ready_file, log_file = folder / "ready.json", folder / "log"
    words = [word for setting in settings for word in ("-c", setting)]
    options = ["--port", "0", "--admin-port", "off", "--ready-file", str(ready_file), *words]
    command = [sys.executable, "-m", "fauxka", "serve", *options]
    with log_file.open("wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            yield ServerProcess(process, _address_when_ready(process, ready_file, log_file), log_file)
        finally:
            process.terminate()
            process.wait(STOP_SECONDS_MAX)


def _address_when_ready(process: subprocess.Popen[bytes], ready_file: Path, log_file: Path) -> str:
    deadline = time.monotonic() + START_SECONDS_MAX
    while not ready_file.exists():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"did not start: {log_file.read_text()}")
        time.sleep(POLL_SECONDS)
    return str(json.loads(ready_file.read_text())["bootstrap"])
