"""A process that runs programs of another language, any number at a time: it takes longer to start than a trial.

- Its input has a line for each program: NUMBER, SHAPE, DEFECT, ADDRESS, CONFIGURATION ("short" or "default") and
  SECONDS, separated by tabs. A program that has not ended after SECONDS is ended.
- Its output has a line for each program that has ended: NUMBER, a tab, and the error, if there is one.
"""

from __future__ import annotations

import hashlib
import queue
import shutil
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path

from ...installations import CACHE, INSTALL_SECONDS_MAX, installed
from ...projects import run_in_project
from ...reference.kafka_process import reference_jars
from ...serving_process import environment
from .clients.client import Failed
from .world import World

HERE = Path(__file__).parent
# A program gives up before that: with short waits, and with the defaults of a client.
_SECONDS_MAX = {"short": 20, "default": 300}
# Of its limit: what a program has to close its clients.
_CLOSING_SECONDS_MAX = 10
_ENDED = "the process has ended"


def defect_of(world: World) -> str:
    """Return the name of the defect for a program of another language; "none" for the twin."""
    return "none" if world.defect is None else world.defect.name


def seconds_of(world: World) -> int:
    """Return what a program of another language has at most."""
    return _SECONDS_MAX[world.configuration]


class Runtime:
    """A process that runs programs. If one of them crashes it, all have crashed, and the next one starts another."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        """folder: where the command runs."""
        self._command = command
        self._folder = folder
        self._lock = threading.Lock()
        self._process: _Process | None = None

    def run(self, shape: str, world: World) -> None:
        """Run the program of this shape. Raises Failed with its error."""
        with self._lock:
            if self._process is not None and self._process.has_ended:
                self.close()
            if self._process is None:
                self._process = _Process(self._command, self._folder)
            process = self._process
        seconds = seconds_of(world)
        address = world.broker.bootstrap_servers
        if error := process.error_of((shape, defect_of(world), address, world.configuration, str(seconds)), seconds):
            raise Failed(error)

    def close(self) -> None:
        """End the process; the next program starts another."""
        if self._process is not None:
            self._process.close()
            self._process = None


class _Process:
    """A process of a runtime."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # The clients report each fault there.
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )
        self._numbers = count()
        self._lock = threading.Lock()
        self._errors: dict[str, queue.SimpleQueue[str]] = {}
        self._reader = threading.Thread(target=self._read, name="errors of programs", daemon=True)
        self._reader.start()

    @property
    def has_ended(self) -> bool:
        """Whether it runs no more programs."""
        return self._process.poll() is not None

    def error_of(self, words: Sequence[str], seconds: int) -> str:
        """Run a program, and return its error; "" for none."""
        number = str(next(self._numbers))
        error = self._errors[number] = queue.SimpleQueue()
        assert self._process.stdin is not None
        try:
            with self._lock:
                self._process.stdin.write("\t".join((number, *words)) + "\n")
                self._process.stdin.flush()
            return error.get(timeout=seconds + _CLOSING_SECONDS_MAX)
        except (BrokenPipeError, ValueError):
            # Its input is closed: it has crashed.
            return _ENDED
        except queue.Empty:
            return "it did not end"
        finally:
            del self._errors[number]

    def close(self) -> None:
        """End the process by the end of its input."""
        assert self._process.stdin is not None and self._process.stdout is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait(_CLOSING_SECONDS_MAX)
        self._reader.join()
        self._process.stdout.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            number, _, error = line.rstrip("\n").partition("\t")
            # A program that was given up may end later.
            with suppress(KeyError):
                self._errors[number].put(error)
        for waiting in list(self._errors.values()):
            waiting.put(_ENDED)


def close_runtimes() -> None:
    """End the processes that were started."""
    for runtime in (java, node):
        if runtime.cache_info().currsize:
            runtime().close()


@cache
def java() -> Runtime:
    """Start a virtual machine with the programs of the folder java."""
    classes = _installed("java", "javac", "-cp", f"{reference_jars()}/*", "-d", ".", "Programs.java")
    options = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx512m")
    return Runtime(("java", *options, "-cp", f"{classes}:{reference_jars()}/*", "Programs"), classes)


@cache
def node() -> Runtime:
    """Start Node with the programs of the folder node."""
    folder = _installed("node", "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
    return Runtime(("node", "programs.js"), folder)


def _installed(name: str, *command: str) -> Path:
    """Copy a folder into the cache and run a command there, unless that is done."""
    sources = sorted(path for path in (HERE / name).iterdir() if path.is_file())
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    folder = CACHE / f"family-{name}"

    def install() -> None:
        folder.mkdir(parents=True)
        for path in sources:
            shutil.copy(path, folder)
        run_in_project(folder, environment(), *command, seconds_max=INSTALL_SECONDS_MAX)

    return installed(folder, digest, install)
