"""Compares what came of a scenario with Spark with what its file says must be seen; computes, and touches nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..expectations import Check, compared
from .job_performer import Came
from .job_process import AuditVerdict, JobOutcome
from .job_scenario import JobExpectation

CLEAN = "nothing"
_DROPPED = re.compile(r"dropped (\d+) as further copies")


@dataclass(frozen=True, slots=True)
class JobSeen:
    """What came of a run. stored: how often each event is in each topic."""

    came: Came
    stored: Mapping[str, Counter[str]]


def check_jobs(expected: JobExpectation, seen: JobSeen) -> list[Check]:
    """Return one check for each thing that is expected."""
    return list(_checks(expected, seen))


def _checks(expected: JobExpectation, seen: JobSeen) -> Iterator[Check]:
    jobs = seen.came.jobs
    for name, status in expected.jobs.items():
        yield compared(f"what Spark says of {name}", status, jobs[name].status)
    for name, count in expected.failed_attempts.items():
        yield compared(f"failed attempts of tasks of {name}", count, len(jobs[name].attempts))
    for name, words in expected.told.items():
        told = told_of(jobs[name])
        yield Check(f"why it failed in {name}", words, told or CLEAN, words in told)
    for name, rows in expected.read.items():
        yield compared(f"rows that {name} read", rows, jobs[name].rows)
    for topic, rows in expected.rows.items():
        yield compared(f"rows in {topic}", rows, seen.stored[topic].total())
    for topic, events in expected.events.items():
        yield compared(f"different events in {topic}", events, len(seen.stored[topic]))
    for topic, found in expected.found.items():
        yield compared(f"audit of {topic}", found_in_words(found), found_in_words(found_by(seen.came.audits[topic])))
    for topic, dropped in expected.dropped.items():
        yield compared(f"copies of {topic} that dedup dropped", dropped, dropped_by(seen.came.dedups[topic]))


def told_of(job: JobOutcome) -> str:
    """Return why a job, or the attempts of its tasks, failed."""
    return "; ".join(filter(None, [*dict.fromkeys(attempt.failure for attempt in job.attempts), job.reason]))


def found_by(audit: AuditVerdict) -> dict[str, int]:
    """Return how often an audit found what, by kind and cause."""
    return {group.name: group.findings for group in audit.groups}


def found_in_words(found: Mapping[str, int]) -> str:
    """Return findings as they stand in a report."""
    return ", ".join(f"{count} {name}" for name, count in sorted(found.items())) or CLEAN


def dropped_by(lines: list[str]) -> int | None:
    """Return how many copies a dedup says that it dropped."""
    found = [match for line in lines if (match := _DROPPED.fullmatch(line)) is not None]
    return int(found[0][1]) if found else None
