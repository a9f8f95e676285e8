"""All scenarios by name: those of a client and a broker, and those with Spark."""

from __future__ import annotations

from ..protocol.similar_names import unknown_name
from . import spark
from .clients.clients import CLIENTS, client_of
from .engine import Report, run
from .scenario import RAW, Scenario
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
        raise UnknownScenario(unknown_name("scenario", name, all_names()))
    return load_scenario(name)


def run_any(scenario: Scenario | JobScenario, client: str | None, as_version: str | None) -> Report:
    """Run a scenario on its own broker; raises what client_of, engine.run and run_with_spark raise.

    client: None for the raw client, or for Spark's own client if the scenario has no other.
    """
    if isinstance(scenario, JobScenario):
        return spark.job_engine.run_with_spark(scenario, None if client is None else client_of(client), as_version)
    return run(scenario, client_of(client or RAW), as_version)


def unsupported_clients(scenario: Scenario | JobScenario) -> dict[str, str]:
    """Return the clients of CLIENTS that cannot run a scenario, with the reason."""
    if isinstance(scenario, Scenario):
        # A file may also name clients that only tests drive.
        return {client: reason for client, reason in scenario.unable.items() if client in CLIENTS}
    if scenario.has_application:
        return {}
    return dict.fromkeys(CLIENTS, "it uses only Spark's own client")
