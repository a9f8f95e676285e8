"""The scenarios as the admin API lists and runs them."""

from __future__ import annotations

from typing import Any

import msgspec

from ..admin.scenarios import ScenarioImpossible, ScenarioInfo, UnknownScenarioName
from .all_scenarios import all_names, load_any, run_any, unable_of
from .clients.client import ClientStuck, ClientUnavailable
from .clients.raw_connection import ConnectionLost, NoAnswer
from .scenario_files import UnknownScenario
from .stages.stage import StageFailed

# What a run may end with in place of a report; each message is one line.
FAILURES = (ClientStuck, StageFailed, ConnectionLost, NoAnswer)


class AdminRunner:
    """Scenarios as the admin API uses them; see admin.scenarios."""

    def list_all(self) -> list[ScenarioInfo]:
        """Return all scenarios, sorted by name."""
        scenarios = [load_any(name) for name in all_names()]
        return [
            ScenarioInfo(
                name=each.name,
                title=each.title,
                story=each.story.strip(),
                versions=each.versions,
                unable=unable_of(each),
            )
            for each in scenarios
        ]

    def run(self, name: str, client: str, as_version: str | None) -> dict[str, Any]:
        """Run one on a broker of its own and return its report.

        Raises UnknownScenarioName, ValueError for a version whose rules are not known, ScenarioImpossible.
        """
        try:
            scenario = load_any(name)
        except UnknownScenario as error:
            raise UnknownScenarioName(str(error)) from error
        try:
            report = run_any(scenario, client, as_version)
        except (ClientUnavailable, *FAILURES) as error:
            raise ScenarioImpossible(str(error)) from error
        told: dict[str, Any] = msgspec.to_builtins(report)
        return told
