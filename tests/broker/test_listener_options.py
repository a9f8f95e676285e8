"""Listeners from the command line and from Kafka's keys."""

import pytest

from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.config.config_types import ConfigError
from fauxka.broker.lifecycle.listener_options import (
    check_listeners,
    listeners_of_keys,
    parse_listener,
    protocols_of,
    select_listeners,
)
from fauxka.broker.network.listeners import ListenerConfig
from fauxka.security.security_protocol import SecurityProtocol

DEFAULTS = BrokerConfig.from_entries({})


@pytest.mark.parametrize(
    ("text", "listener"),
    [
        ("PLAINTEXT://127.0.0.1:9092", ListenerConfig("PLAINTEXT", "127.0.0.1", 9092)),
        ("internal://:0", ListenerConfig("INTERNAL", "", 0)),
        ("A-1://[::1]:9092", ListenerConfig("A-1", "::1", 9092)),
        ("OUT://0.0.0.0:9094,broker.example:29094", ListenerConfig("OUT", "0.0.0.0", 9094, "broker.example", 29094)),
        ("OUT://0.0.0.0:9094,:0", ListenerConfig("OUT", "0.0.0.0", 9094)),
        ("OUT://0.0.0.0:0,[fe80::1]:1", ListenerConfig("OUT", "0.0.0.0", 0, "fe80::1", 1)),
    ],
)
def test_listener_is_name_bound_address_and_advertised_address(text: str, listener: ListenerConfig) -> None:
    assert parse_listener(text) == listener


@pytest.mark.parametrize(
    "text",
    [
        "",
        "PLAINTEXT",
        "PLAINTEXT://",
        "PLAINTEXT://host",
        "PLAINTEXT://host:x",
        "://host:1",
        "P://host:65536",
        "P://h:1,x",
    ],
)
def test_invalid_listener_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^listener "):
        parse_listener(text)


def test_keys_give_each_listener_its_advertised_address() -> None:
    config = BrokerConfig.from_entries(
        {
            "listeners": "PLAINTEXT://0.0.0.0:9092,OUT://:9094",
            "advertised.listeners": "OUT://localhost:29094,PLAINTEXT://broker:9092",
        }
    )

    assert listeners_of_keys(config, "127.0.0.1") == [
        ListenerConfig("PLAINTEXT", "0.0.0.0", 9092, "broker", 9092),
        ListenerConfig("OUT", "", 9094, "localhost", 29094),
    ]


def test_advertised_addresses_alone_are_bound_by_their_ports() -> None:
    config = BrokerConfig.from_entries({"advertised.listeners": "PLAINTEXT://broker:9092,OUT://localhost:9094"})

    assert listeners_of_keys(config, "0.0.0.0") == [
        ListenerConfig("PLAINTEXT", "0.0.0.0", 9092, "broker", 9092),
        ListenerConfig("OUT", "0.0.0.0", 9094, "localhost", 9094),
    ]


def test_without_the_keys_no_listener_comes_from_keys() -> None:
    assert listeners_of_keys(DEFAULTS, "127.0.0.1") == []


def test_listener_of_the_controllers_is_left_out() -> None:
    config = BrokerConfig.from_entries({"listeners": "PLAINTEXT://:9092,CONTROLLER://:9093"})

    assert [listener.name for listener in listeners_of_keys(config, "")] == ["PLAINTEXT"]


def test_advertised_listener_that_is_not_bound_is_refused() -> None:
    config = BrokerConfig.from_entries({"listeners": "A://:1", "advertised.listeners": "B://x:1"})

    with pytest.raises(ConfigError, match=r"advertised\.listeners names B"):
        listeners_of_keys(config, "")


@pytest.mark.parametrize(
    ("listeners", "reason"),
    [
        ([ListenerConfig("A", "", 1), ListenerConfig("A", "", 2)], "different name"),
        ([ListenerConfig("A", "", 1), ListenerConfig("B", "", 1)], "different port"),
        ([ListenerConfig("A", "", 1, "0.0.0.0", 1)], "nonroutable meta-address"),
    ],
)
def test_listeners_that_cannot_be_served_are_refused(listeners: list[ListenerConfig], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        check_listeners(listeners)


def test_two_listeners_may_both_take_any_free_port() -> None:
    check_listeners([ListenerConfig("A", "", 0), ListenerConfig("B", "", 0)])


def test_map_of_security_protocols_sets_the_protocol_of_a_listener() -> None:
    config = BrokerConfig.from_entries({"listener.security.protocol.map": "SSL:PLAINTEXT, OUT:SASL_SSL"})
    listeners = [ListenerConfig(name, "", 0) for name in ("SSL", "OUT", "SASL_PLAINTEXT", "OTHER")]

    assert protocols_of(listeners, config) == {
        "SSL": SecurityProtocol.PLAINTEXT,
        "OUT": SecurityProtocol.SASL_SSL,
        "SASL_PLAINTEXT": SecurityProtocol.SASL_PLAINTEXT,
        "OTHER": SecurityProtocol.PLAINTEXT,
    }


def test_unknown_security_protocol_is_refused() -> None:
    config = BrokerConfig.from_entries({"listener.security.protocol.map": "OUT:TLS"})

    with pytest.raises(ConfigError, match="listener OUT has the protocol TLS; allowed: PLAINTEXT, SSL, SASL_PLAINTEXT"):
        protocols_of([ListenerConfig("OUT", "", 0)], config)


def test_name_of_a_security_protocol_alone_is_a_listener_on_host_and_port() -> None:
    assert select_listeners(DEFAULTS, ["sasl_ssl"], "127.0.0.1", 0) == [ListenerConfig("SASL_SSL", "127.0.0.1", 0)]
