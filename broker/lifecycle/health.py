"""The health command: sends ApiVersions to a broker, for the health check of a container.

A container with several nodes is healthy while one of them responds: a test that stops a node is no reason to restart
the container, and a client reaches the cluster through the other nodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing

from ...protocol.api_keys import ApiKey
from ...protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ..config.config_sources import gather_config
from ..config.config_types import ConfigError
from ..network.listeners import DEFAULT_HOST, WILDCARD_HOSTS, ListenerConfig
from .blocking_connection import BlockingConnection, ConnectionFailed
from .listener_options import listeners_of_keys
from .node_options import check_nodes

# The response of a broker with every API has about 600 bytes.
RESPONSE_BYTES_MAX = 64 * 1024
# The version that every Kafka broker supports.
VERSION = 0
# The environment variable of --nodes.
NODES_VARIABLE = "FAUXKA_NODES"


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


def check_any_health(addresses: Sequence[tuple[str, int]], timeout_seconds: float) -> None:
    """Raise UnhealthyError unless a broker at one of the addresses responds to ApiVersions.

    timeout_seconds: of all addresses together; each one has an equal part.
    """
    reasons: list[str] = []
    for host, port in addresses:
        try:
            return check_health(host, port, timeout_seconds / len(addresses))
        except UnhealthyError as error:
            reasons.append(str(error))
    raise UnhealthyError("; ".join(reasons))


def addresses_from_environment(environment: Mapping[str, str]) -> list[tuple[str, int]]:
    """Return host and port of the first listener of each node of a broker with this environment.

    Without a listener in the environment it is the default one.
    """
    try:
        config = gather_config({}, environment, ()).config
        listeners = listeners_of_keys(config, DEFAULT_HOST)
        node_count = check_nodes(int(environment.get(NODES_VARIABLE, "1")), None).node_count
    except (ConfigError, ValueError):
        # A broker with this environment does not start, so the options of the running one are unknown.
        listeners, node_count = [], 1
    first = listeners[0] if listeners else ListenerConfig()
    host = DEFAULT_HOST if first.host in WILDCARD_HOSTS else first.host
    return [(host, first.port + index) for index in range(node_count)]
