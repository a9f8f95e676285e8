"""The Java client over SASL_SSL and with a certificate, by the configurations of docs/security.md."""

from pathlib import Path

import pytest

from .console_tools import CONSUMER, PRODUCER, STEP_MS_MAX, TOPICS, ConsoleTools, Ended
from .java_program import JavaProgram
from .secured_broker import MECHANISMS, SecuredBroker, blocks_of

pytestmark = pytest.mark.java

LINES = ["a", "b", "c"]
# Of the SaslAuthenticationException, by whether the mechanism is PLAIN.
AUTHENTICATION_FAILED = {
    True: "Authentication failed: Invalid username or password",
    False: "Authentication failed during authentication due to invalid credentials with SASL mechanism",
}


class SecuredTools:
    """Kafka's tools with a configuration."""

    def __init__(self, program: JavaProgram, broker: SecuredBroker, configuration: str, folder: Path) -> None:
        self._tools = ConsoleTools(program, broker.bootstrap)
        file = folder / "client.properties"
        file.write_text(configuration)
        self._command = ("--command-config", str(file))

    def list_topics(self) -> Ended:
        return self._tools.run(TOPICS, *self._command, "--list")

    def write_and_read(self, topic: str) -> list[str]:
        producing = ["--topic", topic, "--command-property", "enable.idempotence=true"]
        self._tools.output_of(PRODUCER, *self._command, *producing, lines=LINES)
        reading = ["--topic", topic, "--from-beginning", "--max-messages", "3", "--timeout-ms", STEP_MS_MAX]
        return self._tools.output_of(CONSUMER, *self._command, *reading).split()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_java_writes_and_reads(
    program: JavaProgram, secured_broker: SecuredBroker, tmp_path: Path, mechanism: str
) -> None:
    configuration = secured_broker.filled(blocks_of("Java")[0], mechanism)

    assert SecuredTools(program, secured_broker, configuration, tmp_path).write_and_read(mechanism) == LINES


def test_java_with_a_certificate_writes_and_reads(
    program: JavaProgram, mutual_tls_broker: SecuredBroker, tmp_path: Path
) -> None:
    configuration = mutual_tls_broker.filled(blocks_of("Java")[1])

    assert SecuredTools(program, mutual_tls_broker, configuration, tmp_path).write_and_read("certificate") == LINES


def test_java_without_a_certificate_reports_a_failed_handshake(
    program: JavaProgram, mutual_tls_broker: SecuredBroker, tmp_path: Path
) -> None:
    lines = mutual_tls_broker.filled(blocks_of("Java")[1]).splitlines()
    configuration = "\n".join(line for line in lines if not line.startswith("ssl.keystore"))

    listed = SecuredTools(program, mutual_tls_broker, configuration, tmp_path).list_topics()

    assert listed.exit == 1
    # Of the SslAuthenticationException: without the alert, the client tries again for a minute.
    assert "Failed to process post-handshake messages" in listed.output


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_java_reports_a_wrong_password(
    program: JavaProgram, secured_broker: SecuredBroker, tmp_path: Path, mechanism: str
) -> None:
    configuration = secured_broker.filled(blocks_of("Java")[0], mechanism, "wrong")

    listed = SecuredTools(program, secured_broker, configuration, tmp_path).list_topics()

    assert listed.exit == 1
    assert AUTHENTICATION_FAILED[mechanism == "PLAIN"] in listed.output
