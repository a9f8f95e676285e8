"""Time, CPU time, shuffled bytes and peak memory of an audit of logs of different sizes.

With local[2] the driver's virtual machine also runs the tasks. Its heap is the same for all sizes and allocated at the
start, so an audit that needs more heap fails with OutOfMemoryError, and memory outside the heap shows in the figures.
The Python workers, which decode, are separate processes. The logs are generated and deleted one at a time. With
another checkout each audit runs in both, one after the other, so that a slow hour affects both.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .generated_log import GeneratedLog, generate_log
from .measurement import Figures
from .process_tree import own_cpu_seconds, peak_memory_mib, process_ids, program_of
from .targets import CHECKOUT

RECORD_COUNTS = (1_000_000, 3_000_000, 10_000_000)
# Too small for anything that grows with the log.
HEAP = "512m"
# The measured audits and their options.
AUDITS = {"sequences": (), "sequences and events": ("--event-id", "key")}

_HEAD = (
    f"{'audit':28} {'records':>12} {'GB':>6} {'seconds':>8} {'CPU s: JVM + Python + workers':>30} {'M/s a core':>10} "
    f"{'shuffled MB':>11} {'MiB: JVM + Python + workers':>28}"
)
_POLL_SECONDS = 0.1
_EXIT_FINDINGS = 1


@dataclass(frozen=True, slots=True)
class Parts:
    """Figures of the driver's virtual machine, which also runs the tasks, of its Python, and of all workers."""

    machine: float = 0
    python: float = 0
    workers: float = 0

    def maximum(self, other: Parts) -> Parts:
        """Return the greater value of each field."""
        return Parts(max(self.machine, other.machine), max(self.python, other.python), max(self.workers, other.workers))

    @property
    def total(self) -> float:
        """The sum of the fields."""
        return self.machine + self.python + self.workers


@dataclass(frozen=True, slots=True)
class AuditRun:
    """The figures of a finished audit, its processes and its tasks. copies: the number of copies found."""

    seconds: float
    cpu_seconds: Parts
    memory_mib: Parts
    shuffled_bytes: int
    records: int
    copies: int


def main(record_counts: Sequence[int], other: Path | None = None) -> dict[str, Figures]:
    """Measure the audits of a log of each size, print the figures, and return them. other: a checkout, run before."""
    results: dict[str, Figures] = {}
    checkouts = {"": CHECKOUT} if other is None else {"other: ": other.resolve(), "this: ": CHECKOUT}
    print(_HEAD, flush=True)
    for record_count in record_counts:
        with TemporaryDirectory(prefix="fauxka-scale-") as folder:
            log = generate_log(Path(folder) / "log", record_count)
            for name, options in AUDITS.items():
                for label, checkout in checkouts.items():
                    run = run_audit(Path(folder) / "log", options, checkout=checkout)
                    _check(run, log, has_events="--event-id" in options)
                    _print_run(f"{label}{name}", run, log)
                    results[f"{label}{name}, {log.records} records"] = _figures(run, log)
    return results


def _figures(run: AuditRun, log: GeneratedLog) -> Figures:
    return {
        "seconds": run.seconds,
        "CPU seconds": run.cpu_seconds.total,
        "CPU seconds of the driver's virtual machine": run.cpu_seconds.machine,
        "CPU seconds of the workers": run.cpu_seconds.workers,
        "records/s": log.records / run.seconds,
        "records/s of a core": log.records / run.cpu_seconds.total,
        "shuffled bytes": run.shuffled_bytes,
        "driver's virtual machine MiB": run.memory_mib.machine,
        "driver's Python MiB": run.memory_mib.python,
        "workers MiB": run.memory_mib.workers,
    }


def run_audit(log: Path, options: Sequence[str], heap: str = HEAP, checkout: Path = CHECKOUT) -> AuditRun:
    """Run `fauxka audit` of a checkout in a process with two tasks at a time."""
    verdict = log.parent / "verdict.json"
    with TemporaryDirectory(prefix="spark-events-", dir=log.parent) as events:
        keys = {
            "spark.driver.memory": heap,
            "spark.driver.extraJavaOptions": f"-Xms{heap} -XX:+AlwaysPreTouch",
            "spark.local.dir": str(log.parent),
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": f"file://{events}",
            "spark.eventLog.rolling.enabled": "false",
            "spark.eventLog.compress": "false",
        }
        settings = ("--master", "local[2]", *(word for key, value in keys.items() for word in ("-c", f"{key}={value}")))
        command = [sys.executable, "-m", "fauxka", "audit", "--path", str(log), *settings, "--json", str(verdict)]
        seconds, cpu_seconds, memory_mib = _measured([*command, *options], checkout)
        shuffled = sum(_shuffled_bytes(file.read_text().splitlines()) for file in Path(events).iterdir())
    found = json.loads(verdict.read_text())
    records = sum(topic["records"] for topic in found["topics"])
    copies = sum(group["records"] for group in found["groups"] if group["kind"] == "duplicate")
    return AuditRun(seconds, cpu_seconds, memory_mib, shuffled, records, copies)


def _measured(command: Sequence[str], checkout: Path) -> tuple[float, Parts, Parts]:
    """Run a command, and return its seconds, CPU seconds and peak memory in MiB."""
    cpu: dict[int, Parts] = {}
    memory, begin = Parts(), time.perf_counter()
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        while process.poll() is None:
            memory = memory.maximum(_by_part(process.pid, {i: peak_memory_mib(i) for i in process_ids(process.pid)}))
            for process_id in process_ids(process.pid):
                one = _by_part(process.pid, {process_id: own_cpu_seconds(process_id)})
                # Kept for processes that have ended.
                cpu[process_id] = one.maximum(cpu.get(process_id, Parts()))
            time.sleep(_POLL_SECONDS)
        seconds = time.perf_counter() - begin
        words = "" if process.stderr is None else process.stderr.read()
    assert process.returncode in (0, _EXIT_FINDINGS), f"exit code {process.returncode}: {words}"
    sums = [sum(values) for values in zip(*map(astuple, cpu.values()), strict=True)]
    return seconds, Parts(*sums), memory


def _by_part(driver: int, values: dict[int, float]) -> Parts:
    machine = python = workers = 0.0
    for process_id, value in values.items():
        if process_id == driver:
            python = value
        elif program_of(process_id) == "java":
            machine = max(machine, value)
        else:
            workers += value
    return Parts(machine, python, workers)


def _shuffled_bytes(lines: Iterable[str]) -> int:
    """Return the bytes that the tasks of an event log of Spark wrote for shuffles."""
    shuffled = 0
    for line in lines:
        event: dict[str, Any] = json.loads(line)
        # A task that failed has no metrics.
        if event["Event"] == "SparkListenerTaskEnd" and event.get("Task Metrics") is not None:
            shuffled += int(event["Task Metrics"]["Shuffle Write Metrics"]["Shuffle Bytes Written"])
    return shuffled


def _check(run: AuditRun, log: GeneratedLog, *, has_events: bool) -> None:
    assert run.records == log.records, f"{run.records} of {log.records} records were read"
    expected = log.copies if has_events else 0
    assert run.copies == expected, f"{run.copies} copies were found, not {expected}"


def _print_run(name: str, run: AuditRun, log: GeneratedLog) -> None:
    cpu, memory = (" + ".join(f"{value:.0f}" for value in astuple(one)) for one in (run.cpu_seconds, run.memory_mib))
    rate = log.records / run.cpu_seconds.total / 1e6
    print(
        f"{name:28} {log.records:12,} {log.size / 1e9:6.1f} {run.seconds:8.1f} {cpu:>30} {rate:10.2f} "
        f"{run.shuffled_bytes / 1e6:11.1f} {memory:>28}",
        flush=True,
    )
