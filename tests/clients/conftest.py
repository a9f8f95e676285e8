"""The broker that the clients talk to, and a topic for a test."""

from collections.abc import Iterator

import pytest

from ..reference.broker_under_test import bootstrap
from .client import Client, eventually, unique_name
from .console_tools import TOPICS, ConsoleTools
from .java_program import JavaProgram
from .records import PARTITION_COUNT
from .secured_broker import mutual_tls_broker, secured_broker
from .stored_batches import is_served
from .topics import create_topic

__all__ = ["bootstrap", "mutual_tls_broker", "secured_broker"]

pytest.register_assert_rewrite(f"{__package__}.client_contract")


@pytest.fixture
def topic(client: Client, bootstrap: str) -> Iterator[str]:
    """An empty topic of three partitions, deleted after the test."""
    name = create_topic(client, bootstrap, "records", PARTITION_COUNT)
    yield name
    client.delete_topic(name)


@pytest.fixture(scope="module")
def program() -> Iterator[JavaProgram]:
    runner = JavaProgram("ToolRunner")
    yield runner
    runner.close()


@pytest.fixture
def tools(program: JavaProgram, bootstrap: str) -> ConsoleTools:
    return ConsoleTools(program, bootstrap)


@pytest.fixture
def tool_topic(tools: ConsoleTools, bootstrap: str) -> Iterator[str]:
    """An empty topic of three partitions that kafka-topics has made."""
    name = unique_name("tools")
    tools.output_of(TOPICS, "--create", "--topic", name, "--partitions", str(PARTITION_COUNT))
    assert eventually(lambda: is_served(bootstrap, name, PARTITION_COUNT), True)
    yield name
    tools.output_of(TOPICS, "--delete", "--topic", name)
