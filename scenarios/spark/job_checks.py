"""Compares the result of a scenario with Spark with its expectations."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..expectations import Check, compared
from .job_process import AuditVerdict, JobOutcome
from .job_scenario import JobExpectation
from .job_step_runner import JobResults

CLEAN = "nothing"
_DROPPED = re.compile(r"dropped (\d+) as further copies")


@dataclass(frozen=True, slots=True)
class JobRunResult:
    """The result of a run. stored: the number of copies of each event, by topic."""

    results: JobResults
    stored: Mapping[str, Counter[str]]


def check_jobs(expected: JobExpectation, seen: JobRunResult) -> list[Check]:
    """Return one check per expected value."""
    return list(_checks(expected, seen))


def _checks(expected: JobExpectation, seen: JobRunResult) -> Iterator[Check]:
    jobs = seen.results.jobs
    for name, status in expected.jobs.items():
        yield compared(f"status of {name}", status, jobs[name].status)
    for name, count in expected.failed_attempts.items():
        yield compared(f"failed attempts of tasks of {name}", count, len(jobs[name].attempts))
    for name, words in expected.told.items():
        failure = failure_text(jobs[name])
        yield Check(f"failure of {name}", words, failure or CLEAN, words in failure)
    for name, rows in expected.read.items():
        yield compared(f"rows that {name} read", rows, jobs[name].rows)
    for topic, rows in expected.rows.items():
        yield compared(f"rows in {topic}", rows, seen.stored[topic].total())
    for topic, events in expected.events.items():
        yield compared(f"different events in {topic}", events, len(seen.stored[topic]))
    for topic, found in expected.found.items():
        yield compared(f"audit of {topic}", found_in_words(found), found_in_words(found_by(seen.results.audits[topic])))
    for topic, dropped in expected.dropped.items():
        yield compared(f"copies of {topic} that dedup dropped", dropped, dropped_by(seen.results.dedups[topic]))


def failure_text(job: JobOutcome) -> str:
    """Return the failures of a job and of the attempts of its tasks."""
    return "; ".join(filter(None, [*dict.fromkeys(attempt.failure for attempt in job.attempts), job.reason]))


def found_by(audit: AuditVerdict) -> dict[str, int]:
    """Return the number of findings of an audit, by kind and cause."""
    return {group.name: group.findings for group in audit.groups}


def found_in_words(found: Mapping[str, int]) -> str:
    """Return findings as text for a report."""
    return ", ".join(f"{count} {name}" for name, count in sorted(found.items())) or CLEAN


def dropped_by(lines: list[str]) -> int | None:
    """Return the number of dropped copies in the output of a dedup."""
    found = [match for line in lines if (match := _DROPPED.fullmatch(line)) is not None]
    return int(found[0][1]) if found else None
