"""The properties of Kafka's clients: the security that they configure, and the errors of invalid ones."""

import pickle
from collections.abc import Mapping
from pathlib import Path

import pytest

from fauxka import ConfigError
from fauxka.broker.security.tls.throw_away_ca import ensure_files
from fauxka.client.client_security import (
    ClientSecurity,
    PasswordLogin,
    TokenCommand,
    TokenEndpoint,
    TokenFile,
    TokenLogin,
    UnsecuredToken,
)
from fauxka.client.security_properties import parse_client_security

from .client_properties import certificate_properties, jaas_config, sasl_properties

OAUTHBEARER = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "OAUTHBEARER"}
ENDPOINT = "sasl.oauthbearer.token.endpoint.url"
COMMAND = "fauxka.sasl.oauthbearer.token.command"
CLIENT_ID = "sasl.oauthbearer.client.credentials.client.id"
CLIENT_SECRET = "sasl.oauthbearer.client.credentials.client.secret"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificates")
    ensure_files(folder, ["localhost"])
    return folder


@pytest.mark.parametrize(
    "properties",
    [
        {},
        {"bootstrap.servers": "h:1", "client.id": "c", "acks": "all", "group.id": "g"},
        {"security.protocol": "plaintext"},
        {"ssl.truststore.location": "/nowhere", "sasl.mechanism": "GSSAPI"},
        {"sasl.login.refresh.window.factor": "0.8", "sasl.kerberos.service.name": "k", "ssl.protocol": "TLSv1.3"},
    ],
)
def test_properties_without_a_security_protocol_are_plain_text(properties: Mapping[str, str]) -> None:
    assert parse_client_security(properties) == ClientSecurity()


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_user_and_password_are_those_of_the_jaas_config(mechanism: str) -> None:
    properties = sasl_properties("SASL_PLAINTEXT", mechanism, user="a,b=c", password='s\\"x')

    assert parse_client_security(properties).login == PasswordLogin(mechanism, "a,b=c", 's"x')


def test_delegation_token_is_marked() -> None:
    jaas = jaas_config("SCRAM-SHA-256", username="id", password="hmac", tokenauth="true")
    properties = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "SCRAM-SHA-256", "sasl.jaas.config": jaas}

    assert parse_client_security(properties).login == PasswordLogin("SCRAM-SHA-256", "id", "hmac", is_token=True)


def test_values_are_trimmed_as_kafka_does() -> None:
    properties = sasl_properties("SASL_PLAINTEXT", "PLAIN", user="alice", password="s")

    spaced = {name: f" {value}\t " for name, value in properties.items()}

    assert parse_client_security(spaced) == parse_client_security(properties)


def test_pem_in_one_line_is_read_as_kafka_does(folder: Path) -> None:
    properties = certificate_properties(folder)
    certificates = Path(properties["ssl.truststore.location"]).read_text()
    one_line = {
        "security.protocol": "SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": " ".join(certificates.split("\n")),
    }

    tls = parse_client_security(one_line).tls

    assert tls is not None
    assert tls.trust_store is not None
    assert (tls.trust_store.pem or "").split() == certificates.split()


@pytest.mark.parametrize(
    ("properties", "login"),
    [
        ({COMMAND: "get-token --for 'two words'"}, TokenLogin(TokenCommand(("get-token", "--for", "two words")))),
        ({ENDPOINT: "file:///run/a%20token"}, TokenLogin(TokenFile("/run/a token"))),
        (
            {ENDPOINT: "https://h/t", CLIENT_ID: "i", CLIENT_SECRET: "s", "sasl.oauthbearer.scope": "a b"},
            TokenLogin(TokenEndpoint("https://h/t", "i", "s", "a b")),
        ),
        (
            {ENDPOINT: "http://h/t", "sasl.jaas.config": jaas_config("OAUTHBEARER", clientId="i", clientSecret="s")},
            TokenLogin(TokenEndpoint("http://h/t", "i", "s")),
        ),
        (
            {
                "sasl.jaas.config": jaas_config(
                    "OAUTHBEARER", unsecuredLoginStringClaim_sub="alice", extension_logicalCluster="lkc-1"
                )
            },
            TokenLogin(UnsecuredToken((("sub", "alice"),)), (("logicalCluster", "lkc-1"),)),
        ),
    ],
)
def test_source_of_the_token_follows_from_the_properties(properties: Mapping[str, str], login: TokenLogin) -> None:
    assert parse_client_security({**OAUTHBEARER, **properties}).login == login


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({"security.protocol": "TLS"}, "security.protocol: got TLS; allowed: PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL"),
        ({"ssl.trustore.location": "x"}, "ssl.trustore.location: is not supported; "),
        ({"ssl.cipher.suites": "x"}, "ssl.cipher.suites: is not supported; "),
        ({"sasl.client.callback.handler.class": "x"}, "sasl.client.callback.handler.class: is not supported; "),
        ({"security.protocol": "SASL_SSL"}, "sasl.mechanism: got GSSAPI (the default); allowed: PLAIN, "),
        ({"security.protocol": "SASL_SSL", "sasl.mechanism": "EXTERNAL"}, "sasl.mechanism: got EXTERNAL; allowed: "),
        ({"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN"}, "sasl.jaas.config: must be set for PLAIN: "),
        (
            {**sasl_properties("SASL_SSL", "PLAIN"), "sasl.mechanism": "SCRAM-SHA-256"},
            'sasl.jaas.config: expected "org.apache.kafka.common.security.scram.ScramLoginModule required ...;"',
        ),
        (
            {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN", "sasl.jaas.config": jaas_config("PLAIN")},
            "sasl.jaas.config: must have username and password for PLAIN",
        ),
        (OAUTHBEARER, f"sasl.mechanism: OAUTHBEARER needs {COMMAND}, {ENDPOINT}, or "),
        ({**OAUTHBEARER, COMMAND: "'open"}, f"{COMMAND}: must be a program and its arguments"),
        ({**OAUTHBEARER, COMMAND: "x", ENDPOINT: "file:///x"}, f"set only one of {COMMAND} and {ENDPOINT}, not both"),
        ({**OAUTHBEARER, ENDPOINT: "ftp://h/t"}, f"{ENDPOINT}: must be a URL with file, http or https"),
        ({**OAUTHBEARER, ENDPOINT: "https://h/t"}, f"{ENDPOINT}: needs {CLIENT_ID} and {CLIENT_SECRET}"),
        (
            {"security.protocol": "SSL", "ssl.truststore.location": "/no/such", "ssl.truststore.type": "PEM"},
            "ssl.truststore.location: cannot read /no/such: No such file or directory",
        ),
        (
            {"security.protocol": "SSL", "ssl.enabled.protocols": "TLSv1"},
            "ssl.enabled.protocols: TLSv1 is not supported",
        ),
        (
            {"security.protocol": "SSL", "ssl.endpoint.identification.algorithm": "ldaps"},
            "ssl.endpoint.identification.algorithm: got ldaps; allowed: https, or nothing for no check",
        ),
        (
            {"security.protocol": "SSL", "ssl.truststore.certificates": "x"},
            "ssl.truststore.certificates: needs ssl.truststore.type=PEM",
        ),
    ],
)
def test_property_that_cannot_be_used_is_one_line(properties: Mapping[str, str], message: str) -> None:
    with pytest.raises(ConfigError) as failed:
        parse_client_security(properties)

    assert str(failed.value).startswith(message)
    assert "\n" not in str(failed.value)
    assert "secret" not in str(failed.value).replace(CLIENT_SECRET, "")


def test_jks_store_is_refused_with_the_command_that_converts_it(tmp_path: Path) -> None:
    (tmp_path / "trust.jks").write_bytes(bytes.fromhex("feedfeed00000002"))
    properties = {"security.protocol": "SSL", "ssl.truststore.location": str(tmp_path / "trust.jks")}

    with pytest.raises(ConfigError, match=r"it is a JKS store, which cannot be read; keytool -importkeystore"):
        parse_client_security(properties)


def test_wrong_password_of_a_store_is_one_line(folder: Path) -> None:
    properties = {
        "security.protocol": "SSL",
        "ssl.truststore.location": str(folder / "truststore.p12"),
        "ssl.truststore.password": "wr0ng",
    }

    with pytest.raises(ConfigError, match=r"it is no PKCS12 store, or ssl\.truststore\.password is wrong") as failed:
        parse_client_security(properties)

    assert "wr0ng" not in str(failed.value)


def test_security_is_the_same_in_another_process_without_the_files(folder: Path) -> None:
    properties = {**certificate_properties(folder), **sasl_properties("SASL_SSL", "PLAIN", password="swordf1sh")}
    security = parse_client_security(properties)

    assert pickle.loads(pickle.dumps(security)) == security
    assert security.tls is not None and security.tls.key_store is not None
    assert b"PRIVATE KEY" in security.tls.key_store.read_pem()
    shown = repr(security)
    assert "swordf1sh" not in shown
    assert "BEGIN" not in shown


def test_secrets_of_tokens_are_in_no_repr() -> None:
    command = parse_client_security({**OAUTHBEARER, COMMAND: "get --password swordf1sh"})
    endpoint = parse_client_security(
        {**OAUTHBEARER, ENDPOINT: "https://h/", CLIENT_ID: "i", CLIENT_SECRET: "swordf1sh"}
    )

    assert "swordf1sh" not in repr(command) + repr(endpoint)
