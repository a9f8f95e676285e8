"""Requests of browsers: which of them the admin API serves.

Any web page can make a browser send requests to this machine, and a name of the page's own can resolve to it (DNS
rebinding). A browser's request is served only if all of these hold; otherwise the response is 403:

- Host is a loopback name, the IP address that the connection reached, or a host of --admin-allowed-host.
- Origin is "http://", or "https://" with --admin-tls, and Host. Without Origin, Referer has this origin. Without both
  there is no condition.
- Sec-Fetch-Site, if there is one, is "same-origin", or "none" for an address that the user typed.

Any other request is served under every Host, because containers and tests call the API by names of their own.

A request is a browser's if it has one of these headers, none of which a page can remove:

- Origin: every POST, PUT and DELETE, and every request across origins that a page can read.
- Referer, unless the page asks for none.
- Sec-Fetch-*: every request to a loopback address.
- Accept-Language: every request. Without it, a page under a rebound name could send a GET without the other three.

The fetch of Node sends `Sec-Fetch-Mode` and `Accept-Language: *` with every request, and no `Sec-Fetch-Site`. A browser
always sends `Sec-Fetch-Site` with `Sec-Fetch-Mode`, so that this combination is no browser's.

No response has a CORS header: a page of another origin can neither send a request that needs a preflight nor read a
response. Source: Fetch standard, "append a request `Origin` header"; Fetch Metadata Request Headers, section 2.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from ipaddress import IPv4Address, IPv4Network, IPv6Address, ip_address
from typing import NamedTuple

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from .errors import CallError
from .responses import error_response

ORIGIN, REFERER, HOST = "origin", "referer", "host"
ACCEPT_LANGUAGE = "accept-language"
SEC_FETCH = "sec-fetch-"
SEC_FETCH_SITE = "sec-fetch-site"
SEC_FETCH_MODE = "sec-fetch-mode"
# What Node's fetch sends as Accept-Language.
ANY_LANGUAGE = "*"
# Not "same-site": pages on other ports of localhost have the same site.
OWN_SITES = frozenset({"same-origin", "none"})

LOCALHOST = "localhost"
LOOPBACK_NETWORK = IPv4Network("127.0.0.0/8")
LOOPBACK_IPV6 = IPv6Address("::1")
PORTS = {"http": 80, "https": 443}

AUTHORITY = r"(?:\[(?P<bracketed>[0-9a-f:.]+)\]|(?P<plain>[a-z0-9_.-]+))(?::(?P<port>[0-9]{1,5}))?"
HOST_HEADER = re.compile(AUTHORITY)
ORIGIN_HEADER = re.compile(rf"(?P<scheme>https?)://{AUTHORITY}")
# Only its origin counts.
REFERER_HEADER = re.compile(rf"(?P<scheme>https?)://{AUTHORITY}(?:[/?#].*)?", re.DOTALL)

NO_BROWSER = "requests without Origin, Referer, Sec-Fetch-* and Accept-Language, such as those of curl, are served"


class Authority(NamedTuple):
    """Host and port of a URL. host: a name in lower case, or an IP address without brackets in its shortest form."""

    host: str
    port: int


class BrowserGuard:
    """ASGI middleware that refuses requests of browsers, before their path and their token are looked at."""

    def __init__(self, application: ASGIApp, allowed_hosts: Collection[str]) -> None:
        """allowed_hosts: the values of --admin-allowed-host, in lower case and without brackets."""
        self._application = application
        self._allowed_hosts = frozenset(_normalized(host) for host in allowed_hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the request, or respond with 403."""
        try:
            self._check(scope)
        except CallError as error:
            await error_response(error)(scope, receive, send)
        else:
            await self._application(scope, receive, send)

    def _check(self, scope: Scope) -> None:
        """Raise CallError 403 if the request is a browser's and may not be served."""
        headers = Headers(scope=scope)
        if not is_of_browser(headers):
            return
        reached = _reached_address(scope)
        scheme = str(scope["scheme"])
        host = _find_authority(HOST_HEADER, headers.get(HOST, ""), scheme)
        if host is None or not self._is_allowed(host.host, reached):
            raise _wrong_host(headers.get(HOST), reached)
        source = ORIGIN if ORIGIN in headers else REFERER
        pattern = ORIGIN_HEADER if source == ORIGIN else REFERER_HEADER
        own = f"{scheme}://{headers[HOST]}"
        if any(_find_authority(pattern, text, scheme) != host for text in headers.getlist(source)):
            raise _wrong_origin(source.title(), headers[source], own)
        if any(site not in OWN_SITES for site in headers.getlist(SEC_FETCH_SITE)):
            raise _wrong_origin("Sec-Fetch-Site", headers[SEC_FETCH_SITE], own)

    def _is_allowed(self, host: str, reached: str | None) -> bool:
        if host == LOCALHOST or host.endswith(f".{LOCALHOST}") or host in self._allowed_hosts:
            return True
        address = _find_address(host)
        if address is None:
            return False
        is_loopback = address == LOOPBACK_IPV6 or (isinstance(address, IPv4Address) and address in LOOPBACK_NETWORK)
        return is_loopback or host == reached


def is_of_browser(headers: Headers) -> bool:
    """Return whether a browser made the request."""
    metadata = {name for name in headers if name.startswith(SEC_FETCH)}
    if ORIGIN in headers or REFERER in headers or metadata - {SEC_FETCH_MODE}:
        return True
    is_node = bool(metadata) and headers.getlist(ACCEPT_LANGUAGE) == [ANY_LANGUAGE]
    return not is_node and (bool(metadata) or ACCEPT_LANGUAGE in headers)


def _find_authority(pattern: re.Pattern[str], text: str, scheme: str) -> Authority | None:
    """Return host and port of a header's value; None if it is none of a URL with the scheme of the API."""
    match = pattern.fullmatch(text.lower())
    if match is None or match.groupdict().get("scheme", scheme) != scheme:
        return None
    host = match["plain"] or _normalized(match["bracketed"])
    return Authority(host, int(match["port"] or PORTS[scheme]))


def _normalized(host: str) -> str:
    """Return an IP address in its shortest form, and anything else as it is."""
    address = _find_address(host)
    return host if address is None else str(address)


def _find_address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _reached_address(scope: Scope) -> str | None:
    """Return the IP address of this machine to which the client connected, in its shortest form."""
    server = scope.get("server")
    # The zone of a link-local address is not part of a Host.
    address = None if server is None else _find_address(str(server[0]).partition("%")[0])
    if address is None:
        return None
    # A socket for IPv6 and IPv4 reports IPv4 addresses as mapped ones.
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return str(mapped or address)


def _wrong_host(host: str | None, reached: str | None) -> CallError:
    own = f"{reached}, " if reached else ""
    return CallError(
        403,
        f"browsers may not call this API under the host {host!r}: a web page could reach it under a name of its own; "
        f"--admin-allowed-host HOST allows a host; {NO_BROWSER}",
        field="Host",
        value=host,
        allowed=f"localhost, *.localhost, 127.0.0.0/8, [::1], {own}or a host of --admin-allowed-host",
    )


def _wrong_origin(field: str, value: str, own: str) -> CallError:
    return CallError(
        403,
        f"only pages of {own} may call this API, and {field} is {value!r}; no option allows pages of another "
        f"origin (--admin-allowed-host allows hosts of this API); {NO_BROWSER}",
        field=field,
        value=value,
        allowed="none, same-origin" if field == "Sec-Fetch-Site" else own,
    )
