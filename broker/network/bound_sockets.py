"""The sockets of a host: one for each of its addresses, all on one port.

Rules:
- A wildcard of either family, and an empty host, stand for both families, as in Java. IPv4 and IPv6 have a socket each.
- Port 0 is any port that is free on every address of the host.
- An address of IPv6 is left out where IPv6 is not enabled.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import sys
from collections.abc import Sequence
from typing import NamedTuple

from ...protocol.host_and_port import address_text, no_host_name
from .listeners import WILDCARD_HOSTS

# The system may choose a port for one address that is in use on the other one. Two such choices in a row are rare.
_PORT_CHOICES_MAX = 20
_WITHOUT_IPV6 = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)


class _Address(NamedTuple):
    """An address without its port. rest: the flow information and scope id of IPv6."""

    family: int
    host: str
    rest: tuple[object, ...] = ()


_EVERY_INTERFACE = (_Address(socket.AF_INET, "0.0.0.0"), _Address(socket.AF_INET6, "::"))


async def bind(host: str, port: int) -> list[socket.socket]:
    """Return a bound socket for each address of host. Raises OSError."""
    try:
        addresses = await _addresses_of(host)
        bound = _bind_to_one_port(addresses, port)
    except OSError as error:
        raise cannot_bind(host, port, error) from error
    if not bound:
        raise OSError(errno.EADDRNOTAVAIL, f"cannot bind {address_text(host, port)}: it has no address of this machine")
    return bound


def cannot_bind(host: str, port: int, error: OSError) -> OSError:
    """Return the error with the address in its message."""
    reason = (error.strerror or str(error)).lower()
    return OSError(error.errno, f"cannot bind {address_text(host, port)}: {reason}")


def bind_address(family: int, address: tuple[object, ...]) -> socket.socket:
    """Return a socket that is bound to the address. Raises OSError."""
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        if sys.platform == "win32":
            # SO_REUSEADDR would share the port with another process there.
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            # IPv4 has a socket of its own.
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        bound.bind(address)
    except OSError:
        bound.close()
        raise
    return bound


async def _addresses_of(host: str) -> Sequence[_Address]:
    """Return the addresses of host. Raises OSError."""
    # The loop would load modules for name resolution, which slows down the start-up.
    if host in WILDCARD_HOSTS:
        return _EVERY_INTERFACE
    try:
        socket.inet_pton(socket.AF_INET, host)
    except OSError:
        loop = asyncio.get_running_loop()
        try:
            infos = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except UnicodeError as error:
            raise no_host_name() from error
        return list(dict.fromkeys(_Address(int(info[0]), str(info[4][0]), tuple(info[4][2:])) for info in infos))
    return [_Address(socket.AF_INET, host)]


def _bind_to_one_port(addresses: Sequence[_Address], port: int) -> list[socket.socket]:
    """Return a bound socket for each address. Raises OSError."""
    for _ in range(_PORT_CHOICES_MAX):
        try:
            return _bind_all(addresses, port)
        except OSError as error:
            if port or error.errno != errno.EADDRINUSE:
                raise
    raise OSError(errno.EADDRINUSE, f"no port is free on every address, in {_PORT_CHOICES_MAX} choices of the system")


def _bind_all(addresses: Sequence[_Address], port: int) -> list[socket.socket]:
    bound: list[socket.socket] = []
    try:
        for family, host, rest in addresses:
            try:
                bound.append(bind_address(family, (host, port, *rest)))
            except OSError as error:
                if family != socket.AF_INET6 or error.errno not in _WITHOUT_IPV6:
                    raise
            else:
                port = port or bound[-1].getsockname()[1]
    except OSError:
        for each in bound:
            each.close()
        raise
    return bound
