"""The data of a report as a JSON file: of `fauxka report --save`, or a journal as the admin API returns it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import msgspec

from ...faults.rule_error import InvalidValueError
from ...faults.strict_json import convert
from .run_report import RecordedJournal, RunReport, newest_of, report_of


class SavedReportError(Exception):
    """A file has no data of a report. The message is one line for the user."""


def encode_report(report: RunReport) -> bytes:
    """Return the data as JSON."""
    return json.dumps(msgspec.to_builtins(report)).encode()


def read_report(path: str) -> RunReport:
    """Return the report that a file has. Raises SavedReportError, and OSError if it cannot be read."""
    content = Path(path).read_bytes()
    try:
        document: object = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise SavedReportError(f"{path} is not JSON: {' '.join(str(error).split())}") from error
    fields = cast("dict[str, Any]", document) if isinstance(document, dict) else {}
    try:
        if "items" in fields:
            return report_of(Path(path).name, newest_of(convert(fields, RecordedJournal)), None)
        if "journal" in fields:
            report = convert(fields, RunReport)
            report.journal = newest_of(report.journal)
            return report
    except InvalidValueError as error:
        raise SavedReportError(f"{path}: {error.message}") from error
    raise SavedReportError(f"{path} has no journal: expected what --save wrote, or GET /v1/journal returned")
