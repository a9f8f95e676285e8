"""A report as text: the diagram, the verdict and the checks."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import Any

from ..engine import Report
from ..expectations import Check
from ..spark.job_engine import JobReport
from ..spark.job_report_text import spark_lines
from .diagram import WIDTH, draw

# The findings in a report; a scenario has few.
FINDINGS_MAX = 10
_INDENT = "  "


def report_text(report: Report) -> str:
    """Return the report, in lines of at most diagram.WIDTH columns."""
    return "\n".join(_lines(report))


def _lines(report: Report) -> Iterator[str]:
    yield from wrap(f"{report.scenario}: {report.title}", WIDTH)
    yield f"client {report.client}, rules of Kafka {report.as_version}"
    if report.instead_of:
        yield from wrap(f"not with {report.instead_of}; the {report.client} client runs it", WIDTH)
    yield ""
    yield from wrap(report.story, WIDTH)
    yield ""
    yield draw(report.timeline)
    yield ""
    if isinstance(report, JobReport):
        yield from spark_lines(report)
    else:
        yield "Verdict"
        yield from _verdict(report.verdict)
    yield ""
    yield "Checks"
    for check in report.checks:
        yield from _check(check)
    yield ""
    yield "All checks passed." if report.passed else "Some checks FAILED."


def _verdict(verdict: dict[str, Any]) -> Iterator[str]:
    for part in ("batches", "records"):
        counts = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in verdict.get(part, {}).items())
        yield from _indented(f"{part}: {counts}")
    findings: list[dict[str, Any]] = verdict.get("findings", [])
    for finding in findings[:FINDINGS_MAX]:
        yield from _indented(f"{finding['kind']}: {finding['why']}")
    if len(findings) > FINDINGS_MAX:
        yield from _indented(f"and {len(findings) - FINDINGS_MAX} more findings")


def _check(check: Check) -> Iterator[str]:
    if check.passed:
        yield from _indented(f"ok    {check.what}: {check.seen}")
    else:
        yield from _indented(f"FAIL  {check.what}: expected {check.expected}, seen {check.seen}")


def _indented(text: str) -> Iterator[str]:
    return (_INDENT + line for line in wrap(text, WIDTH - len(_INDENT), subsequent_indent=_INDENT * 4))
