"""Which listeners and advertised addresses Kafka refuses, with its messages.

Source: SocketServerConfigs.listenerListToEndPoints, KafkaConfig.validateValues and AbstractKafkaConfig of Kafka 4.3.0;
tests/golden/listener_settings-4.3.0.jsonl.
"""

from __future__ import annotations

import ipaddress
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from ...security.security_protocol import SecurityProtocol
from ..config.broker_config import BrokerConfig
from ..config.config_types import ConfigError

INTER_BROKER_NAME = "inter.broker.listener.name"
INTER_BROKER_PROTOCOL = "security.inter.broker.protocol"
PROTOCOL_MAP = "listener.security.protocol.map"
# Kafka refuses no other one: a client on a machine with IPv6 may connect to "::".
_NONROUTABLE = "0.0.0.0"


class Endpoint(NamedTuple):
    """One entry of listeners or advertised.listeners. name: in upper case. text: as it was given."""

    name: str
    host: str
    port: int
    text: str


def check_names(endpoints: Sequence[Endpoint]) -> None:
    """Raise ConfigError for a name of two endpoints."""
    if len({each.name for each in endpoints}) != len(endpoints):
        raise ConfigError(f"Each listener must have a different name, listeners: {texts_of(endpoints)}")


def check_ports(endpoints: Sequence[Endpoint]) -> None:
    """Raise ConfigError for a port of two endpoints, unless these are an IPv4 and an IPv6 address."""
    by_port: dict[int, list[Endpoint]] = defaultdict(list)
    for each in endpoints:
        if each.port:
            by_port[each.port].append(each)
    for port, sharing in by_port.items():
        reason = _find_conflict([each.host for each in sharing])
        if reason is not None:
            place = f"listeners: {texts_of(endpoints)}"
            raise ConfigError(f"{reason}, {place}" + ("" if reason == _ANOTHER_PORT else f", port: {port}"))


_ANOTHER_PORT = "Each listener must have a different port"
_ANOTHER_PORT_OR_FAMILY = f"{_ANOTHER_PORT} unless exactly one listener has an IPv4 address and the other IPv6 address"
_ANOTHER_FAMILY = "If you have two listeners on the same port then one needs to be IPv4 and the other IPv6"


def _find_conflict(hosts: Sequence[str]) -> str | None:
    """Return why these hosts cannot share a port; None if they can."""
    if len(hosts) < 2:
        return None
    families = [family for host in hosts if (family := _find_family(host)) is not None]
    if len(hosts) - len(families) > 1:
        return _ANOTHER_PORT
    if len(families) != 2:
        return _ANOTHER_PORT_OR_FAMILY
    return _ANOTHER_FAMILY if families[0] == families[1] or len(hosts) > 2 else None


def _find_family(host: str) -> int | None:
    """Return the version of an IP address; None for a name and for an empty host."""
    try:
        return ipaddress.ip_address(host).version
    except ValueError:
        return None


def check_routable(hosts: Collection[str | None]) -> None:
    """Raise ConfigError for an advertised host that no client can connect to."""
    if _NONROUTABLE in hosts:
        raise ConfigError(
            f"advertised.listeners cannot use the nonroutable meta-address {_NONROUTABLE}. Use a routable IP address."
        )


def check_between_brokers(
    config: BrokerConfig, protocols: Mapping[str, SecurityProtocol], advertised: Sequence[str]
) -> None:
    """Raise ConfigError if the listener between brokers is set and is not among the advertised ones.

    protocols: by the name of the listener. advertised: the names of the listeners, in their order.
    """
    name = config.inter_broker_listener_name
    if name is None:
        return
    if config.is_set(INTER_BROKER_PROTOCOL):
        raise ConfigError(f"Only one of {INTER_BROKER_NAME} and {INTER_BROKER_PROTOCOL} should be set.")
    if name not in protocols:
        raise ConfigError(f"Listener with name {name} defined in {INTER_BROKER_NAME} not found in {PROTOCOL_MAP}.")
    if name not in advertised:
        raise ConfigError(
            f"{INTER_BROKER_NAME} must be a listener name defined in advertised.listeners. "
            f"The valid options based on currently configured listeners are {','.join(advertised)}"
        )


def check_advertised(advertised: Collection[str], bound: Sequence[str]) -> None:
    """Raise ConfigError for an advertised name without a listener."""
    if not set(advertised) <= set(bound):
        raise ConfigError(
            "advertised.listeners listener names must be equal to or a subset of the ones defined in listeners. "
            f"Found {','.join(advertised)}. The valid options based on the current configuration are {','.join(bound)}"
        )


def mapped_protocols(config: BrokerConfig) -> dict[str, SecurityProtocol]:
    """Return the protocols of listener.security.protocol.map, its default included, by the name of the listener.

    Raises ConfigError.
    """
    text = config.value_of(PROTOCOL_MAP)
    assert isinstance(text, str), f"{PROTOCOL_MAP} is {text!r}"
    pairs = [pair.partition(":") for pair in text.split(",") if pair.strip()]
    return {name.strip().upper(): _protocol_of(protocol.strip()) for name, _, protocol in pairs}


def _protocol_of(text: str) -> SecurityProtocol:
    protocol = SecurityProtocol.__members__.get(text.upper())
    if protocol is None:
        allowed = ", ".join(SecurityProtocol.__members__)
        raise ConfigError(f"Invalid security protocol `{text}` defined in {PROTOCOL_MAP}; allowed: {allowed}")
    return protocol


def texts_of(endpoints: Sequence[Endpoint]) -> str:
    """Return the endpoints as Kafka prints a list."""
    return f"[{', '.join(each.text for each in endpoints)}]"


def check_protocols(names: Sequence[str], protocols: Mapping[str, SecurityProtocol]) -> None:
    """Raise ConfigError for a listener without a protocol."""
    for name in names:
        if name not in protocols:
            raise ConfigError(f"No security protocol defined for listener {name}")
