"""All scenarios by their names: those of a client and a broker, and those with Spark."""

from __future__ import annotations

from .clients.clients import client_of
from .engine import Report, run
from .scenario import Scenario
from .scenario_files import UnknownScenario, load_scenario, scenario_names
from .spark.job_scenario import JobScenario
from .spark.job_scenario_files import job_scenario_names, load_job_scenario


def all_names() -> list[str]:
    """Return the names of all scenarios, sorted."""
    return sorted([*scenario_names(), *job_scenario_names()])


def load_any(name: str) -> Scenario | JobScenario:
    """Return a scenario. Raises UnknownScenario."""
    if name in job_scenario_names():
        return load_job_scenario(name)
    if name not in scenario_names():
        raise UnknownScenario(f"there is no scenario {name!r}; there are {', '.join(all_names())}")
    return load_scenario(name)


def run_any(scenario: Scenario | JobScenario, client: str, as_version: str | None) -> Report:
    """Run a scenario on a broker of its own; see engine.run and run_with_spark."""
    if isinstance(scenario, JobScenario):
        from .spark.job_engine import run_with_spark

        return run_with_spark(scenario, client_of(client), as_version)
    return run(scenario, client_of(client), as_version)


def unable_of(scenario: Scenario | JobScenario) -> dict[str, str]:
    """Return the clients that cannot do a scenario, and why."""
    # Spark's client is its own: no other is asked for.
    return scenario.unable if isinstance(scenario, Scenario) else {}
