"""The load program: compiled from load.c on first use, run, its figures read."""

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
    """The load program could not do its work; the message is what it said."""


@dataclass(frozen=True, slots=True)
class Case:
    """Batches of one size, and how many of them are on their way at a time."""

    name: str
    batches: int
    records_per_batch: int
    in_flight: int
    # 90 bytes of value make a record of 100 bytes.
    value_bytes: int = 90
    # They take turns.
    producers: int = 1


@dataclass(frozen=True, slots=True)
class Produced:
    """What producing the batches of a case took."""

    batch_bytes: int
    requests_per_s: float
    mb_per_s: float
    p50_us: float
    p99_us: float


def compiled() -> Path:
    """Return the load program, compiled by gcc unless it was before from the same source."""
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
    """Produce the same from a connection for each producer, which has one batch in flight. Raises LoadError."""
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
    """Fetch the topic from its start to end_offset, over and over. Raises LoadError."""
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
