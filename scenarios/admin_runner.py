"""The scenarios as the admin API lists and runs them."""

from __future__ import annotations

from typing import Any, cast

from msgspec import to_builtins

from ..admin.scenario_operations import ScenarioImpossible, ToldScenario, UnknownScenarioName
from .client import ClientStuck, ClientUnavailable
from .clients import client_of
from .engine import run
from .scenario_files import UnknownScenario, load_scenario, scenario_names
from .stage import StageFailed


class AdminRunner:
    """See admin.scenario_operations.Scenarios."""

    def told(self) -> list[ToldScenario]:
        """See Scenarios."""
        return [
            ToldScenario(
                name=scenario.name,
                title=scenario.title,
                story=scenario.story,
                versions=scenario.versions,
                unable=scenario.unable,
            )
            for scenario in map(load_scenario, scenario_names())
        ]

    def run(self, name: str, client: str, as_version: str | None) -> dict[str, Any]:
        """See Scenarios."""
        try:
            report = run(load_scenario(name), client_of(client), as_version)
        except UnknownScenario as error:
            raise UnknownScenarioName(str(error)) from error
        except (ClientUnavailable, ClientStuck, StageFailed) as error:
            raise ScenarioImpossible(str(error)) from error
        return cast("dict[str, Any]", to_builtins(report))
