"""Time and peak memory of an audit of logs of different sizes.

With local[2] the driver's virtual machine also runs the tasks. Its heap is the same for all sizes and allocated at the
start, so an audit that needs more heap fails with OutOfMemoryError, and memory outside the heap shows in the figures.
The Python workers, which decode, are separate processes. The logs are generated and deleted one at a time.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from .generated_log import GeneratedLog, generate_log
from .measurement import Figures
from .process_tree import own_cpu_seconds, peak_memory_mib, process_ids, program_of

RECORD_COUNTS = (1_000_000, 3_000_000, 10_000_000)
# Too small for anything that grows with the log.
HEAP = "512m"
# The measured audits and their options.
AUDITS = {"sequences": (), "sequences and events": ("--event-id", "key")}

_HEAD = (
    f"{'audit':22} {'records':>12} {'GB':>6} {'seconds':>8} {'CPU s':>6} {'M/s a core':>10} {'driver MiB':>16} "
    f"{'workers':>8}"
)
_POLL_SECONDS = 0.1
_EXIT_FINDINGS = 1


@dataclass(frozen=True, slots=True)
class Memory:
    """The peak memory, in MiB, of the driver's virtual machine, its Python, and all workers together."""

    machine: float = 0
    python: float = 0
    workers: float = 0

    def maximum(self, other: Memory) -> Memory:
        """Return the greater value of each field."""
        return Memory(
            max(self.machine, other.machine), max(self.python, other.python), max(self.workers, other.workers)
        )


@dataclass(frozen=True, slots=True)
class AuditRun:
    """The figures of a finished audit. cpu_seconds: of all its processes. copies: the number of copies found."""

    seconds: float
    cpu_seconds: float
    memory: Memory
    records: int
    copies: int


def main(record_counts: Sequence[int]) -> dict[str, Figures]:
    """Measure the audits of a log of each size, print the figures, and return them."""
    results: dict[str, Figures] = {}
    print(_HEAD, flush=True)
    for record_count in record_counts:
        with TemporaryDirectory(prefix="fauxka-scale-") as folder:
            log = generate_log(Path(folder) / "log", record_count)
            for name, options in AUDITS.items():
                run = run_audit(Path(folder) / "log", options)
                _check(run, log, has_events="--event-id" in options)
                _print_run(name, run, log)
                results[f"{name}, {log.records} records"] = {
                    "seconds": run.seconds,
                    "CPU seconds": run.cpu_seconds,
                    "records/s": log.records / run.seconds,
                    "records/s of a core": log.records / run.cpu_seconds,
                    "driver's virtual machine MiB": run.memory.machine,
                    "driver's Python MiB": run.memory.python,
                    "workers MiB": run.memory.workers,
                }
    return results


def run_audit(log: Path, options: Sequence[str], heap: str = HEAP) -> AuditRun:
    """Run `fauxka audit` in a process with two tasks at a time."""
    verdict = log.parent / "verdict.json"
    keys = {
        "spark.driver.memory": heap,
        "spark.driver.extraJavaOptions": f"-Xms{heap} -XX:+AlwaysPreTouch",
        "spark.local.dir": str(log.parent),
    }
    settings = ("--master", "local[2]", *(word for key, value in keys.items() for word in ("-c", f"{key}={value}")))
    command = [sys.executable, "-m", "fauxka", "audit", "--path", str(log), *settings, "--json", str(verdict), *options]
    memory, begin = Memory(), time.perf_counter()
    # Includes processes that have ended.
    cpu: dict[int, float] = {}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            memory = memory.maximum(_memory_of(process.pid))
            for process_id in process_ids(process.pid):
                cpu[process_id] = max(cpu.get(process_id, 0.0), own_cpu_seconds(process_id))
            time.sleep(_POLL_SECONDS)
        seconds = time.perf_counter() - begin
        words = "" if process.stderr is None else process.stderr.read()
    assert process.returncode in (0, _EXIT_FINDINGS), f"exit code {process.returncode}: {words}"
    found = json.loads(verdict.read_text())
    records = sum(topic["records"] for topic in found["topics"])
    copies = sum(group["records"] for group in found["groups"] if group["kind"] == "duplicate")
    return AuditRun(seconds, sum(cpu.values()), memory, records, copies)


def _memory_of(driver: int) -> Memory:
    machine = python = workers = 0.0
    for process_id in process_ids(driver):
        peak = peak_memory_mib(process_id)
        if process_id == driver:
            python = peak
        elif program_of(process_id) == "java":
            machine = max(machine, peak)
        else:
            workers += peak
    return Memory(machine, python, workers)


def _check(run: AuditRun, log: GeneratedLog, *, has_events: bool) -> None:
    assert run.records == log.records, f"{run.records} of {log.records} records were read"
    expected = log.copies if has_events else 0
    assert run.copies == expected, f"{run.copies} copies were found, not {expected}"


def _print_run(name: str, run: AuditRun, log: GeneratedLog) -> None:
    driver = f"{run.memory.machine:.0f} + {run.memory.python:.0f}"
    rate = log.records / run.cpu_seconds / 1e6
    print(
        f"{name:22} {log.records:12,} {log.size / 1e9:6.1f} {run.seconds:8.1f} {run.cpu_seconds:6.0f} {rate:10.2f} "
        f"{driver:>16} {run.memory.workers:8.0f}",
        flush=True,
    )
