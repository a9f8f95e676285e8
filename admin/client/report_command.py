"""`fauxka report`: the timeline, the verdicts and the state of a run as one HTML file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...storage.file_systems.path_problems import find_path_problem
from .. import client as parts
from .. import report as report_parts
from .admin_client import BadCall, parse_address
from .broker_options import broker_options, chosen_client

if TYPE_CHECKING:
    from ..report.run_report import RunReport

SOURCES = "HOST:PORT, http://HOST:PORT, https://HOST:PORT or a JSON file"


@click.command()
@click.option(
    "source", "--from", metavar="HOST:PORT|URL|FILE", help="The broker with this admin API, or a saved journal."
)
@click.option("page", "-o", "--output", metavar="FILE", type=click.Path(), help="Write the report as an HTML file.")
@click.option("data", "--save", metavar="FILE", type=click.Path(), help="Write its data as JSON, for a later --from.")
@broker_options
def report(source: str | None, page: str | None, data: str | None, **broker: str | None) -> None:
    """Write the timeline of a run as one HTML file, which needs no broker and no network.

    It has the verdicts, the fault rules and the topics too. A journal as GET /v1/journal returns it has none of these.
    """
    if page is None and data is None:
        raise click.UsageError("give -o FILE for a report, --save FILE for its data, or both")
    found = _read(source, broker)
    count = len(found.journal.items)
    if data is not None:
        _write("--save", data, report_parts.saved_report.encode_report(found), count)
    if page is not None:
        _write("-o", page, report_parts.report_page.report_page(found), count)


def _read(source: str | None, broker: Mapping[str, str | None]) -> RunReport:
    """Return the report of a file or of a broker. Raises ClickException."""
    if source is None:
        return _report_of_broker(broker)
    for name in ("admin", "ready_file"):
        if broker[name] is not None:
            raise click.UsageError(f"--from and --{name.replace('_', '-')} exclude each other")
    if os.path.lexists(source):
        return _report_in_file(source)
    try:
        parse_address(source)
    except BadCall:
        raise click.UsageError(f"--from: expected {SOURCES}, got {source!r}, and there is no such file") from None
    return _report_of_broker({**broker, "admin": source})


def _report_of_broker(broker: Mapping[str, str | None]) -> RunReport:
    with chosen_client(broker) as client:
        return parts.http_broker.HttpBroker(client).run_report(client.address.url)


def _report_in_file(path: str) -> RunReport:
    try:
        return report_parts.saved_report.read_report(path)
    except report_parts.saved_report.SavedReportError as error:
        raise click.UsageError(f"--from: {error}") from error
    except OSError as error:
        raise click.UsageError(
            f"--from: {find_path_problem(path, error) or f'cannot read {path}: {error.strerror}'}"
        ) from error


def _write(option: str, path: str, content: bytes, request_count: int) -> None:
    """Write a file and print its size. Raises UsageError."""
    try:
        Path(path).write_bytes(content)
    except OSError as error:
        problem = find_path_problem(path, error) or f"cannot write {path}: {error.strerror}"
        raise click.UsageError(f"{option}: {problem}") from error
    requests = "1 request" if request_count == 1 else f"{request_count} requests"
    click.echo(f"{path}: {requests}, {len(content) / 1000:.1f} kB")
