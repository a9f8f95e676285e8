"""Every scenario with the Java producer."""

from collections.abc import Iterator

import pytest

from fauxka.scenarios.clients import NamedClient
from fauxka.scenarios.scenario_files import load_scenario, scenario_names

from ..clients.java_program import JavaProgram
from ..runtimes import need
from .java_producer import JavaProducer
from .runs import run_scenario, told

pytestmark = pytest.mark.java

ROWS = [name for name in scenario_names() if "java" not in load_scenario(name).unable]


@pytest.fixture(scope="module")
def java() -> Iterator[NamedClient]:
    """The Java producer, in one virtual machine for all tests."""
    need("java", "mvn", group="the Java producer")
    program = JavaProgram("ScenarioProducer")
    yield NamedClient("java", lambda options: JavaProducer(program, options))
    program.close()


@pytest.mark.parametrize("name", ROWS)
def test_the_java_producer_sees_what_must_be_seen(java: NamedClient, name: str) -> None:
    report = run_scenario(name, java)

    assert report.client == "java"
    assert report.passed, told(report)
