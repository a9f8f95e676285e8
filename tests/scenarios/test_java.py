"""Every scenario with the Java client."""

import pytest

from fauxka.scenarios.clients.clients import NamedClient
from fauxka.scenarios.scenario_files import load_scenario, scenario_names

from .runs import describe_failure, run_scenario

pytestmark = pytest.mark.java

ROWS = [name for name in scenario_names() if "java" not in load_scenario(name).unable]


@pytest.mark.parametrize("name", ROWS)
def test_the_java_client_shows_the_expected_behaviour(java: NamedClient, name: str) -> None:
    report = run_scenario(name, java)

    assert report.client == "java"
    assert report.passed, describe_failure(report)
