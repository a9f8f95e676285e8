"""A real Kafka with TLS and SASL: a topic is read, and the broker exported, with each mechanism."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka import Producer

from fauxka.broker.security.tls.throw_away_ca import ensure_files, key_store_of
from fauxka.client.broker_connection import BrokerConnection
from fauxka.client.client_security import UnsecuredToken
from fauxka.client.errors import AuthenticationFailed, ConnectionFailed
from fauxka.client.oauth_tokens import fetch_token
from fauxka.client.security_properties import parse_client_security
from fauxka.client.token_properties import ENDPOINT_URL
from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.messages.metadata import MetadataRequest, MetadataResponse
from fauxka.security.pem_parts import certificates_in, pkcs8_key_in

from ..client.client_properties import (
    MECHANISMS,
    PASSWORD_MECHANISMS,
    certificate_properties,
    jaas_config,
    properties_text,
    sasl_properties,
    tls_properties,
)
from ..golden.sasl_brokers import create_scram_users, kafka_with_listeners
from ..golden.sasl_brokers import jaas_config as jaas_of_broker
from ..golden.sasl_client import Addresses
from ..pipeline.logs_on_disk import read
from ..serving_process import run

pytestmark = [pytest.mark.reference, pytest.mark.timeout(300)]

LISTENERS = ("PLAINTEXT", "SASL_PLAINTEXT", "SASL_SSL", "SSL", "SESSIONS")
VALUES = [f"value {number}".encode() for number in range(50)]
SESSION_MS = 2000
TIMEOUT_SECONDS = 10.0


@dataclass(frozen=True)
class SecuredKafka:
    """addresses: of the listeners by name. folder: with the authority."""

    addresses: Addresses
    folder: Path

    def properties(self, mechanism: str, password: str = "secret") -> dict[str, str]:
        """Return the properties of a client of SASL_SSL."""
        return {**tls_properties(self.folder), **sasl_properties("SASL_SSL", mechanism, password=password)}


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredKafka]:
    folder = tmp_path_factory.mktemp("kafka")
    ensure_files(folder, ["localhost", "127.0.0.1"])
    with kafka_with_listeners(folder / "kafka.log", LISTENERS, config_of(folder)) as addresses:
        create_scram_users(addresses)
        producer = Producer({"bootstrap.servers": addresses["PLAINTEXT"], "enable.idempotence": True})
        for value in VALUES:
            producer.produce("t", value)
        assert producer.flush(60) == 0
        yield SecuredKafka(addresses, folder)


def config_of(folder: Path) -> dict[str, str]:
    """Return the keys of the broker, with the throw-away certificate of the folder in the form that Java reads."""
    store = key_store_of(folder)
    pem = store.read_pem()
    (folder / "kafka.pem").write_text(f"{pkcs8_key_in(store, pem)}\n{certificates_in(pem)}\n")
    secured = ("sasl_plaintext", "sasl_ssl", "sessions")
    unsecured = jaas_config("OAUTHBEARER", unsecuredLoginStringClaim_sub="broker")
    return {
        "listener.security.protocol.map": (
            "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL,SSL:SSL,"
            "SESSIONS:SASL_SSL"
        ),
        "sasl.enabled.mechanisms": ",".join(MECHANISMS),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(folder / "kafka.pem"),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(folder / "ca.pem"),
        "listener.name.ssl.ssl.client.auth": "required",
        "listener.name.sessions.connections.max.reauth.ms": str(SESSION_MS),
        **jaas_of_broker({"alice": "secret"}, PASSWORD_MECHANISMS, *secured),
        **{f"listener.name.{name}.oauthbearer.sasl.jaas.config": unsecured for name in secured},
    }


def connect(kafka: SecuredKafka, listener: str, properties: dict[str, str]) -> BrokerConnection:
    host, _, port = kafka.addresses[listener].rpartition(":")
    security = parse_client_security(properties)
    return BrokerConnection(host, int(port), timeout_seconds=TIMEOUT_SECONDS, security=security)


def ask(connection: BrokerConnection) -> str | None:
    return connection.send(ApiKey.METADATA, MetadataRequest(topics=[]), MetadataResponse.read).cluster_id


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_topic_is_read_with_each_mechanism(kafka: SecuredKafka, mechanism: str) -> None:
    options = {f"kafka.{name}": value for name, value in kafka.properties(mechanism).items()}

    rows = read(bootstrap=kafka.addresses["SASL_SSL"], topics="t", **options)

    assert [row["value"] for row in rows] == VALUES


def test_topic_is_read_with_a_token_from_a_file(kafka: SecuredKafka, tmp_path: Path) -> None:
    source = UnsecuredToken((("sub", "alice"),))
    (tmp_path / "token").write_text(fetch_token(source))
    properties = {**kafka.properties("OAUTHBEARER"), ENDPOINT_URL: (tmp_path / "token").as_uri()}
    options = {f"kafka.{name}": value for name, value in properties.items()}

    rows = read(bootstrap=kafka.addresses["SASL_SSL"], topics="t", **options)

    assert [row["value"] for row in rows] == VALUES


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_broker_is_exported_with_each_mechanism(kafka: SecuredKafka, mechanism: str, tmp_path: Path) -> None:
    config = tmp_path / "client.properties"
    config.write_text(properties_text(kafka.properties(mechanism)))
    source = ("--from", kafka.addresses["SASL_SSL"], "--command-config", str(config))

    ended = run("export", str(tmp_path / "exported"), *source)

    assert ended.exit_code == 0, ended.log
    assert [row["value"] for row in read(path=tmp_path / "exported", topics="t")] == VALUES


@pytest.mark.parametrize("mechanism", PASSWORD_MECHANISMS)
def test_wrong_password_fails_with_the_message_of_kafka(kafka: SecuredKafka, mechanism: str) -> None:
    with pytest.raises(AuthenticationFailed) as failed:
        connect(kafka, "SASL_SSL", kafka.properties(mechanism, password="wr0ng"))

    of_scram = f"Authentication failed during authentication due to invalid credentials with SASL mechanism {mechanism}"
    reason = "Authentication failed: Invalid username or password" if mechanism == "PLAIN" else of_scram
    assert str(failed.value) == f"broker {kafka.addresses['SASL_SSL']}: SASL {mechanism}: {reason}"


def test_client_certificate_is_accepted_and_a_missing_one_is_one_line(kafka: SecuredKafka) -> None:
    with connect(kafka, "SSL", certificate_properties(kafka.folder)) as connection:
        assert ask(connection)

    with (
        pytest.raises(
            AuthenticationFailed, match=r"^broker [\d.:]+: \w[\w ]+: .*(bad certificate|certificate required)$"
        ),
        connect(kafka, "SSL", tls_properties(kafka.folder)) as connection,
    ):
        ask(connection)


def test_client_without_tls_is_told_to_set_the_protocol(kafka: SecuredKafka) -> None:
    with pytest.raises(ConnectionFailed, match=r"security\.protocol"), connect(kafka, "SSL", {}) as connection:
        ask(connection)


def test_client_with_tls_of_a_listener_without_it_is_one_line(kafka: SecuredKafka) -> None:
    with pytest.raises(ConnectionFailed, match=r"TLS: the broker closed the connection; does the listener have TLS\?$"):
        connect(kafka, "PLAINTEXT", tls_properties(kafka.folder))


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_connection_outlives_its_session(kafka: SecuredKafka, mechanism: str) -> None:
    with connect(kafka, "SESSIONS", kafka.properties(mechanism)) as connection:
        deadline = time.monotonic() + SESSION_MS / 1000 * 1.5
        while time.monotonic() < deadline:
            assert ask(connection)
            time.sleep(0.02)
