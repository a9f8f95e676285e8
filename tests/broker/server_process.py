"""A fauxka serve process, for tests of its memory, file descriptors and log."""

import json
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

START_SECONDS_MAX = 120.0
STOP_SECONDS_MAX = 120.0
POLL_SECONDS = 0.01
_LIMITED = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({limit}, {limit}))"
# A module that is None cannot be imported.
_WITHOUT_UVLOOP = "import sys; sys.modules['uvloop'] = None"
_SERVE = "import runpy; runpy.run_module('fauxka', run_name='__main__', alter_sys=True)"


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
def running_server(
    folder: Path,
    *settings: str,
    options: Sequence[str] = (),
    descriptors_max: int | None = None,
    uvloop: bool = True,
    program: Sequence[str] | None = None,
) -> Generator[ServerProcess]:
    """Run a broker inside the with block.

    settings: "key=value". options: further ones of the command line. descriptors_max: its limit of open files.
    uvloop: False runs it on the event loop of asyncio. program: what to run in place of fauxka.
    """
    ready_file, log_file = folder / "ready.json", folder / "log"
    words = [word for setting in settings for word in ("-c", setting)]
    lines = [] if descriptors_max is None else [_LIMITED.format(limit=descriptors_max)]
    lines += [] if uvloop else [_WITHOUT_UVLOOP]
    lines.append(_SERVE)
    port = [] if "--listener" in options else ["--port", "0"]
    arguments = [*port, "--admin-port", "off", "--ready-file", str(ready_file), *words, *options]
    command = [*(program or (sys.executable, "-c", "\n".join(lines))), "serve", *arguments]
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
