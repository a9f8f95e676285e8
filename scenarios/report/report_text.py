"""A report as text: the diagram, the verdict and the checks."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from ...admin.client.text_width import WIDTH
from ...admin.client.verdict_text import indented, verdict_lines
from ..engine import Report
from ..expectations import Check
from ..spark.job_engine import JobReport
from ..spark.job_report_text import spark_lines
from .diagram import draw


def report_text(report: Report, width: int = WIDTH) -> str:
    """Return the report. width: the longest line in columns."""
    return "\n".join(_lines(report, width))


def _lines(report: Report, width: int) -> Iterator[str]:
    yield from wrap(f"{report.scenario}: {report.title}", width)
    yield f"client {report.client}, rules of Kafka {report.as_version}"
    yield ""
    yield from wrap(report.story, width)
    yield ""
    yield draw(report.timeline, width)
    yield ""
    if isinstance(report, JobReport):
        yield from spark_lines(report, width)
    else:
        yield "Verdict"
        yield from verdict_lines(report.verdict, width)
        for verdict in report.groups:
            yield ""
            yield f"Verdict on group {verdict['group']}"
            yield from verdict_lines(verdict, width)
    yield ""
    yield "Checks"
    for check in report.checks:
        yield from _check(check, width)
    yield ""
    yield "All checks passed." if report.passed else "Some checks FAILED."


def _check(check: Check, width: int) -> Iterator[str]:
    if check.passed:
        yield from indented(f"ok    {check.what}: {check.seen}", width)
    else:
        yield from indented(f"FAIL  {check.what}: expected {check.expected}, seen {check.seen}", width)
