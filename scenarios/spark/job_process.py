"""Runs the pipeline's commands, each as a process of its own, and reads what they print."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from msgspec import Struct

from ..clients.client import ClientUnavailable
from ..stages.stage import StageFailed

PIPELINE = "fauxka.pipeline"
JOB = "fauxka.pipeline.kafka_job"
# Spark takes seconds to start, and many times that on a machine that does much else.
PROCESS_SECONDS_MAX = 600
# Of a process that ended as none should.
SAID_CHARACTERS = 300
SAID_LINES = 3
# What a command of the pipeline ends with when it cannot be done: Spark is not there, for one.
EXIT_USAGE = 2


class TaskAttempt(Struct, kw_only=True):
    """An attempt of one of Spark's tasks that failed. number: from 1. ended_ms: since 1970."""

    number: int
    ended_ms: int
    failure: str


class JobOutcome(Struct, kw_only=True):
    """What Spark says of a job; reason: in a line why it failed. rows: that it read or wrote, where it says so."""

    status: str
    reason: str
    rows: int | None
    seconds: float
    attempts: list[TaskAttempt]


class FoundExample(Struct, kw_only=True):
    """One finding of an audit, in words."""

    topic: str | None
    partition: int | None
    offset: int | None
    event_id: str | None
    detail: str | None


class FoundGroup(Struct, kw_only=True):
    """The findings of an audit that are of one kind and cause."""

    check: str
    kind: str
    cause: str | None
    is_fault: bool
    findings: int
    examples: list[FoundExample]

    @property
    def name(self) -> str:
        """What a scenario's file calls it."""
        return f"{self.kind} {self.cause}" if self.cause else self.kind


class AuditedTopic(Struct, kw_only=True):
    """What an audit read."""

    topic: str
    batches: int
    records: int
    producers: int


class AuditVerdict(Struct, kw_only=True):
    """What an audit says."""

    verdict: str
    checks: list[str]
    topics: list[AuditedTopic]
    groups: list[FoundGroup]


@dataclass(frozen=True, slots=True)
class Ended:
    """What a process left behind."""

    exit_code: int
    output: str


def run_job(arguments: Sequence[str]) -> JobOutcome:
    """Run a job of pipeline.kafka_job. Raises ClientUnavailable where there is no Spark, and StageFailed."""
    ended = run_module(JOB, arguments)
    return msgspec.json.decode(ended.output, type=JobOutcome)


def run_audit(arguments: Sequence[str]) -> AuditVerdict:
    """Run `fauxka audit`; see run_job."""
    quick = ("--master", "local[2]", "-c", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1", "--json", "-")
    ended = run_module(PIPELINE, ["audit", *quick, *arguments])
    return msgspec.json.decode(ended.output, type=AuditVerdict)


def run_dedup(arguments: Sequence[str]) -> list[str]:
    """Run `fauxka dedup` over all that is there, and return the lines that it prints; see run_job."""
    ended = run_module(PIPELINE, ["dedup", "--batch", "--master", "local[2]", *arguments])
    if ended.exit_code:
        raise StageFailed(f"dedup ended with {ended.exit_code}")
    return ended.output.splitlines()


def run_module(module: str, arguments: Sequence[str]) -> Ended:
    """Run a module until it ends with 0 or 1. Raises ClientUnavailable and StageFailed."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("KAFKA_", "FAUXKA_"))}
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        env=kept,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        output, log = process.communicate(timeout=PROCESS_SECONDS_MAX)
    except subprocess.TimeoutExpired as error:
        raise StageFailed(f"{module} {arguments[0]} did not end in {PROCESS_SECONDS_MAX} s") from error
    finally:
        if process.poll() is None:
            # Its Java ends by itself when the process is gone.
            process.kill()
            process.wait()
    return _judged(Ended(process.returncode, output), log, f"{module} {arguments[0]}")


def _judged(ended: Ended, log: str, what: str) -> Ended:
    if ended.exit_code == EXIT_USAGE:
        lines = [line.partition("fauxka: ")[2] for line in log.splitlines() if line.startswith("fauxka: ")]
        raise ClientUnavailable(lines[-1] if lines else f"{what} cannot be run: {_tail(log)}")
    if ended.exit_code not in (0, 1) or not ended.output.strip():
        raise StageFailed(f"{what} ended with {ended.exit_code}: {_tail(log)}")
    return ended


def _tail(log: str) -> str:
    """Return what a process said last that is not where it was in its code."""
    said = [line.strip() for line in log.splitlines() if line.strip() and not line.startswith(("\tat ", "        at "))]
    return " ".join(said[-SAID_LINES:])[-SAID_CHARACTERS:]
