"""Fixtures of the scenario tests."""

from collections.abc import Iterator

import pytest

from fauxka.scenarios.clients.clients import NamedClient

from ..clients.java_program import JavaProgram
from ..runtimes import need
from .java_consumer import JavaConsumer
from .java_producer import JavaProducer


@pytest.fixture(scope="session")
def java() -> Iterator[NamedClient]:
    """The Java client, in one virtual machine for all tests."""
    need("java", "mvn", group="the Java client")
    program = JavaProgram("ScenarioClients")
    yield NamedClient(
        "java", lambda options: JavaProducer(program, options), lambda options: JavaConsumer(program, options)
    )
    program.close()
