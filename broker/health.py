"""Asks a broker whether it answers, as a container's health check does."""

from __future__ import annotations

import socket
from collections.abc import Mapping

from ..protocol.api_keys import APIS, ApiKey
from ..protocol.client_requests import read_answer, request_frame
from ..protocol.frames import FRAME_SIZE_BYTES, FrameError
from ..protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from .config_keys import ConfigError
from .config_sources import gather_config
from .listener_options import listeners_of_keys
from .listeners import DEFAULT_HOST, DEFAULT_PORT

# The answer of a broker that serves every API has some 600 bytes; more than this is not a broker.
ANSWER_BYTES_MAX = 64 * 1024
# What every broker answers, however old.
VERSION = 0
CORRELATION_ID = 1


class UnhealthyError(Exception):
    """The broker did not answer as it should; the message says what happened, in one line."""


def check_health(host: str, port: int, timeout_seconds: float) -> None:
    """Return if a Kafka broker answers ApiVersions at that address. Raises UnhealthyError."""
    api = APIS[ApiKey.API_VERSIONS]
    try:
        with socket.create_connection((host, port), timeout=timeout_seconds) as connection:
            connection.settimeout(timeout_seconds)
            connection.sendall(request_frame(api, VERSION, CORRELATION_ID, ApiVersionsRequest()))
            frame = read_exactly(connection, size_of(read_exactly(connection, FRAME_SIZE_BYTES)))
    except OSError as error:
        raise UnhealthyError(f"{host}:{port}: {error}") from error
    try:
        error_code = read_answer(api, VERSION, CORRELATION_ID, frame, ApiVersionsResponse.read).error_code
    except FrameError as error:
        raise UnhealthyError(f"{host}:{port} answers, but not as a Kafka broker: {error}") from error
    if error_code != 0:
        raise UnhealthyError(f"{host}:{port} answers ApiVersions with error {error_code}")


def port_of_environment(environment: Mapping[str, str]) -> int:
    """Return the port that a broker with this environment listens on first, the default if it says none."""
    try:
        config = gather_config({}, environment, ()).config
        listeners = listeners_of_keys(config, DEFAULT_HOST)
    except ConfigError:
        # No broker started like that; the one that is asked was told otherwise.
        return DEFAULT_PORT
    return listeners[0].port if listeners else DEFAULT_PORT


def size_of(size_bytes: bytes) -> int:
    """Return the size that an answer announces; raises UnhealthyError if none can have it."""
    size = int.from_bytes(size_bytes, "big", signed=True)
    if not 0 < size <= ANSWER_BYTES_MAX:
        raise UnhealthyError(f"an answer of {size} bytes is not a Kafka broker's")
    return size


def read_exactly(connection: socket.socket, count: int) -> bytes:
    """Return the next count bytes; raises UnhealthyError if the other side closes first."""
    received = bytearray()
    while len(received) < count:
        more = connection.recv(count - len(received))
        if not more:
            raise UnhealthyError(f"the connection was closed after {len(received)} of {count} bytes")
        received += more
    return bytes(received)
