"""The health command: sends ApiVersions to a broker, for the health check of a container.

A container with several nodes is healthy while one of them responds: a test that stops a node is no reason to restart
the container, and a client reaches the cluster through the other nodes.

A listener with TLS is asked over TLS. Its certificate is not checked: it is valid for the addresses of clients. Where a
client must have a certificate, the throw-away one is used, or the handshake is the response.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ... import ConfigError
from ...client.broker_connection import BrokerConnection
from ...client.client_security import PLAINTEXT, ClientSecurity, ClientTls
from ...client.errors import BrokerError
from ...protocol.api_keys import ApiKey
from ...protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ...security.key_store import PEM, Store

# The response of a broker with every API has about 600 bytes.
RESPONSE_BYTES_MAX = 64 * 1024
# The version that every Kafka broker supports.
VERSION = 0
# The name of a client's certificate in messages.
_CERTIFICATE = "client certificate"


class UnhealthyError(Exception):
    """The broker is not healthy. The message is one line for the user."""


class HealthAddress(NamedTuple):
    """Where a broker listens.

    has_tls: whether it does so with TLS. client_certificate: a PEM file with certificate and private key, None for
    none. is_handshake_enough: do not send a request, for which a client must have a certificate.
    """

    host: str
    port: int
    has_tls: bool = False
    client_certificate: str | None = None
    is_handshake_enough: bool = False


def check_health(address: HealthAddress, timeout_seconds: float) -> None:
    """Raise UnhealthyError unless a broker at that address responds to ApiVersions in time."""
    try:
        with BrokerConnection(
            address.host,
            address.port,
            timeout_seconds=timeout_seconds,
            response_bytes_max=RESPONSE_BYTES_MAX,
            security=_security_of(address),
        ) as connection:
            if address.is_handshake_enough:
                return
            response = connection.send_request(
                ApiKey.API_VERSIONS, VERSION, ApiVersionsRequest(), ApiVersionsResponse.read
            )
    except (BrokerError, ConfigError) as error:
        raise UnhealthyError(str(error)) from error
    if response.error_code != 0:
        raise UnhealthyError(f"{address.host}:{address.port} responds to ApiVersions with error {response.error_code}")


def _security_of(address: HealthAddress) -> ClientSecurity:
    """Return TLS that accepts any certificate; nothing without TLS."""
    if not address.has_tls:
        return PLAINTEXT
    file = address.client_certificate
    key_store = None if file is None else Store(_CERTIFICATE, PEM, file)
    return ClientSecurity(ClientTls(key_store=key_store, is_verified=False))


def check_any_health(addresses: Sequence[HealthAddress], timeout_seconds: float) -> None:
    """Raise UnhealthyError unless a broker at one of the addresses responds to ApiVersions.

    timeout_seconds: of all addresses together; each one has an equal part.
    """
    reasons: list[str] = []
    for address in addresses:
        try:
            return check_health(address, timeout_seconds / len(addresses))
        except UnhealthyError as error:
            reasons.append(str(error))
    raise UnhealthyError("; ".join(reasons))
