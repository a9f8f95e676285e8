"""Listeners from the command line and from Kafka's keys."""

import pytest

from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.config.config_types import ConfigError
from fauxka.broker.lifecycle.listener_checks import check_routable
from fauxka.broker.lifecycle.listener_options import (
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
        ("A://::1:9092", ListenerConfig("A", "::1", 9092)),
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
    with pytest.raises(
        ConfigError, match=r"^(Unable to parse .* to a broker endpoint|The provided listener name is null)"
    ):
        parse_listener(text)


def test_keys_give_each_listener_its_advertised_address() -> None:
    config = BrokerConfig.from_entries(
        {
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,OUT:PLAINTEXT",
            "listeners": "PLAINTEXT://0.0.0.0:9092,OUT://:9094",
            "advertised.listeners": "OUT://localhost:29094,PLAINTEXT://broker:9092",
        }
    )

    assert listeners_of_keys(config, "127.0.0.1") == [
        ListenerConfig("PLAINTEXT", "0.0.0.0", 9092, "broker", 9092),
        ListenerConfig("OUT", "", 9094, "localhost", 29094),
    ]


def test_advertised_addresses_alone_are_bound_by_their_ports() -> None:
    config = BrokerConfig.from_entries({"advertised.listeners": "PLAINTEXT://broker:9092,SSL://localhost:9094"})

    assert listeners_of_keys(config, "0.0.0.0") == [
        ListenerConfig("PLAINTEXT", "0.0.0.0", 9092, "broker", 9092),
        ListenerConfig("SSL", "0.0.0.0", 9094, "localhost", 9094),
    ]


def test_without_the_keys_no_listener_comes_from_keys() -> None:
    assert listeners_of_keys(DEFAULTS, "127.0.0.1") == []


def test_listener_of_the_controllers_is_left_out() -> None:
    config = BrokerConfig.from_entries({"listeners": "PLAINTEXT://:9092,CONTROLLER://:9093"})

    assert [listener.name for listener in listeners_of_keys(config, "")] == ["PLAINTEXT"]


def test_listeners_of_the_command_line_must_have_different_names_and_ports() -> None:
    with pytest.raises(ConfigError, match=r"different name, listeners: \[A://:1, a://:2\]"):
        select_listeners(DEFAULTS, ["A://:1", "a://:2,b:1"], "", None)
    with pytest.raises(ConfigError, match="different port"):
        select_listeners(DEFAULTS, ["A://:1", "B://:1"], "", None)


def test_two_listeners_may_both_take_any_free_port() -> None:
    listeners = [ListenerConfig("A", "", 0), ListenerConfig("B", "", 0)]

    assert select_listeners(DEFAULTS, ["A://:0", "B://:0"], "", None) == listeners


def test_advertised_wildcard_is_refused() -> None:
    with pytest.raises(ConfigError, match="nonroutable meta-address"):
        check_routable([None, "0.0.0.0"])


@pytest.mark.parametrize("host", ["::1", "[::1]"])
def test_host_may_be_an_ipv6_address_with_and_without_brackets(host: str) -> None:
    assert select_listeners(DEFAULTS, [], host, 9092) == [ListenerConfig("PLAINTEXT", "::1", 9092)]
    assert select_listeners(DEFAULTS, ["SSL"], host, 9092) == [ListenerConfig("SSL", "::1", 9092)]


def test_map_of_security_protocols_sets_the_protocol_of_a_listener() -> None:
    config = BrokerConfig.from_entries({"listener.security.protocol.map": "SSL:PLAINTEXT, OUT:SASL_SSL"})

    assert protocols_of(named("SSL", "OUT"), config) == {
        "SSL": SecurityProtocol.PLAINTEXT,
        "OUT": SecurityProtocol.SASL_SSL,
    }


def test_listener_that_the_map_does_not_name_is_refused() -> None:
    config = BrokerConfig.from_entries({"listener.security.protocol.map": "OUT:SASL_SSL"})

    with pytest.raises(ConfigError, match="No security protocol defined for listener SASL_PLAINTEXT"):
        protocols_of(named("OUT", "SASL_PLAINTEXT"), config)


def test_without_a_map_a_listener_of_the_command_line_has_the_protocol_of_its_name() -> None:
    assert protocols_of(named("SSL", "OTHER"), DEFAULTS) == {
        "SSL": SecurityProtocol.SSL,
        "OTHER": SecurityProtocol.PLAINTEXT,
    }


def test_unknown_security_protocol_is_refused() -> None:
    config = BrokerConfig.from_entries({"listener.security.protocol.map": "OUT:TLS"})

    with pytest.raises(
        ConfigError, match=r"Invalid security protocol `TLS` .*; allowed: PLAINTEXT, SSL, SASL_PLAINTEXT"
    ):
        protocols_of(named("OUT"), config)


def test_name_of_a_security_protocol_alone_is_a_listener_on_host_and_port() -> None:
    assert select_listeners(DEFAULTS, ["sasl_ssl"], "127.0.0.1", 0) == [ListenerConfig("SASL_SSL", "127.0.0.1", 0)]


def named(*names: str) -> list[ListenerConfig]:
    return [ListenerConfig(name, "", 0) for name in names]
