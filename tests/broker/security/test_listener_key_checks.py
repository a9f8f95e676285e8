"""Keys of single listeners: one without an effect is refused, with its name."""

import pytest

from fauxka import ConfigError
from fauxka.broker.security.listener_keys import check_listener_keys
from fauxka.security.security_protocol import SecurityProtocol
from fauxka.testing import Broker

from ...serving_process import run

PROTOCOLS = {"A.B": SecurityProtocol.SSL, "A": SecurityProtocol.SASL_SSL, "IN": SecurityProtocol.PLAINTEXT}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("a.b.ssl.client.auth", "required"),
        ("a.sasl.enabled.mechanisms", "PLAIN"),
        ("a.gssapi.sasl.jaas.config", "x"),
        ("a.scram-sha-256.connections.max.reauth.ms", "1"),
        ("in.max.connections", "5"),
        ("in.ssl.client.auth", "none"),
        ("controller.ssl.client.auth", "required"),
    ],
)
def test_key_of_a_listener_is_accepted(key: str, value: str) -> None:
    check_listener_keys({f"listener.name.{key}": value}, PROTOCOLS, ["CONTROLLER"])


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("A.B.ssl.client.auth", "required", "in lower case in a key; did you mean listener.name.a.b.ssl.client.auth?"),
        ("absent.ssl.client.auth", "none", "there is no listener of that name; the listeners are a.b, a, in"),
        ("a.bssl.client.auth", "none", "unknown configuration key listener.name.a.bssl.client.auth; did you mean"),
        ("a.plain.ssl.client.atuh", "none", "unknown configuration key"),
        ("a.b.ssl.client.auth", "REQUIRED", "a.b.ssl.client.auth: Invalid value REQUIRED for configuration"),
        ("in.ssl.client.auth", "required", "a listener with the protocol PLAINTEXT demands no certificates"),
        ("a.b.sasl.enabled.mechanisms", "PLAIN", "a listener with the protocol SSL has no mechanisms"),
        ("in.plain.sasl.jaas.config", "x", "a listener with the protocol PLAINTEXT has no mechanisms"),
    ],
)
def test_key_without_an_effect_is_refused(key: str, value: str, message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        check_listener_keys({f"listener.name.{key}": value}, PROTOCOLS)

    assert f"listener.name.{key}" in str(refused.value)
    assert message in str(refused.value)


def test_broker_of_a_test_refuses_a_key_of_no_listener() -> None:
    with pytest.raises(ConfigError, match=r"listener\.name\.ssl\.ssl\.client\.auth: there is no listener"):
        Broker({"listener.name.ssl.ssl.client.auth": "required"})


def test_key_in_upper_case_is_one_line_and_exit_code_2() -> None:
    key = "listener.name.SSL.ssl.client.auth"

    ended = run("serve", "--listener", "SSL", "--port", "0", "-c", f"{key}=required")

    assert ended.exit_code == 2
    assert ended.log.count("\n") == 1
    assert key in ended.log


def test_keys_of_the_listeners_that_an_option_replaces_are_accepted() -> None:
    config = {"listeners": "SSL://:9093", "listener.name.ssl.ssl.client.auth": "required"}
    options = [text for key, value in config.items() for text in ("-c", f"{key}={value}")]

    ended = run("serve", "--port", "0", *options, "--ready-file", "/no/such/folder/ready")

    assert "--ready-file" in ended.log
