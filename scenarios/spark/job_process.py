"""Runs the commands of the pipeline, each in its own process, and reads their output."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from msgspec import Struct

from ..brokers.scenario_broker import BrokerFailed
from ..clients.client import ClientUnavailable

PIPELINE = "fauxka.pipeline"
JOB = "fauxka.spark_jobs.kafka_job"
# Spark takes seconds to start, on a busy machine many times that.
PROCESS_SECONDS_MAX = 600
# The part of the log of a failed process in an error message.
LOG_CHARACTERS_MAX = 300
LOG_LINES_MAX = 3
# The exit code of a pipeline command that cannot run, for example without Spark.
EXIT_USAGE = 2


class TaskAttempt(Struct, kw_only=True):
    """A failed attempt of a Spark task. number: from 1. ended_ms: milliseconds since the epoch."""

    number: int
    ended_ms: int
    failure: str


class JobOutcome(Struct, kw_only=True):
    """The result of a Spark job. reason: the failure in one line. rows: read or written rows, if Spark reports them."""

    status: str
    reason: str
    rows: int | None
    seconds: float
    attempts: list[TaskAttempt]


class FoundExample(Struct, kw_only=True):
    """One finding of an audit."""

    topic: str | None
    partition: int | None
    offset: int | None
    event_id: str | None
    detail: str | None


class FoundGroup(Struct, kw_only=True):
    """The findings of an audit with the same kind and cause."""

    check: str
    kind: str
    cause: str | None
    is_fault: bool
    findings: int
    examples: list[FoundExample]

    @property
    def name(self) -> str:
        """The name in scenario files."""
        return f"{self.kind} {self.cause}" if self.cause else self.kind


class AuditedTopic(Struct, kw_only=True):
    """The counts of an audited topic."""

    topic: str
    batches: int
    records: int
    producers: int


class AuditVerdict(Struct, kw_only=True):
    """The result of an audit."""

    verdict: str
    checks: list[str]
    topics: list[AuditedTopic]
    groups: list[FoundGroup]


@dataclass(frozen=True, slots=True)
class Ended:
    """The exit code and standard output of a process."""

    exit_code: int
    output: str


class RunningJob:
    """A job of pipeline.kafka_job in its own process."""

    def __init__(self, arguments: Sequence[str]) -> None:
        """Start the job."""
        self._module = _RunningModule(JOB, arguments)

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended, by itself or by a failure."""
        return self._module.has_ended

    def end(self) -> JobOutcome:
        """End the standard input of a job that waits for it, and wait for the job.

        Raises ClientUnavailable without Spark, and BrokerFailed.
        """
        return msgspec.json.decode(self._module.end().output, type=JobOutcome)

    def kill(self) -> None:
        """Kill the process; no effect on one that has ended."""
        self._module.kill()


def run_audit(arguments: Sequence[str]) -> AuditVerdict:
    """Run `fauxka audit`. Raises ClientUnavailable without Spark, and BrokerFailed."""
    quick = ("--master", "local[2]", "-c", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1", "--json", "-")
    ended = run_module(PIPELINE, ["audit", *quick, *arguments])
    return msgspec.json.decode(ended.output, type=AuditVerdict)


def run_dedup(arguments: Sequence[str]) -> list[str]:
    """Run `fauxka dedup` on all records, and return its output lines. Raises ClientUnavailable and BrokerFailed."""
    ended = run_module(PIPELINE, ["dedup", "--batch", "--master", "local[2]", *arguments])
    if ended.exit_code:
        raise BrokerFailed(f"dedup ended with {ended.exit_code}")
    return ended.output.splitlines()


def run_module(module: str, arguments: Sequence[str]) -> Ended:
    """Run a module until it exits with 0 or 1. Raises ClientUnavailable and BrokerFailed."""
    return _RunningModule(module, arguments).end()


class _RunningModule:
    """A module that runs in its own process."""

    def __init__(self, module: str, arguments: Sequence[str]) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("KAFKA_", "FAUXKA_"))}
        self._what = f"{module} {arguments[0]}"
        # A pipe would block a process that writes more than a buffer while nothing reads it.
        self._log = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            env=kept,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def end(self) -> Ended:
        """End its standard input, and wait for its exit. Raises ClientUnavailable and BrokerFailed."""
        try:
            output, _ = self._process.communicate(timeout=PROCESS_SECONDS_MAX)
            self._log.seek(0)
            return _judged(Ended(self._process.returncode, output), self._log.read(), self._what)
        except subprocess.TimeoutExpired as error:
            raise BrokerFailed(f"{self._what} did not end in {PROCESS_SECONDS_MAX} s") from error
        finally:
            self.kill()

    def kill(self) -> None:
        """Kill the process; no effect on one that has ended. Its Java process ends by itself."""
        if not self.has_ended:
            self._process.kill()
            self._process.communicate()
        self._log.close()


def _judged(ended: Ended, log: str, what: str) -> Ended:
    if ended.exit_code == EXIT_USAGE:
        lines = [line.partition("fauxka: ")[2] for line in log.splitlines() if line.startswith("fauxka: ")]
        raise ClientUnavailable(lines[-1] if lines else f"{what} cannot be run: {_tail(log)}")
    if ended.exit_code not in (0, 1) or not ended.output.strip():
        raise BrokerFailed(f"{what} ended with {ended.exit_code}: {_tail(log)}")
    return ended


def _tail(log: str) -> str:
    """Return the last lines of a log, without stack traces."""
    lines = [
        line.strip() for line in log.splitlines() if line.strip() and not line.startswith(("\tat ", "        at "))
    ]
    return " ".join(lines[-LOG_LINES_MAX:])[-LOG_CHARACTERS_MAX:]
