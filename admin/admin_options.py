"""Where the admin API is to listen, as the command line and the environment say it."""

from __future__ import annotations

import socket
from typing import NamedTuple

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 9099
PORT_MAX = 65_535
# Connections that wait to be accepted; nobody steers a broker from more places at once.
LISTEN_BACKLOG = 50
# What switches the admin API off, in place of a port.
OFF = "off"
# Names of the loopback interface; its addresses are told from their numbers.
LOOPBACK_NAMES = frozenset({"localhost", "::1"})
LOOPBACK_PREFIX = "127."
# Addresses that mean "every interface"; they are told to nobody.
WILDCARD_HOSTS = frozenset({"", "0.0.0.0", "::"})


class AdminOptionsError(ValueError):
    """What was asked for cannot be; the message is one line for the user."""


class AdminOptions(NamedTuple):
    """Where to listen, and what every call has to bring.

    port: 0 takes any free one.
    is_port_asked: whether the user named the port. The default one gives way to any free one where it is taken.
    token: what a call brings as its bearer token; None where anybody may call.
    """

    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    is_port_asked: bool = False
    token: str | None = None

    @property
    def is_open_to_others(self) -> bool:
        """Whether other machines may reach it, and nothing keeps them from steering this broker."""
        is_loopback = self.host in LOOPBACK_NAMES or self.host.startswith(LOOPBACK_PREFIX)
        return self.token is None and not is_loopback


def parse_admin_options(host: str, port: str | None, token: str | None) -> AdminOptions | None:
    """Return where to listen; None where it is switched off.

    port: a number, "off", or None where the user said nothing.
    Raises AdminOptionsError.
    """
    if port == OFF:
        return None
    if token is not None and not (token.isascii() and token.isprintable() and token.strip() == token and token):
        raise AdminOptionsError("--admin-token: expected printable ASCII characters without space around them")
    if port is None:
        return AdminOptions(host=host, token=token)
    if not (port.isascii() and port.isdecimal() and int(port) <= PORT_MAX):
        raise AdminOptionsError(f"--admin-port: expected a port from 0 to {PORT_MAX} or {OFF}, got {port!r}")
    return AdminOptions(host=host, port=int(port), is_port_asked=True, token=token)


class BoundAddress(NamedTuple):
    """A socket that listens, and what to tell of it; address: "host:port"."""

    bound: socket.socket
    address: str
    is_other_port: bool

    @property
    def port(self) -> int:
        """The port that it is bound to."""
        return int(self.bound.getsockname()[1])


def bind(options: AdminOptions) -> BoundAddress:
    """Return a socket that listens; raises OSError where there is none to be had.

    Where the default port is taken and the user did not ask for it, any free one is taken: who starts several brokers
    on one machine reads their addresses anyway.
    """
    try:
        return _bound(options.host, options.port, is_other_port=False)
    except OSError:
        if options.is_port_asked:
            raise
        return _bound(options.host, 0, is_other_port=True)


def _bound(host: str, port: int, *, is_other_port: bool) -> BoundAddress:
    # For a name that is a str Python loads the tables of IDNA, which a start would wait for.
    name = host.encode("ascii") if host.isascii() else host
    family, kind, protocol, _, address = socket.getaddrinfo(
        name or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    bound = socket.socket(family, kind, protocol)
    try:
        # A port of a broker that has just stopped is free.
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        # At once: of two that are bound only the first one that listens has the port. Who calls before the API is up
        # waits for it.
        bound.listen(LISTEN_BACKLOG)
    except OSError:
        bound.close()
        raise
    told = "localhost" if host in WILDCARD_HOSTS else f"[{host}]" if ":" in host else host
    return BoundAddress(bound, f"{told}:{bound.getsockname()[1]}", is_other_port)
