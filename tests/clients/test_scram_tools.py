"""kafka-configs.sh creates, describes and deletes users with SCRAM, and the Java client logs in as one of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ..golden.sasl_brokers import fauxka_with_listeners
from ..golden.sasl_client import Addresses
from .console_tools import CONFIGS, TOPICS, ConsoleTools, Ended
from .java_program import JavaProgram

pytestmark = pytest.mark.java

USER, PASSWORD, NEW_PASSWORD = "ada", "adas-secret", "adas-new-secret"
MECHANISMS = ["SCRAM-SHA-256", "SCRAM-SHA-512"]
ITERATIONS = 8192


@pytest.fixture
def addresses(tmp_path: Path) -> Iterator[Addresses]:
    with fauxka_with_listeners(tmp_path, ("PLAINTEXT", "SASL_PLAINTEXT"), {}, {}) as listening:
        yield listening


@pytest.fixture
def tools(program: JavaProgram, addresses: Addresses) -> ConsoleTools:
    return ConsoleTools(program, addresses["PLAINTEXT"])


@pytest.fixture
def secured(program: JavaProgram, addresses: Addresses) -> ConsoleTools:
    return ConsoleTools(program, addresses["SASL_PLAINTEXT"])


def alter(tools: ConsoleTools, *change: str) -> str:
    return tools.output_of(CONFIGS, "--alter", "--entity-type", "users", "--entity-name", USER, *change)


def add(tools: ConsoleTools, mechanism: str, password: str = PASSWORD) -> str:
    return alter(tools, "--add-config", f"{mechanism}=[iterations={ITERATIONS},password={password}]")


def log_in(tools: ConsoleTools, folder: Path, mechanism: str, password: str = PASSWORD) -> Ended:
    """List topics as the user."""
    properties = folder / "client.properties"
    properties.write_text(
        "security.protocol=SASL_PLAINTEXT\n"
        f"sasl.mechanism={mechanism}\n"
        "sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required "
        f'username="{USER}" password="{password}";\n'
    )
    return tools.run(TOPICS, "--command-config", str(properties), "--list")


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_java_client_logs_in_as_a_user_of_kafka_configs(
    tools: ConsoleTools, secured: ConsoleTools, tmp_path: Path, mechanism: str
) -> None:
    assert f"Completed updating config for user {USER}." in add(tools, mechanism)

    assert log_in(secured, tmp_path, mechanism).exit == 0


def test_java_client_needs_the_new_password_after_a_change(
    tools: ConsoleTools, secured: ConsoleTools, tmp_path: Path
) -> None:
    mechanism = MECHANISMS[1]
    add(tools, mechanism)
    add(tools, mechanism, NEW_PASSWORD)

    refused, accepted = log_in(secured, tmp_path, mechanism), log_in(secured, tmp_path, mechanism, NEW_PASSWORD)

    assert refused.exit == 1
    assert f"due to invalid credentials with SASL mechanism {mechanism}" in refused.output
    assert accepted.exit == 0


def test_java_client_cannot_log_in_as_a_deleted_user(
    tools: ConsoleTools, secured: ConsoleTools, tmp_path: Path
) -> None:
    mechanism = MECHANISMS[0]
    add(tools, mechanism)
    alter(tools, "--delete-config", mechanism)

    assert log_in(secured, tmp_path, mechanism).exit == 1


def describe(tools: ConsoleTools, *arguments: str) -> list[str]:
    return tools.output_of(CONFIGS, "--describe", "--entity-type", "users", *arguments).splitlines()


def test_description_of_all_users_has_scram_users_and_quotas(tools: ConsoleTools) -> None:
    add(tools, MECHANISMS[0])
    tools.output_of(
        CONFIGS, "--alter", "--entity-type", "users", "--entity-name", "bob", "--add-config", "producer_byte_rate=1024"
    )

    described = describe(tools)

    assert described == [
        "Quota configs for user-principal 'bob' are producer_byte_rate=1024.0",
        f"SCRAM credential configs for user-principal '{USER}' are {MECHANISMS[0]}=iterations={ITERATIONS}",
    ]


def test_description_of_a_user_has_both_mechanisms(tools: ConsoleTools) -> None:
    for mechanism in MECHANISMS:
        add(tools, mechanism)

    (described,) = describe(tools, "--entity-name", USER)

    configs = ", ".join(f"{mechanism}=iterations={ITERATIONS}" for mechanism in MECHANISMS)
    assert described == f"SCRAM credential configs for user-principal '{USER}' are {configs}"


def test_description_without_users_is_empty(tools: ConsoleTools) -> None:
    assert describe(tools) == []
