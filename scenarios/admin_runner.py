"""The scenario runner of the admin API."""

from __future__ import annotations

from typing import Any

import msgspec

from ..admin.scenarios import ScenarioImpossible, ScenarioInfo, UnknownScenarioName
from .all_scenarios import all_names, load_any, run_any, unsupported_clients
from .brokers.scenario_broker import BrokerFailed
from .clients.client import ClientStuck, ClientUnavailable
from .clients.raw_connection import ConnectionLost, NoResponse
from .scenario_files import UnknownScenario

# The exceptions of a run that has no report; each message is one line.
FAILURES = (ClientStuck, BrokerFailed, ConnectionLost, NoResponse)


class AdminRunner:
    """Lists and runs scenarios for the admin API."""

    def list_all(self) -> list[ScenarioInfo]:
        """Return all scenarios, sorted by name."""
        scenarios = [load_any(name) for name in all_names()]
        return [
            ScenarioInfo(
                name=each.name,
                title=each.title,
                story=each.story.strip(),
                versions=each.versions,
                unable=unsupported_clients(each),
            )
            for each in scenarios
        ]

    def run(self, name: str, client: str | None, as_version: str | None) -> dict[str, Any]:
        """Run a scenario on its own broker and return its report.

        Raises UnknownScenarioName, ScenarioImpossible, and ValueError for an unsupported version.
        """
        try:
            scenario = load_any(name)
        except UnknownScenario as error:
            raise UnknownScenarioName(str(error)) from error
        try:
            report = run_any(scenario, client, as_version)
        except (ClientUnavailable, *FAILURES) as error:
            raise ScenarioImpossible(str(error)) from error
        fields: dict[str, Any] = msgspec.to_builtins(report)
        return fields
