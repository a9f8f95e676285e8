"""A report as text: the diagram, the verdict and the checks."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import Any

from ..engine import Report
from ..expectations import Check
from ..spark.job_engine import JobReport
from ..spark.job_report_text import spark_lines
from .diagram import draw
from .text_width import WIDTH

# The findings in a report; a scenario has few.
FINDINGS_MAX = 10
_INDENT = "  "


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
        yield from _verdict(report.verdict, width)
    yield ""
    yield "Checks"
    for check in report.checks:
        yield from _check(check, width)
    yield ""
    yield "All checks passed." if report.passed else "Some checks FAILED."


def _verdict(verdict: dict[str, Any], width: int) -> Iterator[str]:
    for part in ("batches", "records"):
        counts = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in verdict.get(part, {}).items())
        yield from _indented(f"{part}: {counts}", width)
    findings: list[dict[str, Any]] = verdict.get("findings", [])
    for finding in findings[:FINDINGS_MAX]:
        yield from _indented(f"{finding['kind']}: {finding['why']}", width)
    if len(findings) > FINDINGS_MAX:
        yield from _indented(f"and {len(findings) - FINDINGS_MAX} more findings", width)


def _check(check: Check, width: int) -> Iterator[str]:
    if check.passed:
        yield from _indented(f"ok    {check.what}: {check.seen}", width)
    else:
        yield from _indented(f"FAIL  {check.what}: expected {check.expected}, seen {check.seen}", width)


def _indented(text: str, width: int) -> Iterator[str]:
    return (_INDENT + line for line in wrap(text, width - len(_INDENT), subsequent_indent=_INDENT * 4))
