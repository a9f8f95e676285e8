"""Address, token and limits of the admin API, from the command line and the environment."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Collection, Iterable
from typing import NamedTuple

from ..broker.lifecycle.storage_options import EXPORTS_FOLDER
from ..protocol.host_and_port import address_text, no_host_name, without_brackets
from ..storage.file_systems.path_problems import find_file_in_the_way

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 9099
PORT_MAX = 65_535
# Connections that wait to be accepted. A client beyond this number tries again after a second, and a burst of a hundred
# connections arrives faster than the event loop accepts them.
LISTEN_BACKLOG = 1024
# Instead of a port: no admin API.
OFF = "off"
# Instead of a file with a certificate: one of the throw-away authority.
AUTO = "auto"
# Names of the loopback interface; its IPv4 addresses are found by their prefix.
LOOPBACK_NAMES = frozenset({"localhost", "::1"})
LOOPBACK_PREFIX = "127."
# Addresses that mean every interface; clients cannot connect to them.
WILDCARD_HOSTS = frozenset({"", "0.0.0.0", "::"})
# A name or an IPv4 address, or an IPv6 address with or without brackets; in lower case.
ALLOWED_HOST = re.compile(
    r"[a-z0-9_][a-z0-9_.-]*|\[[0-9a-f.]*:[0-9a-f:.]*:[0-9a-f:.]*\]|[0-9a-f.]*:[0-9a-f:.]*:[0-9a-f:.]*"
)


class AdminOptionsError(ValueError):
    """An invalid option. The message is one line for the user."""


class AdminOptions(NamedTuple):
    """Options of the admin API.

    port: 0 for any free port. is_port_asked: whether the user chose the port; if the default port is in use, another
    free one is taken. token: the bearer token that calls need; None for no token.
    tls: "auto" for HTTPS with a throw-away certificate, or the file of a certificate with its private key as PEM; None
    for HTTP.
    allowed_hosts: the hosts, other than loopback names, under which browsers may call; in lower case, without brackets.
    export_dir: the folder for exports over HTTP.
    """

    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    is_port_asked: bool = False
    token: str | None = None
    tls: str | None = None
    allowed_hosts: frozenset[str] = frozenset()
    export_dir: str = EXPORTS_FOLDER

    @property
    def is_open_to_others(self) -> bool:
        """Whether other machines can call the API without a token."""
        is_loopback = self.host in LOOPBACK_NAMES or self.host.startswith(LOOPBACK_PREFIX)
        return self.token is None and not is_loopback


def parse_admin_options(
    host: str,
    port: str | None,
    token: str | None,
    *,
    allowed_hosts: Iterable[str] = (),
    export_dir: str = EXPORTS_FOLDER,
) -> AdminOptions | None:
    """Return the options; None for "off". port: a number, "off" or None for the default.

    Raises AdminOptionsError.
    """
    if port == OFF:
        return None
    if token is not None:
        check_token(token)
    if (problem := find_file_in_the_way(export_dir)) is not None:
        raise AdminOptionsError(f"--export-dir: {problem}")
    hosts = frozenset(map(_parse_allowed_host, allowed_hosts))
    options = AdminOptions(host=without_brackets(host), token=token, allowed_hosts=hosts, export_dir=export_dir)
    if port is None:
        return options
    if not (port.isascii() and port.isdecimal() and int(port) <= PORT_MAX):
        raise AdminOptionsError(f"--admin-port: expected a port from 0 to {PORT_MAX} or {OFF}, got {port!r}")
    return options._replace(port=int(port), is_port_asked=True)


def check_token(token: str) -> None:
    """Raise AdminOptionsError unless the token can be sent in a header."""
    if not (token.isascii() and token.isprintable() and token.strip() == token and token):
        raise AdminOptionsError("--admin-token: expected printable ASCII characters without space around them")


def _parse_allowed_host(text: str) -> str:
    host = text.lower()
    if ALLOWED_HOST.fullmatch(host) is None:
        raise AdminOptionsError(
            f"--admin-allowed-host: expected a host name or an IP address without scheme and port, got {text!r}"
        )
    return host.strip("[]")


def default_export_dir(data_dir: str | None) -> str:
    """Return the folder for exports if --export-dir is not given: in the data folder, else in the working directory."""
    return os.path.join(data_dir or "", EXPORTS_FOLDER)


class BoundAddress(NamedTuple):
    """A listening socket. address: "host:port" for clients. is_other_port: it is not the default port."""

    bound: socket.socket
    address: str
    is_other_port: bool

    @property
    def port(self) -> int:
        """The port."""
        return int(self.bound.getsockname()[1])


def bind(options: AdminOptions, kafka_ports: Collection[int] = ()) -> BoundAddress:
    """Return a listening socket. Raises OSError.

    kafka_ports: the ports of the Kafka listeners, which are not bound yet.
    If the default port is in use, or one of them, and the user did not choose it, any free port is taken.
    """
    if not options.is_port_asked and options.port in kafka_ports:
        return _bound(options.host, 0, is_other_port=True)
    try:
        return _bound(options.host, options.port, is_other_port=False)
    except OSError:
        if options.is_port_asked:
            raise
        return _bound(options.host, 0, is_other_port=True)


def _bound(host: str, port: int, *, is_other_port: bool) -> BoundAddress:
    # For a str Python imports the IDNA tables, which slows down the start-up.
    name = host.encode("ascii") if host.isascii() else host
    try:
        found = socket.getaddrinfo(name or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except UnicodeError as error:
        raise no_host_name() from error
    family, kind, protocol, _, address = found[0]
    bound = socket.socket(family, kind, protocol)
    try:
        # Allows the port of a broker that has just stopped.
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        # Listen now: of two bound sockets only the first to listen gets the port. Early calls wait in the backlog.
        bound.listen(LISTEN_BACKLOG)
    except OSError:
        bound.close()
        raise
    shown = "localhost" if host in WILDCARD_HOSTS else host
    return BoundAddress(bound, address_text(shown, bound.getsockname()[1]), is_other_port)
