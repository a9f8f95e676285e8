"""kafka-configs.sh sets, describes and deletes client quotas as docs/quotas.md shows it; the broker applies them."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from fauxka.testing import Broker

from .console_tools import CONFIGS, ConsoleTools
from .java_program import JavaProgram

pytestmark = pytest.mark.java

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "quotas.md"
# The command over several lines, from the name of the tool on.
COMMAND = re.compile(r"^    kafka-configs\.sh ((?:.*\\\n)*.*)$", re.MULTILINE)


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker() as running:
        yield running


@pytest.fixture
def tools(program: JavaProgram, broker: Broker) -> ConsoleTools:
    return ConsoleTools(program, broker.bootstrap_servers)


def shown_arguments() -> list[str]:
    """Return the arguments of the command of the page, without the address."""
    (command,) = COMMAND.findall(PAGE.read_text())
    server, address, *arguments = shlex.split(command.replace("\\\n", ""))
    assert (server, address) == ("--bootstrap-server", "localhost:9092")
    return arguments


def test_command_of_the_page_sets_a_quota(tools: ConsoleTools, broker: Broker) -> None:
    output = tools.output_of(CONFIGS, *shown_arguments())

    (quotas,) = broker.quotas.list(client_id="my-app", strict=True)
    assert quotas.producer_byte_rate == 20_000
    assert "Completed updating config for client my-app." in output


@pytest.mark.parametrize(
    ("entity", "described"),
    [
        (("--entity-type", "users", "--entity-name", "alice"), "user-principal 'alice'"),
        (("--entity-type", "users", "--entity-default"), "the default user-principal"),
        (
            ("--entity-type", "users", "--entity-name", "alice", "--entity-type", "clients", "--entity-default"),
            "user-principal 'alice', the default client-id",
        ),
    ],
)
def test_quota_is_set_described_and_deleted_by_the_tool(
    tools: ConsoleTools, broker: Broker, entity: tuple[str, ...], described: str
) -> None:
    tools.output_of(CONFIGS, "--alter", "--add-config", "request_percentage=200.5", *entity)
    output = tools.output_of(CONFIGS, "--describe", *entity)
    (before,) = broker.quotas.list()
    tools.output_of(CONFIGS, "--alter", "--delete-config", "request_percentage", *entity)

    assert f"Quota configs for {described} are request_percentage=200.5" in output
    assert before.request_percentage == 200.5
    assert broker.quotas.list() == []


def test_quota_of_addresses_is_set_by_the_tool(tools: ConsoleTools, broker: Broker) -> None:
    setting = ("--alter", "--add-config", "connection_creation_rate=500", "--entity-type", "ips", "--entity-default")
    tools.output_of(CONFIGS, *setting)

    (quotas,) = broker.quotas.list()
    assert (quotas.ip, quotas.connection_creation_rate) == (None, 500)


def test_refused_quota_ends_the_tool_with_the_reason(tools: ConsoleTools, broker: Broker) -> None:
    ended = tools.run(
        CONFIGS, "--alter", "--add-config", "producer_byte_rate=0", "--entity-type", "clients", "--entity-name", "app"
    )

    assert ended.exit == 1
    assert "Quota producer_byte_rate must be greater than 0" in ended.output + ended.errors
    assert broker.quotas.list() == []
