"""The results of Spark jobs, logs, audits and dedups as text."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from textwrap import wrap

from .job_checks import found_by, found_in_words
from .job_engine import JobReport, StoredTopic
from .job_process import AuditVerdict, JobOutcome

_INDENT = "  "
_COLUMN = 14
# Examples per kind of finding; the audit itself prints more.
EXAMPLES_MAX = 2


def spark_lines(report: JobReport, width: int) -> Iterator[str]:
    """Yield the lines of jobs, logs, audits and dedups. width: the longest line in columns."""
    labelled = partial(_labelled, width=width)
    yield "Results"
    for name, job in report.jobs.items():
        yield from labelled("Spark", f'"{name}" {_job(job)}')
    for topic in report.stored:
        yield from labelled("the log", _stored(topic))
    for name, audit in report.audits.items():
        yield from labelled("the audit", f"{name}: {_audit(audit)}")
        for line in _examples(audit):
            yield from labelled("", line)
    for name, lines in report.dedups.items():
        yield from labelled("the dedup", f"{name}: {lines[0]}")
        for line in lines[1:]:
            yield from labelled("", line)


def _labelled(label: str, text: str, *, width: int) -> Iterator[str]:
    head = _INDENT + label.ljust(_COLUMN)
    for number, line in enumerate(wrap(text, width - len(head)) or [""]):
        yield (head if number == 0 else " " * len(head)) + line


def _job(job: JobOutcome) -> str:
    words = f"{job.status} after {job.seconds:g} s"
    if job.rows is not None:
        words += f", {job.rows} rows"
    if job.attempts:
        words += f", {len(job.attempts)} failed {'attempt' if len(job.attempts) == 1 else 'attempts'} of its task"
    return f"{words}: {job.reason}" if job.reason else words


def _stored(topic: StoredTopic) -> str:
    words = f"{topic.topic}: {topic.rows} rows, {topic.events} different events"
    if topic.rows == topic.events:
        return words
    copies = ", ".join(
        f"{events} events {count} {'time' if count == 1 else 'times'}" for count, events in topic.copies.items()
    )
    return f"{words}: {copies}"


def _audit(audit: AuditVerdict) -> str:
    if not audit.groups:
        return "clean"
    sequences = [group for group in audit.groups if group.check in ("sequence", "log") and group.is_fault]
    return found_in_words(found_by(audit)).replace("_", " ") + ("" if sequences else "; all sequences in order")


def _examples(audit: AuditVerdict) -> Iterator[str]:
    for group in audit.groups:
        for example in group.examples[:EXAMPLES_MAX]:
            place = "" if example.offset is None else f"{example.topic}-{example.partition} offset {example.offset}, "
            yield f"{place}event {example.event_id}: {example.detail}"
