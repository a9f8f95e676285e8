"""The output of `fauxka scenario`."""

from __future__ import annotations

import msgspec

from .all_scenarios import all_names, load_any, run_any, unsupported_clients
from .brokers.scenario_broker import BrokerFailed
from .clients.client import ClientStuck, ClientUnavailable
from .clients.raw_connection import ConnectionLost, NoResponse
from .report.report_text import report_text
from .scenario_files import UnknownScenario

_NAME_WIDTH = 28


class CannotRun(Exception):
    """The scenario, client or version is unknown or unsupported; the message is one line."""


class DidNotEnd(Exception):
    """The scenario did not finish; the message is one line."""


def list_text() -> str:
    """Return a line per scenario, and a line per client that cannot run it."""
    return "\n".join(line for name in all_names() for line in _list_lines(name))


def _list_lines(name: str) -> list[str]:
    scenario = load_any(name)
    unsupported = unsupported_clients(scenario).items()
    notes = [f"{'':{_NAME_WIDTH}}not with {client}: {reason}" for client, reason in unsupported]
    return [f"{name:{_NAME_WIDTH}}{scenario.title}", *notes]


def run_text(name: str, client: str, as_version: str | None, *, as_json: bool) -> tuple[str, bool]:
    """Run a scenario; return its report and whether all checks passed. Raises CannotRun and DidNotEnd."""
    try:
        report = run_any(load_any(name), client, as_version)
    except (UnknownScenario, ClientUnavailable, ValueError) as error:
        raise CannotRun(str(error)) from error
    except (ClientStuck, BrokerFailed, ConnectionLost, NoResponse) as error:
        raise DidNotEnd(f"{name} did not finish: {error}") from error
    if as_json:
        return msgspec.json.format(msgspec.json.encode(report)).decode(), report.passed
    return report_text(report), report.passed
