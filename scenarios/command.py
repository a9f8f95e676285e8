"""The output of `fauxka scenario run`."""

from __future__ import annotations

import msgspec

from ..admin.client.text_width import terminal_width
from .all_scenarios import load_any, run_any
from .brokers.scenario_broker import BrokerFailed
from .clients.client import ClientStuck, ClientUnavailable
from .clients.raw_connection import ConnectionLost, NoResponse
from .report.report_text import report_text
from .scenario_files import UnknownScenario


class CannotRun(Exception):
    """The scenario, client or version is unknown or unsupported; the message is one line."""


class DidNotEnd(Exception):
    """The scenario did not finish; the message is one line."""


def run_text(name: str, client: str | None, as_version: str | None, *, as_json: bool) -> tuple[str, bool]:
    """Run a scenario; return its report and whether all checks passed. Raises CannotRun and DidNotEnd.

    client: None for the raw client, or for Spark's own client if the scenario has no other.
    """
    try:
        report = run_any(load_any(name), client, as_version)
    except (UnknownScenario, ClientUnavailable, ValueError) as error:
        raise CannotRun(str(error)) from error
    except (ClientStuck, BrokerFailed, ConnectionLost, NoResponse) as error:
        raise DidNotEnd(f"{name} did not finish: {error}") from error
    if as_json:
        return msgspec.json.format(msgspec.json.encode(report)).decode(), report.passed
    return report_text(report, terminal_width()), report.passed
