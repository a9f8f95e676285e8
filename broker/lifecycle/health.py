"""The health command: sends ApiVersions to a broker, for the health check of a container."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing

from ...protocol.api_keys import ApiKey
from ...protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ..config.config_sources import gather_config
from ..config.config_types import ConfigError
from ..network.listeners import DEFAULT_HOST, DEFAULT_PORT, WILDCARD_HOSTS
from .blocking_connection import BlockingConnection, ConnectionFailed
from .listener_options import listeners_of_keys

# The response of a broker with every API has about 600 bytes.
RESPONSE_BYTES_MAX = 64 * 1024
# The version that every Kafka broker supports.
VERSION = 0


class UnhealthyError(Exception):
    """The broker is not healthy. The message is one line for the user."""


def check_health(host: str, port: int, timeout_seconds: float) -> None:
    """Raise UnhealthyError unless a broker at that address responds to ApiVersions in time."""
    try:
        with closing(
            BlockingConnection(host, port, timeout_seconds=timeout_seconds, response_bytes_max=RESPONSE_BYTES_MAX)
        ) as connection:
            response = connection.send_request(
                ApiKey.API_VERSIONS, VERSION, ApiVersionsRequest(), ApiVersionsResponse.read
            )
    except ConnectionFailed as error:
        raise UnhealthyError(str(error)) from error
    if response.error_code != 0:
        raise UnhealthyError(f"{host}:{port} responds to ApiVersions with error {response.error_code}")


def address_from_environment(environment: Mapping[str, str]) -> tuple[str, int]:
    """Return host and port of the first listener of a broker with this environment, or the default address."""
    try:
        config = gather_config({}, environment, ()).config
        listeners = listeners_of_keys(config, DEFAULT_HOST)
    except ConfigError:
        # A broker with this environment does not start, so the options of the running one are unknown.
        listeners = []
    if not listeners:
        return DEFAULT_HOST, DEFAULT_PORT
    host, port = listeners[0].host, listeners[0].port
    return DEFAULT_HOST if host in WILDCARD_HOSTS else host, port
