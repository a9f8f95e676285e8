"""Runs the load program, which is compiled from load.c on first use, and reads its figures."""

import hashlib
import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parent / "load.c"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fauxka"
# The slowest case takes about ten seconds on a quiet machine.
RUN_SECONDS_MAX = 300


class LoadError(Exception):
    """The load program failed; the message is its error output."""


@dataclass(frozen=True, slots=True)
class Case:
    """Batches of one size, and the number in flight."""

    name: str
    batches: int
    records_per_batch: int
    in_flight: int
    # A value of 90 bytes makes a record of 100 bytes.
    value_bytes: int = 90
    # The producers alternate.
    producers: int = 1


@dataclass(frozen=True, slots=True)
class Produced:
    """The figures of producing a case."""

    batch_bytes: int
    requests_per_s: float
    mb_per_s: float
    p50_us: float
    p99_us: float


def compiled() -> Path:
    """Return the load program; gcc compiles it unless it exists for the same source."""
    program = CACHE / f"load-{hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:12]}"
    if not program.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, SOURCE], check=True)
    return program


def produce(port: int, topic: str, case: Case) -> Produced:
    """Produce the batches of the case to partition 0 of a topic. Raises LoadError."""
    words = (case.batches, case.records_per_batch, case.value_bytes, case.in_flight, case.producers)
    return _produced(_run("produce", port, topic, *words))


def produce_together(port: int, topic: str, case: Case) -> Produced:
    """Produce with one connection per producer and one batch in flight on each. Raises LoadError."""
    words = (case.batches, case.records_per_batch, case.value_bytes, case.producers)
    return _produced(_run("together", port, topic, *words))


def _produced(figures: dict[str, float]) -> Produced:
    return Produced(
        batch_bytes=int(figures["batch_bytes"]),
        requests_per_s=figures["requests_per_s"],
        mb_per_s=figures["mb_per_s"],
        p50_us=figures["p50_us"],
        p99_us=figures["p99_us"],
    )


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
