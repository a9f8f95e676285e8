"""kafka-delegation-tokens.sh creates, renews, expires and describes tokens, and Java clients log in with one."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ..golden.sasl_brokers import fauxka_with_listeners
from .console_tools import CONSUMER, PRODUCER, STEP_MS_MAX, TOPICS, ConsoleTools, Ended
from .java_program import JavaProgram

pytestmark = pytest.mark.java

TOKENS = "org.apache.kafka.tools.DelegationTokenCommand"
OWNER, RENEWER = "ada", "bob"
PASSWORDS = {OWNER: "adas-secret", RENEWER: "bobs-secret"}
CONFIG = {"delegation.token.secret.key": "secret-key"}
TOPIC = "letters"
# The line of a token: id, HMAC, owner and requester, renewers, and three dates.
LINE = re.compile(r"^(?P<id>[\w-]{22})\s+(?P<hmac>[\w+/]{86}==)\s+User:(?P<owner>\w+)\s", re.MULTILINE)


@dataclass(frozen=True)
class CreatedToken:
    """A token as the tool prints it."""

    token_id: str
    hmac: str
    owner: str


@pytest.fixture
def tools(program: JavaProgram, tmp_path: Path) -> Iterator[ConsoleTools]:
    with fauxka_with_listeners(tmp_path, ("SASL_PLAINTEXT",), CONFIG, PASSWORDS) as addresses:
        yield ConsoleTools(program, addresses["SASL_PLAINTEXT"])


def properties_of(folder: Path, username: str, password: str, options: str = "") -> str:
    """Write the properties of a client, and return the name of their file."""
    file = folder / f"{username}.properties"
    file.write_text(
        "security.protocol=SASL_PLAINTEXT\n"
        "sasl.mechanism=SCRAM-SHA-256\n"
        "sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required "
        f'username="{username}" password="{password}"{options};\n'
    )
    return str(file)


def properties_of_user(folder: Path, user: str) -> str:
    return properties_of(folder, user, PASSWORDS[user])


def properties_of_token(folder: Path, token: CreatedToken) -> str:
    return properties_of(folder, token.token_id, token.hmac, ' tokenauth="true"')


def run(tools: ConsoleTools, folder: Path, user: str, *arguments: str) -> Ended:
    return tools.run(TOKENS, "--command-config", properties_of_user(folder, user), *arguments)


def output_of(tools: ConsoleTools, folder: Path, user: str, *arguments: str) -> str:
    ended = run(tools, folder, user, *arguments)
    assert ended.exit == 0, ended
    return ended.output


def tokens_in(output: str) -> list[CreatedToken]:
    return [CreatedToken(*match.groups()) for match in LINE.finditer(output)]


def create(tools: ConsoleTools, folder: Path) -> CreatedToken:
    output = output_of(
        tools, folder, OWNER, "--create", "--max-life-time-period", "-1", "--renewer-principal", f"User:{RENEWER}"
    )
    (token,) = tokens_in(output)
    return token


def test_tool_describes_the_token_that_it_has_created(tools: ConsoleTools, tmp_path: Path) -> None:
    token = create(tools, tmp_path)

    described = tokens_in(output_of(tools, tmp_path, OWNER, "--describe", "--owner-principal", f"User:{OWNER}"))

    assert (described, token.owner) == ([token], OWNER)


def test_renewer_renews_and_expires_the_token(tools: ConsoleTools, tmp_path: Path) -> None:
    token = create(tools, tmp_path)

    renewed = output_of(tools, tmp_path, RENEWER, "--renew", "--renew-time-period", "3600000", "--hmac", token.hmac)
    expired = output_of(tools, tmp_path, RENEWER, "--expire", "--expiry-time-period", "-1", "--hmac", token.hmac)
    again = run(tools, tmp_path, RENEWER, "--renew", "--renew-time-period", "-1", "--hmac", token.hmac)

    assert "Completed renew operation" in renewed
    assert "Completed expire operation" in expired
    assert "Delegation Token is not found on server." in again.output + again.errors
    assert tokens_in(output_of(tools, tmp_path, OWNER, "--describe")) == []


def test_java_clients_log_in_with_the_token(tools: ConsoleTools, tmp_path: Path) -> None:
    properties = properties_of_token(tmp_path, create(tools, tmp_path))

    produced = tools.run(
        PRODUCER, "--topic", TOPIC, "--command-config", properties, lines=["first letter", "second letter"]
    )
    consumed = tools.output_of(
        CONSUMER, "--topic", TOPIC, "--from-beginning", "--max-messages", "2", "--timeout-ms", STEP_MS_MAX,
        "--command-config", properties,
    )  # fmt: skip

    assert produced.exit == 0, produced
    assert consumed.splitlines() == ["first letter", "second letter"]


def test_java_client_with_the_token_gets_no_further_token(tools: ConsoleTools, tmp_path: Path) -> None:
    properties = properties_of_token(tmp_path, create(tools, tmp_path))

    refused = tools.run(TOKENS, "--command-config", properties, "--create", "--max-life-time-period", "-1")

    assert "Delegation Token requests are not allowed" in refused.output + refused.errors


def test_java_client_cannot_log_in_with_a_wrong_hmac(tools: ConsoleTools, tmp_path: Path) -> None:
    token = create(tools, tmp_path)
    wrong = CreatedToken(token.token_id, "d3Jvbmc=", token.owner)

    refused = tools.run(TOPICS, "--command-config", properties_of_token(tmp_path, wrong), "--list")

    assert refused.exit == 1
    assert "due to invalid credentials with SASL mechanism SCRAM-SHA-256" in refused.output + refused.errors
