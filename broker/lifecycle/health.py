"""Asks a broker whether it answers, as a container's health check does."""

from __future__ import annotations

from collections.abc import Mapping

from ...protocol.api_keys import ApiKey
from ...protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ..config.config_keys import ConfigError
from ..config.config_sources import gather_config
from ..network.listeners import DEFAULT_HOST, DEFAULT_PORT
from .blocking_connection import BlockingConnection, ConnectionFailed
from .listener_options import listeners_of_keys

# The answer of a broker that serves every API has some 600 bytes; more than this is not a broker.
RESPONSE_BYTES_MAX = 64 * 1024
# What every broker answers, however old.
VERSION = 0


class UnhealthyError(Exception):
    """The broker did not answer as it should; the message says what happened, in one line."""


def check_health(host: str, port: int, timeout_seconds: float) -> None:
    """Return if a Kafka broker answers ApiVersions at that address. Raises UnhealthyError."""
    try:
        with BlockingConnection(
            host, port, timeout_seconds=timeout_seconds, response_bytes_max=RESPONSE_BYTES_MAX
        ) as connection:
            answer = connection.send_request(
                ApiKey.API_VERSIONS, VERSION, ApiVersionsRequest(), ApiVersionsResponse.read
            )
    except ConnectionFailed as error:
        raise UnhealthyError(str(error)) from error
    if answer.error_code != 0:
        raise UnhealthyError(f"{host}:{port} answers ApiVersions with error {answer.error_code}")


def port_from_environment(environment: Mapping[str, str]) -> int:
    """Return the port that a broker with this environment listens on first, the default if it says none."""
    try:
        config = gather_config({}, environment, ()).config
        listeners = listeners_of_keys(config, DEFAULT_HOST)
    except ConfigError:
        # No broker started like that; the one that is asked was told otherwise.
        return DEFAULT_PORT
    return listeners[0].port if listeners else DEFAULT_PORT
