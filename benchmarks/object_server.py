"""An S3 server over a folder, in which each folder is a bucket: versitygw, which go compiles on first use."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from .load_program import CACHE

PROGRAM = "github.com/versity/versitygw/cmd/versitygw"
VERSION = "v1.8.0"
START_SECONDS_MAX = 20
POLL_SECONDS = 0.05
STOP_SECONDS_MAX = 10

_LISTENING = "0A"


def object_server_missing() -> str | None:
    """Return the missing program, or None."""
    return None if shutil.which("go") else "go"


def object_server_program() -> Path:
    """Return the compiled server."""
    folder = CACHE / f"versitygw-{VERSION}"
    program = folder / "versitygw"
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["go", "install", f"{PROGRAM}@{VERSION}"], env={**os.environ, "GOBIN": str(folder)}, check=True)
    return program


@contextmanager
def object_server(folder: Path) -> Generator[dict[str, str]]:
    """Serve the folders of a folder during the block. Yields the environment variables of a client."""
    account = {"ROOT_ACCESS_KEY": "benchmark", "ROOT_SECRET_KEY": "secret-of-benchmark"}
    # Metadata of objects is in a folder of its own, because the file system may have no extended attributes.
    with TemporaryDirectory(prefix="fauxka-objects-") as own:
        side, log = Path(own, "metadata"), Path(own, "output")
        side.mkdir()
        command = [
            *(str(object_server_program()), "--port", "127.0.0.1:0", "--quiet"),
            *("posix", "--sidecar", str(side), str(folder)),
        ]
        with log.open("wb") as output:
            process = subprocess.Popen(command, env={**os.environ, **account}, stdout=output, stderr=output)
        try:
            yield {
                "AWS_ACCESS_KEY_ID": account["ROOT_ACCESS_KEY"],
                "AWS_SECRET_ACCESS_KEY": account["ROOT_SECRET_KEY"],
                "AWS_ENDPOINT_URL": f"http://127.0.0.1:{_port_of(process, log)}",
            }
        finally:
            process.terminate()
            process.wait(STOP_SECONDS_MAX)


def _port_of(process: subprocess.Popen[bytes], log: Path) -> int:
    """Wait until a process listens, and return its port, which the server does not print."""
    deadline = time.monotonic() + START_SECONDS_MAX
    while True:
        sockets = {os.readlink(file) for file in Path(f"/proc/{process.pid}/fd").glob("*") if file.is_symlink()}
        for line in Path(f"/proc/{process.pid}/net/tcp").read_text().splitlines()[1:]:
            _, local, _, state, *more = line.split()
            if state == _LISTENING and f"socket:[{more[5]}]" in sockets:
                return int(local.rpartition(":")[2], 16)
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"the object server did not start: {log.read_text(errors='replace')}")
        time.sleep(POLL_SECONDS)
