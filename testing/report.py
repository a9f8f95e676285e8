"""Writes the run of a broker as one HTML file, as `fauxka report` does."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from ..admin.client.admin_client import AdminClient
from ..admin.client.report_source import ApiSource
from ..admin.report.control_source import ControlSource
from ..admin.report.report_page import report_page
from ..admin.report.run_report import ReportSource, collect_report
from ..faults.files.armed_file_rule import ArmedFileRule
from ..faults.rules.armed_rule import ArmedRule
from .calls import ControlCall
from .rule import ArmedHandle


def source_of(ask: ControlCall, watched: Iterable[ArmedHandle]) -> ControlSource:
    """Return the data of a broker. ask: calls it. watched: rules that its test has added, removed ones included."""
    armed = [handle.armed for handle in watched]
    return ControlSource(
        ask,
        rules=[each for each in armed if isinstance(each, ArmedRule)],
        file_rules=[each for each in armed if isinstance(each, ArmedFileRule)],
    )


def source_of_client(client: AdminClient) -> ApiSource:
    """Return the data of a broker in another process."""
    return ApiSource(client)


def write_report(source: ReportSource, path: str | os.PathLike[str], title: str, since: int = 0) -> Path:
    """Write a report and return its path. Raises what the source raises, and OSError.

    since: only requests with a greater id.
    """
    page = report_page(collect_report(source, title, since))
    written = Path(path)
    written.write_bytes(page)
    return written
