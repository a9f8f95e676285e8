"""Listeners: the addresses that a broker binds, and those that it advertises (Kafka: advertised.listeners)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...protocol.host_and_port import address_text
from ...security.security_protocol import SecurityProtocol

if TYPE_CHECKING:
    from ..security.listener_security import ListenerSecurity

# A test broker serves its own machine by default. The port is Kafka's.
DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 9092

# Addresses for "every interface". No client can connect to them, so they are never advertised.
WILDCARD_HOSTS = frozenset({"", "0.0.0.0", "::"})


class ListenerConfig(NamedTuple):
    """A listener as configured.

    host, port: the address to bind; port 0 takes any free port.
    advertised_host, advertised_port: the address in responses; None stands for the bound address.
    security: what it demands of its clients; None for nothing.
    """

    name: str = "PLAINTEXT"
    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    advertised_host: str | None = None
    advertised_port: int | None = None
    security: ListenerSecurity | None = None

    @property
    def protocol(self) -> SecurityProtocol:
        """The security protocol."""
        return SecurityProtocol.PLAINTEXT if self.security is None else self.security.protocol

    def bound_to(self, port: int) -> Listener:
        """Return the listener that is bound to port."""
        host = "localhost" if self.host in WILDCARD_HOSTS else self.host
        return Listener(
            self.name, self.host, port, self.advertised_host or host, self.advertised_port or port, self.security
        )


class Listener(NamedTuple):
    """A bound listener: its address, the address that its clients receive, and what it demands of them."""

    name: str
    host: str
    port: int
    advertised_host: str
    advertised_port: int
    security: ListenerSecurity | None = None

    @property
    def address(self) -> str:
        """The advertised address as "host:port", with brackets around an IPv6 address."""
        return address_text(self.advertised_host, self.advertised_port)
