"""What `fauxka scenario` prints."""

from __future__ import annotations

import msgspec

from .all_scenarios import all_names, load_any, run_any, unable_of
from .clients.client import ClientStuck, ClientUnavailable
from .clients.raw_connection import ConnectionLost, NoAnswer
from .report.report_text import report_text
from .scenario_files import UnknownScenario
from .stages.stage import StageFailed

_NAME_WIDTH = 28


class CannotRun(Exception):
    """What was asked for cannot be done; the message is one line for the user."""


class DidNotEnd(Exception):
    """The scenario did not come to its end; the message says where, in one line."""


def list_text() -> str:
    """Return all scenarios, a line each, and who cannot do which."""
    return "\n".join(line for name in all_names() for line in _told(name))


def _told(name: str) -> list[str]:
    scenario = load_any(name)
    unable = [f"{'':{_NAME_WIDTH}}not with {client}: {reason}" for client, reason in unable_of(scenario).items()]
    return [f"{name:{_NAME_WIDTH}}{scenario.title}", *unable]


def run_text(name: str, client: str, as_version: str | None, *, as_json: bool) -> tuple[str, bool]:
    """Run a scenario; return its report, and whether what must be seen was. Raises CannotRun and DidNotEnd."""
    try:
        report = run_any(load_any(name), client, as_version)
    except (UnknownScenario, ClientUnavailable, ValueError) as error:
        raise CannotRun(str(error)) from error
    except (ClientStuck, StageFailed, ConnectionLost, NoAnswer) as error:
        raise DidNotEnd(f"{name} did not come to its end: {error}") from error
    if as_json:
        return msgspec.json.format(msgspec.json.encode(report)).decode(), report.passed
    return report_text(report), report.passed
