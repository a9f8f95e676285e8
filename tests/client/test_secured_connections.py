"""Connections with TLS and SASL to a broker of fauxka, with the properties of Kafka's clients."""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from fauxka.client.broker_connection import BrokerConnection
from fauxka.client.errors import AuthenticationFailed, ConnectionFailed
from fauxka.client.security_properties import parse_client_security
from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.messages.metadata import MetadataRequest, MetadataResponse
from fauxka.testing import Broker

from .client_properties import MECHANISMS, PASSWORD_MECHANISMS, certificate_properties, sasl_properties, tls_properties

TIMEOUT_SECONDS = 10.0
WRONG_PROTOCOL = r"security\.protocol is PLAINTEXT, and the listener may have another one$"


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker(security_protocol="SASL_SSL", users={"alice": "secret"}) as broker:
        yield broker


@pytest.fixture(scope="module")
def mutual_tls_broker() -> Iterator[Broker]:
    with Broker({"ssl.client.auth": "required"}, security_protocol="SSL") as broker:
        yield broker


@pytest.fixture(scope="module")
def plain_broker() -> Iterator[Broker]:
    with Broker() as broker:
        yield broker


def folder_of(broker: Broker) -> Path:
    assert broker.tls_dir is not None, "it has throw-away certificates"
    return broker.tls_dir


def connect(broker: Broker, properties: Mapping[str, str], host: str = "127.0.0.1") -> BrokerConnection:
    port = int(broker.bootstrap_servers.rpartition(":")[2])
    security = parse_client_security(properties)
    return BrokerConnection(host, port, timeout_seconds=TIMEOUT_SECONDS, security=security)


def cluster_id_through(connection: BrokerConnection) -> str | None:
    return connection.send(ApiKey.METADATA, MetadataRequest(topics=[]), MetadataResponse.read).cluster_id


def ask(broker: Broker, properties: Mapping[str, str]) -> str | None:
    with connect(broker, properties) as connection:
        return cluster_id_through(connection)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_each_mechanism_logs_in_over_tls(broker: Broker, mechanism: str) -> None:
    properties = {**tls_properties(folder_of(broker)), **sasl_properties("SASL_SSL", mechanism)}

    with connect(broker, properties) as connection:
        assert cluster_id_through(connection)
        sessions = [(session.principal, session.mechanism) for session in broker.sessions.list()]

    assert sessions == [("User:alice", mechanism)]


@pytest.mark.parametrize("mechanism", PASSWORD_MECHANISMS)
def test_wrong_password_fails_with_the_message_of_the_broker(broker: Broker, mechanism: str) -> None:
    properties = {**tls_properties(folder_of(broker)), **sasl_properties("SASL_SSL", mechanism, password="wr0ng")}

    with pytest.raises(AuthenticationFailed) as failed:
        connect(broker, properties)

    reason = "Authentication failed: Invalid username or password"
    if mechanism != "PLAIN":
        reason = (
            f"Authentication failed during authentication due to invalid credentials with SASL mechanism {mechanism}"
        )
    assert str(failed.value) == f"broker {broker.bootstrap_servers}: SASL {mechanism}: {reason}"


def test_refused_token_fails_with_the_status_of_the_broker(broker: Broker, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("bm8.dG9rZW4.\n")
    properties = {
        **tls_properties(folder_of(broker)),
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.token.endpoint.url": (tmp_path / "token").as_uri(),
    }

    with pytest.raises(AuthenticationFailed) as failed:
        connect(broker, properties)

    assert str(failed.value) == f'broker {broker.bootstrap_servers}: SASL OAUTHBEARER: {{"status":"invalid_token"}}'


def test_mechanism_that_the_listener_does_not_offer_is_named_with_those_it_offers() -> None:
    with (
        Broker(
            {"sasl.enabled.mechanisms": "PLAIN"}, security_protocol="SASL_PLAINTEXT", users={"alice": "x"}
        ) as broker,
        pytest.raises(
            AuthenticationFailed, match=r"SASL SCRAM-SHA-256: the listener does not offer it; it offers PLAIN$"
        ),
    ):
        connect(broker, sasl_properties("SASL_PLAINTEXT", "SCRAM-SHA-256"))


@pytest.mark.parametrize("types", [("PEM", "ca.pem", "client.pem"), ("PKCS12", "truststore.p12", "client.p12")])
def test_client_certificate_from_a_store_is_accepted(mutual_tls_broker: Broker, types: tuple[str, str, str]) -> None:
    kind, trust_store, key_store = types
    folder = folder_of(mutual_tls_broker)
    properties = {
        "security.protocol": "SSL",
        "ssl.truststore.type": kind,
        "ssl.truststore.location": str(folder / trust_store),
        "ssl.truststore.password": "changeit",
        "ssl.keystore.type": kind,
        "ssl.keystore.location": str(folder / key_store),
        "ssl.keystore.password": "changeit",
    }

    with connect(mutual_tls_broker, properties) as connection:
        assert cluster_id_through(connection)


def test_missing_client_certificate_is_one_line(mutual_tls_broker: Broker) -> None:
    with pytest.raises(AuthenticationFailed, match=r"^broker [\d.:]+: [\w ]+: .*certificate required$"):
        ask(mutual_tls_broker, tls_properties(folder_of(mutual_tls_broker)))


def test_certificate_that_is_not_trusted_is_one_line(broker: Broker) -> None:
    with pytest.raises(AuthenticationFailed, match=r"TLS: the certificate of the broker is not trusted: \w.*$"):
        connect(broker, {"security.protocol": "SSL"})


def test_host_name_that_is_not_in_the_certificate_is_refused_unless_the_check_is_off(mutual_tls_broker: Broker) -> None:
    properties = certificate_properties(folder_of(mutual_tls_broker))
    mutual_tls_broker.certificates.present("wrong_host")

    with pytest.raises(AuthenticationFailed, match=r"not trusted: .*(IP address|Hostname) mismatch"):
        connect(mutual_tls_broker, properties)
    with connect(mutual_tls_broker, {**properties, "ssl.endpoint.identification.algorithm": ""}) as connection:
        assert cluster_id_through(connection)

    mutual_tls_broker.certificates.present("configured")


def test_plain_client_of_a_listener_with_tls_is_told_to_set_the_protocol(broker: Broker) -> None:
    with pytest.raises(ConnectionFailed, match=WRONG_PROTOCOL):
        ask(broker, {})


def test_plain_client_of_a_listener_with_sasl_is_told_to_set_the_protocol() -> None:
    with (
        Broker(security_protocol="SASL_PLAINTEXT", users={"alice": "secret"}) as broker,
        pytest.raises(ConnectionFailed, match=WRONG_PROTOCOL),
    ):
        ask(broker, {})


def test_client_with_tls_of_a_listener_without_it_is_one_line(plain_broker: Broker, broker: Broker) -> None:
    with pytest.raises(ConnectionFailed, match=r"TLS: the broker closed the connection; does the listener have TLS\?$"):
        connect(plain_broker, tls_properties(folder_of(broker)))


def test_client_with_sasl_of_a_listener_without_it_is_one_line(plain_broker: Broker) -> None:
    with pytest.raises(AuthenticationFailed, match=r"SASL PLAIN: the listener has no SASL; check security\.protocol$"):
        connect(plain_broker, sasl_properties("SASL_PLAINTEXT", "PLAIN"))


def test_connection_authenticates_again_before_its_session_ends() -> None:
    config = {"connections.max.reauth.ms": "2000"}
    with (
        Broker(config, security_protocol="SASL_PLAINTEXT", users={"alice": "secret"}) as broker,
        connect(broker, sasl_properties("SASL_PLAINTEXT", "SCRAM-SHA-512")) as connection,
    ):
        first = broker.sessions.list()
        deadline = time.monotonic() + 3
        while time.monotonic() < deadline:
            assert cluster_id_through(connection)
            time.sleep(0.02)

        sessions = broker.sessions.list()
    assert [session.connection for session in sessions] == [session.connection for session in first]
    assert sessions[0].authenticated_at_ms > first[0].authenticated_at_ms


@pytest.mark.parametrize("host", ["a..b", "x" * 70])
def test_host_that_is_no_host_name_is_one_line(host: str) -> None:
    with pytest.raises(ConnectionFailed, match="no connection: the host is no host name"):
        BrokerConnection(host, 9092, timeout_seconds=5, response_bytes_max=1000)
