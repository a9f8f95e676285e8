"""Parses the listeners of the command line and of Kafka's keys.

On the command line: NAME://host:port, or NAME://host:port,advertised_host:advertised_port.
By keys: listeners=NAME://host:port,... and advertised.listeners=NAME://host:port,... as in server.properties.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from ...protocol.host_and_port import without_brackets
from ...security.security_protocol import SecurityProtocol
from ..config.broker_config import BrokerConfig
from ..config.config_types import ConfigError
from ..network.listeners import DEFAULT_PORT, ListenerConfig
from . import listener_checks
from .listener_checks import PROTOCOL_MAP, Endpoint

PORT_MAX = 65_535
# An empty host means every interface. An IPv6 address may be in brackets (Kafka: SocketServerConfigs).
_ADDRESS = re.compile(r"\[?([0-9a-zA-Z\-%._:]*)\]?:([0-9]{1,5})")
PLAINTEXT = "PLAINTEXT"
PROTOCOLS = set(SecurityProtocol.__members__)
LISTENERS, ADVERTISED = "listeners", "advertised.listeners"


def select_listeners(
    config: BrokerConfig, listeners: Sequence[str], host: str, port: int | None
) -> list[ListenerConfig]:
    """Return the listeners of --listener, else --port, else Kafka's keys, else PLAINTEXT on the default port.

    listeners: the values of --listener; the name of a security protocol alone is a listener on --host and --port.
    host: of --host; an IPv6 address may be in brackets. port: None if --port is not given. Raises ConfigError.
    """
    host = without_brackets(host)
    if len(listeners) == 1 and listeners[0].upper() in PROTOCOLS:
        return [ListenerConfig(listeners[0].upper(), host, DEFAULT_PORT if port is None else port)]
    if listeners and port is not None:
        raise ConfigError("--port and --listener exclude each other: write the port into the listener")
    if listeners:
        return listeners_of_option(listeners)
    from_keys = [] if port is not None else listeners_of_keys(config, host)
    return from_keys or [ListenerConfig(PLAINTEXT, host, DEFAULT_PORT if port is None else port)]


def listeners_of_option(texts: Sequence[str]) -> list[ListenerConfig]:
    """Return the listeners of --listener. Raises ConfigError."""
    endpoints = [parse_endpoint(text.partition(",")[0]) for text in texts]
    listener_checks.check_names(endpoints)
    listener_checks.check_ports(endpoints)
    return [parse_listener(text) for text in texts]


def parse_listener(text: str) -> ListenerConfig:
    """Parse "NAME://host:port[,advertised_host:advertised_port]". Raises ConfigError."""
    bound, _, advertised = text.partition(",")
    endpoint = parse_endpoint(bound)
    listener = ListenerConfig(endpoint.name, endpoint.host, endpoint.port)
    return with_advertised(listener, parse_address(advertised, text) if advertised else None)


def parse_endpoint(text: str) -> Endpoint:
    """Return an entry "NAME://host:port". Raises ConfigError."""
    name, separator, address = text.strip().rpartition("://")
    if not separator:
        raise ConfigError(f"Unable to parse {text} to a broker endpoint: expected NAME://host:port")
    if not name:
        raise ConfigError("The provided listener name is null or empty string")
    return Endpoint(name.upper(), *parse_address(address, text), text)


def parse_address(address: str, whole: str) -> tuple[str, int]:
    """Return host and port of "host:port". whole: the listener, for the message of the ConfigError."""
    match = _ADDRESS.fullmatch(address.strip())
    if match is None or int(match[2]) > PORT_MAX:
        expected = f"expected host:port with a port up to {PORT_MAX}, got {address!r}"
        raise ConfigError(f"Unable to parse {whole} to a broker endpoint: {expected}")
    return match[1], int(match[2])


def listeners_of_keys(config: BrokerConfig, wildcard_host: str) -> list[ListenerConfig]:
    """Return the listeners of the keys listeners and advertised.listeners; none if neither is set.

    wildcard_host: where to bind listeners if only advertised.listeners is set; the Kafka image uses 0.0.0.0.
    The listeners of the controller are left out. Raises ConfigError.
    """
    hidden = {name.upper() for name in config.list_of("controller.listener.names")}
    # The protocol of a listener that is left out is of no interest.
    protocols = dict.fromkeys(hidden, SecurityProtocol.PLAINTEXT) | listener_checks.mapped_protocols(config)
    entries = endpoints_of(config, LISTENERS, protocols, (listener_checks.check_names, listener_checks.check_ports))
    advertised = endpoints_of(config, ADVERTISED, protocols, (listener_checks.check_names,))
    advertised = [each for each in advertised if each.name not in hidden]
    bound = [each for each in entries if each.name not in hidden]
    if not config.is_set(LISTENERS):
        bound = [each._replace(host=wildcard_host) for each in advertised]
    if not bound:
        return []
    listener_checks.check_between_brokers(config, protocols, [each.name for each in advertised or bound])
    listener_checks.check_advertised([each.name for each in advertised], [each.name for each in entries or bound])
    listeners = [ListenerConfig(each.name, each.host, each.port) for each in bound]
    return with_advertised_endpoints(listeners, advertised)


def endpoints_of(
    config: BrokerConfig,
    key: str,
    protocols: Mapping[str, SecurityProtocol],
    checks: Iterable[Callable[[Sequence[Endpoint]], None]],
) -> list[Endpoint]:
    """Return the endpoints that a key is set to; none if it is not set. Raises ConfigError."""
    texts = config.list_of(key) if config.is_set(key) else []
    try:
        endpoints = [parse_endpoint(text) for text in texts]
        listener_checks.check_protocols([each.name for each in endpoints], protocols)
        for check in checks:
            check(endpoints)
    except ConfigError as error:
        raise ConfigError(f"{key}: Error creating broker listeners from '[{', '.join(texts)}]': {error}") from error
    return endpoints


def names_in_keys(config: BrokerConfig) -> list[str]:
    """Return the names of all listeners of the keys, those of the controllers included, in any case."""
    texts = [text for key in (LISTENERS, ADVERTISED) if config.is_set(key) for text in config.list_of(key)]
    return [*config.list_of("controller.listener.names"), *(text.strip().partition("://")[0] for text in texts)]


def with_advertised(listener: ListenerConfig, address: tuple[str, int] | None) -> ListenerConfig:
    """Return the listener with the advertised address; port 0 means the bound port."""
    if address is None:
        return listener
    host, port = address
    return listener._replace(advertised_host=host or None, advertised_port=port or None)


def with_advertised_endpoints(
    listeners: Sequence[ListenerConfig], advertised: Sequence[Endpoint]
) -> list[ListenerConfig]:
    """Return the listeners with the advertised addresses."""
    addresses = {each.name: (each.host, each.port) for each in advertised}
    return [with_advertised(listener, addresses.get(listener.name)) for listener in listeners]


def advertise(listeners: Sequence[ListenerConfig], line: str) -> list[ListenerConfig]:
    """Return the listeners with the addresses of a value of advertised.listeners. Raises ConfigError."""
    advertised = [parse_endpoint(text) for text in line.split(",")]
    listener_checks.check_names(advertised)
    listener_checks.check_advertised([each.name for each in advertised], [each.name for each in listeners])
    return with_advertised_endpoints(listeners, advertised)


def protocols_of(listeners: Sequence[ListenerConfig], config: BrokerConfig) -> dict[str, SecurityProtocol]:
    """Return the security protocol by listener name. Raises ConfigError.

    Without listener.security.protocol.map a listener of the command line that is not named after a protocol has no TLS
    and no SASL.
    """
    names = [each.name for each in listeners]
    protocols = listener_checks.mapped_protocols(config)
    if not config.is_set(PROTOCOL_MAP):
        protocols = dict.fromkeys(names, SecurityProtocol.PLAINTEXT) | protocols
    listener_checks.check_protocols(names, protocols)
    return {name: protocols[name] for name in names}
