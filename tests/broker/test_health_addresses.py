"""Which listener the health command asks, by the environment of the container."""

from pathlib import Path

import pytest

from fauxka.broker.lifecycle.health import HealthAddress
from fauxka.broker.lifecycle.health_addresses import addresses_from_environment

MAP = "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP"


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, HealthAddress("127.0.0.1", 9092)),
        ({"FAUXKA_LISTENER": "SASL_PLAINTEXT"}, HealthAddress("127.0.0.1", 9092)),
        ({"FAUXKA_LISTENER": "SASL_SSL"}, HealthAddress("127.0.0.1", 9092, has_tls=True)),
        ({"FAUXKA_LISTENER": "SSL://0.0.0.0:9093"}, HealthAddress("127.0.0.1", 9093, has_tls=True)),
        ({"KAFKA_LISTENERS": "SSL://broker:9093"}, HealthAddress("broker", 9093, has_tls=True)),
        ({"KAFKA_LISTENERS": "OUT://:9093", MAP: "OUT:SASL_SSL"}, HealthAddress("127.0.0.1", 9093, has_tls=True)),
        ({"KAFKA_LISTENERS": "SSL://:9093,PLAINTEXT://:9092"}, HealthAddress("127.0.0.1", 9092)),
        ({"FAUXKA_LISTENER": "nonsense"}, HealthAddress("127.0.0.1", 9092)),
    ],
)
def test_listener_without_tls_comes_first(environment: dict[str, str], expected: HealthAddress) -> None:
    assert addresses_from_environment(environment) == [expected]


def test_each_node_has_its_port() -> None:
    environment = {"FAUXKA_LISTENER": "SSL", "FAUXKA_NODES": "3"}

    assert [(each.port, each.has_tls) for each in addresses_from_environment(environment)] == [
        (9092, True),
        (9093, True),
        (9094, True),
    ]


@pytest.mark.parametrize(("port", "has_tls"), [(9092, False), (9093, False), (9192, True), (9193, True), (9999, False)])
def test_given_port_is_asked_as_its_listener_is_configured(port: int, has_tls: bool) -> None:
    environment = {"KAFKA_LISTENERS": "PLAINTEXT://:9092,SSL://:9192", "FAUXKA_NODES": "2"}

    assert addresses_from_environment(environment, port) == [HealthAddress("127.0.0.1", port, has_tls=has_tls)]


def test_listener_that_demands_certificates_is_asked_with_the_throw_away_one_or_by_a_handshake(tmp_path: Path) -> None:
    environment = {"FAUXKA_LISTENER": "SSL", "KAFKA_SSL_CLIENT_AUTH": "required", "FAUXKA_TLS_DIR": str(tmp_path)}

    [before] = addresses_from_environment(environment)
    (tmp_path / "client.pem").touch()
    [after] = addresses_from_environment(environment)

    assert before == HealthAddress("127.0.0.1", 9092, has_tls=True, is_handshake_enough=True)
    assert after == HealthAddress("127.0.0.1", 9092, has_tls=True, client_certificate=str(tmp_path / "client.pem"))
