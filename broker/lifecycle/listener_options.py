"""Parses the listeners of the command line and of Kafka's keys.

On the command line: NAME://host:port, or NAME://host:port,advertised_host:advertised_port.
By keys: listeners=NAME://host:port,... and advertised.listeners=NAME://host:port,... as in server.properties.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...security.security_protocol import SecurityProtocol
from ..config.broker_config import BrokerConfig
from ..config.config_types import ConfigError
from ..network.listeners import DEFAULT_PORT, WILDCARD_HOSTS, ListenerConfig

PORT_MAX = 65_535
# An IPv6 address is in brackets; an empty host means every interface.
ADDRESS = r"(?:\[(?P<bracketed>[0-9a-fA-F:.%]+)\]|(?P<plain>[^:\[\]/,\s]*)):(?P<port>\d{1,5})"
LISTENER = r"(?P<name>[A-Za-z0-9_.-]+)://(?P<address>.+)"
PLAINTEXT = "PLAINTEXT"
PROTOCOLS = set(SecurityProtocol.__members__)


def select_listeners(
    config: BrokerConfig, listeners: Sequence[str], host: str, port: int | None
) -> list[ListenerConfig]:
    """Return the listeners of --listener, else --port, else Kafka's keys, else PLAINTEXT on the default port.

    listeners: the values of --listener; the name of a security protocol alone is a listener on --host and --port.
    port: None if --port is not given. Raises ConfigError.
    """
    if len(listeners) == 1 and listeners[0].upper() in PROTOCOLS:
        return [ListenerConfig(listeners[0].upper(), host, DEFAULT_PORT if port is None else port)]
    if listeners and port is not None:
        raise ConfigError("--port and --listener exclude each other: write the port into the listener")
    if listeners:
        return [parse_listener(text) for text in listeners]
    from_keys = [] if port is not None else listeners_of_keys(config, host)
    return from_keys or [ListenerConfig(PLAINTEXT, host, DEFAULT_PORT if port is None else port)]


def parse_listener(text: str) -> ListenerConfig:
    """Parse "NAME://host:port[,advertised_host:advertised_port]". Raises ConfigError."""
    bound, _, advertised = text.partition(",")
    name, host, port = parse_endpoint(bound)
    if not advertised:
        return ListenerConfig(name, host, port)
    advertised_host, advertised_port = parse_address(advertised, text)
    return ListenerConfig(name, host, port, advertised_host or None, advertised_port or None)


def parse_endpoint(text: str) -> tuple[str, str, int]:
    """Return name, host and port of "NAME://host:port". Raises ConfigError."""
    match = re.fullmatch(LISTENER, text.strip())
    if match is None:
        raise ConfigError(f"listener {text}: expected NAME://host:port")
    host, port = parse_address(match["address"], text)
    return match["name"].upper(), host, port


def parse_address(address: str, whole: str) -> tuple[str, int]:
    """Return host and port of "host:port". whole: the listener, for the message of the ConfigError."""
    match = re.fullmatch(ADDRESS, address.strip())
    if match is None or int(match["port"]) > PORT_MAX:
        raise ConfigError(f"listener {whole}: expected host:port with a port up to {PORT_MAX}, got {address!r}")
    return match["bracketed"] or match["plain"] or "", int(match["port"])


def listeners_of_keys(config: BrokerConfig, wildcard_host: str) -> list[ListenerConfig]:
    """Return the listeners of the keys listeners and advertised.listeners; none if neither is set.

    wildcard_host: where to bind listeners if only advertised.listeners is set; the Kafka image uses 0.0.0.0.
    The listeners of the controller are left out. Raises ConfigError.
    """
    advertised = {name: (host, port) for name, host, port in endpoints_of(config, "advertised.listeners")}
    if config.is_set("listeners"):
        bound = endpoints_of(config, "listeners")
    else:
        bound = [(name, wildcard_host, port) for name, (_, port) in advertised.items()]
    names = {name for name, _, _ in bound}
    if surplus := sorted(advertised.keys() - names):
        raise ConfigError(f"advertised.listeners names {', '.join(surplus)}, which listeners does not")
    listeners = [ListenerConfig(name, host, port) for name, host, port in bound]
    return [with_advertised(listener, advertised.get(listener.name)) for listener in listeners]


def endpoints_of(config: BrokerConfig, key: str) -> list[tuple[str, str, int]]:
    """Return the endpoints that a key is set to, without those of the controller."""
    value = config.value_of(key) if config.is_set(key) else []
    controllers = config.value_of("controller.listener.names")
    assert isinstance(value, list), f"{key} is a list"
    assert isinstance(controllers, list), "controller.listener.names is a list"
    hidden = {name.upper() for name in controllers}
    return [endpoint for endpoint in map(parse_endpoint, value) if endpoint[0] not in hidden]


def with_advertised(listener: ListenerConfig, address: tuple[str, int] | None) -> ListenerConfig:
    """Return the listener with the advertised address; port 0 means the bound port."""
    if address is None:
        return listener
    host, port = address
    return listener._replace(advertised_host=host or None, advertised_port=port or None)


def advertise(listeners: Sequence[ListenerConfig], line: str) -> list[ListenerConfig]:
    """Return the listeners with the addresses of a value of advertised.listeners. Raises ConfigError."""
    advertised = {name: (host, port) for name, host, port in map(parse_endpoint, line.split(","))}
    if surplus := sorted(advertised.keys() - {listener.name for listener in listeners}):
        raise ConfigError(f"the advertised addresses name {', '.join(surplus)}, which listeners does not")
    return [with_advertised(listener, advertised.get(listener.name)) for listener in listeners]


def check_listeners(listeners: Sequence[ListenerConfig]) -> None:
    """Raise ConfigError for duplicate names or ports, or a wildcard as advertised host."""
    names = [listener.name for listener in listeners]
    ports = [(listener.host, listener.port) for listener in listeners if listener.port]
    if len(set(names)) != len(names):
        raise ConfigError(f"each listener must have a different name, got {', '.join(names)}")
    if len(set(ports)) != len(ports):
        raise ConfigError(f"each listener must have a different port, got {', '.join(str(port) for _, port in ports)}")
    for listener in listeners:
        if listener.advertised_host in WILDCARD_HOSTS:
            raise ConfigError(
                f"advertised.listeners cannot use the nonroutable meta-address {listener.advertised_host}. "
                "Use a routable IP address."
            )


def protocols_of(listeners: Sequence[ListenerConfig], config: BrokerConfig) -> dict[str, SecurityProtocol]:
    """Return the security protocol by listener name.

    A listener that listener.security.protocol.map does not name has the protocol of its name, else PLAINTEXT. Raises
    ConfigError for a protocol that Kafka does not have.
    """
    mapped = _mapped_protocols(config)
    return {
        each.name: _protocol_of(each.name, mapped.get(each.name, each.name if each.name in PROTOCOLS else PLAINTEXT))
        for each in listeners
    }


def _protocol_of(listener_name: str, protocol: str) -> SecurityProtocol:
    try:
        return SecurityProtocol[protocol]
    except KeyError as error:
        raise ConfigError(
            f"listener {listener_name} has the protocol {protocol}; allowed: {', '.join(SecurityProtocol.__members__)}"
        ) from error


def _mapped_protocols(config: BrokerConfig) -> dict[str, str]:
    key = "listener.security.protocol.map"
    text = config.value_of(key)
    if not config.is_set(key) or not isinstance(text, str):
        return {}
    pairs = [pair.partition(":") for pair in text.split(",") if pair.strip()]
    return {name.strip().upper(): protocol.strip().upper() for name, _, protocol in pairs}
