"""A PostgreSQL server on loopback with one table, for the length of a block."""

from __future__ import annotations

import csv
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..runtimes import need

USER, DATABASE = "shop", "postgres"
START_SECONDS_MAX = 60
POLL_SECONDS = 0.05
# PostgreSQL does not run as root.
_UNPRIVILEGED = 65534


@dataclass(frozen=True)
class PostgresServer:
    """A server that accepts connections without a password."""

    port: int

    @property
    def url(self) -> str:
        return f"jdbc:postgresql://127.0.0.1:{self.port}/{DATABASE}"


@contextmanager
def postgres_server(table: str, definition: str, rows: Iterable[Sequence[object]]) -> Generator[PostgresServer]:
    """Run a server with a table of these rows. definition: of its columns. Skips the test without PostgreSQL."""
    need("initdb", "postgres", group="a table of PostgreSQL")
    # Beside the folders of pytest, which only their owner may enter.
    folder = Path(tempfile.mkdtemp(prefix="fauxka-postgres-"))
    try:
        with (folder / "rows.csv").open("w", newline="") as file:
            csv.writer(file).writerows(rows)
        if _owner() is not None:
            for path in (folder, folder / "rows.csv"):
                shutil.chown(path, _UNPRIVILEGED, _UNPRIVILEGED)
        _run(folder, "initdb", "-D", str(folder / "data"), "-U", USER, "-A", "trust", "--no-sync", "-E", "UTF8")
        statements = f"create table {table} ({definition});\n\ncopy {table} from '{folder}/rows.csv' csv;\n\n"
        _run(folder, "postgres", "--single", "-j", "-D", str(folder / "data"), DATABASE, statements=statements)
        with _running(folder) as server:
            yield server
    finally:
        shutil.rmtree(folder)


def _owner() -> int | None:
    return _UNPRIVILEGED if os.geteuid() == 0 else None


def _run(folder: Path, *command: str, statements: str = "") -> None:
    ended = subprocess.run(
        command,
        input=statements,
        cwd=folder,
        user=_owner(),
        group=_owner(),
        extra_groups=None if _owner() is None else [],
        capture_output=True,
        text=True,
        timeout=START_SECONDS_MAX,
        check=False,
    )
    assert ended.returncode == 0 and "ERROR" not in ended.stderr, ended.stdout + ended.stderr


@contextmanager
def _running(folder: Path) -> Generator[PostgresServer]:
    port = _free_port()
    options = ("-h", "127.0.0.1", "-p", str(port), "-k", str(folder), "-F")
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            ["postgres", "-D", str(folder / "data"), *options],
            cwd=folder,
            user=_owner(),
            group=_owner(),
            extra_groups=None if _owner() is None else [],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        _wait_until_ready(process, port, folder / "log")
        yield PostgresServer(port)
    finally:
        process.terminate()
        process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_ready(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS_MAX
    while "ready to accept connections" not in log.read_text():
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline, f"no server at port {port}: {log.read_text()}"
        time.sleep(POLL_SECONDS)
