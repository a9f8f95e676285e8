"""Test helper: runs scenarios, and describes failed ones."""

from fauxka.scenarios.clients.clients import NamedClient, client_of
from fauxka.scenarios.engine import Report, run
from fauxka.scenarios.report.diagram import draw
from fauxka.scenarios.scenario_files import load_scenario


def run_scenario(name: str, client: NamedClient | str, as_version: str | None = None) -> Report:
    """Run a scenario and return its report."""
    return run(load_scenario(name), client_of(client) if isinstance(client, str) else client, as_version)


def describe_failure(report: Report) -> str:
    """Return the failed checks and the diagram."""
    missed = [
        f"{check.what}: expected {check.expected}, seen {check.seen}" for check in report.checks if not check.passed
    ]
    return "\n".join([*missed, draw(report.timeline)])
