"""All scenarios by name: those of a client and a broker, and those with Spark."""

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
        raise UnknownScenario(f"unknown scenario {name!r}; known are {', '.join(all_names())}")
    return load_scenario(name)


def run_any(scenario: Scenario | JobScenario, client: str, as_version: str | None) -> Report:
    """Run a scenario on its own broker; raises what engine.run and run_with_spark raise."""
    if isinstance(scenario, JobScenario):
        # Imported lazily: most scenarios need no Spark.
        from .spark.job_engine import run_with_spark

        return run_with_spark(scenario, client_of(client), as_version)
    return run(scenario, client_of(client), as_version)


def unsupported_clients(scenario: Scenario | JobScenario) -> dict[str, str]:
    """Return the clients that cannot run a scenario, with the reason; Spark uses its own client."""
    return scenario.unable if isinstance(scenario, Scenario) else {}
