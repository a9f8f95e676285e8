"""Fixtures of the scenario tests."""

from collections.abc import Iterator

import pytest

from fauxka.scenarios.clients.clients import NamedClient

from ..clients.java_program import JavaProgram
from ..runtimes import need
from .java_producer import JavaProducer


@pytest.fixture(scope="session")
def java() -> Iterator[NamedClient]:
    """The Java producer, in one virtual machine for all tests."""
    need("java", "mvn", group="the Java producer")
    program = JavaProgram("ScenarioProducer")
    yield NamedClient("java", lambda options: JavaProducer(program, options))
    program.close()
