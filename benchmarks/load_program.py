"""Runs the load program, which is compiled from load.c on first use, and reads its figures."""

import hashlib
import json
import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

from .batch_content import DISTINCT_BATCHES, BatchContent, encoded_batches

SOURCE = Path(__file__).parent / "load.c"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fauxka"
# The slowest case takes about ten seconds on a quiet machine.
RUN_SECONDS_MAX = 300
# Of the requests that a sustained load repeats: about 20 MB.
PREPARED_RECORDS = 200_000


class LoadError(Exception):
    """The load program failed; the message is its error output."""


@dataclass(frozen=True, slots=True)
class Case:
    """Requests with batches of one kind.

    in_flight: requests sent before the first response is awaited. The producers alternate, and so do the partitions of
    all topics.
    """

    name: str
    requests: int
    content: BatchContent
    in_flight: int
    producers: int = 1
    topics: int = 1
    partitions: int = 1


@dataclass(frozen=True, slots=True)
class Produced:
    """The figures of producing a case. mb: the bytes of all batches, in MB."""

    mb: float
    requests_per_s: float
    mb_per_s: float
    p50_us: float
    p99_us: float


@dataclass(frozen=True, slots=True)
class Sustained:
    """The figures of a load that ran for some seconds. mb: the bytes of all batches, in MB."""

    mb: float
    requests_per_s: float
    mb_per_s: float


def compiled() -> Path:
    """Return the load program; gcc compiles it unless it exists for the same source."""
    program = CACHE / f"load-{hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:12]}"
    if not program.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, SOURCE], check=True)
    return program


def produce(port: int, topic: str, case: Case) -> Produced:
    """Produce the batches of the case to partition 0 of a topic. Raises LoadError."""
    with _batches_file(case) as path:
        words = (path, case.requests, case.in_flight, case.producers, case.topics, case.partitions)
        return Produced(**_run("produce", port, topic, *words))


def produce_bursts(port: int, topic: str, case: Case) -> Produced:
    """Do as produce, but send the requests in flight by one call, and the next ones when all are answered."""
    with _batches_file(case) as path:
        words = (path, case.requests, case.in_flight, case.producers, case.topics, case.partitions)
        return Produced(**_run("bursts", port, topic, *words))


def produce_together(port: int, topic: str, case: Case) -> Produced:
    """Produce with one connection per producer and one batch in flight on each. Raises LoadError."""
    with _batches_file(case) as path:
        words = (path, case.requests, case.producers, case.topics, case.partitions)
        return Produced(**_run("together", port, topic, *words))


@contextmanager
def _batches_file(case: Case) -> Generator[str]:
    with NamedTemporaryFile() as file:
        file.write(encoded_batches(case.content))
        file.flush()
        yield file.name


class SustainedLoad:
    """A load program that runs beside this process."""

    def __init__(self, process: subprocess.Popen[str], seconds: float) -> None:
        """seconds: how long it runs."""
        self._process = process
        self._seconds = seconds

    def wait(self) -> Sustained:
        """Return the figures when the load has ended. Raises LoadError."""
        try:
            output, errors = self._process.communicate(timeout=self._seconds + RUN_SECONDS_MAX)
        except subprocess.TimeoutExpired as error:
            raise LoadError(f"a load of {self._seconds} s took {RUN_SECONDS_MAX} s longer") from error
        if self._process.returncode:
            raise LoadError(errors.strip().removeprefix("load: "))
        return Sustained(**json.loads(output))


@contextmanager
def sustained(port: int, topic: str, case: Case, seconds: float) -> Generator[SustainedLoad]:
    """Produce the batches of a case to partition 0 of a topic for some seconds, during the block.

    The requests are prepared once and have no producer id, so that they can be repeated.
    """
    prepared = max(DISTINCT_BATCHES, PREPARED_RECORDS // case.content.records)
    with _batches_file(case) as path:
        words = ("sustain", "127.0.0.1", port, topic, path, prepared, case.in_flight, seconds)
        command = [str(compiled()), *map(str, words)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            yield SustainedLoad(process, seconds)
        finally:
            process.kill()
            process.communicate()


def fetch_mb_per_s(port: int, topic: str, end_offset: int, seconds: float) -> float:
    """Fetch the topic from its start to end_offset repeatedly for some seconds. Raises LoadError."""
    return _run("fetch", port, topic, end_offset, seconds)["mb_per_s"]


def _run(action: str, port: int, *words: str | float) -> dict[str, float]:
    command = [str(compiled()), action, "127.0.0.1", str(port), *map(str, words)]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=RUN_SECONDS_MAX)
    except subprocess.TimeoutExpired as error:
        raise LoadError(f"{action} took longer than {RUN_SECONDS_MAX} s") from error
    if result.returncode:
        raise LoadError(result.stderr.strip().removeprefix("load: "))
    figures: dict[str, float] = json.loads(result.stdout)
    return figures
