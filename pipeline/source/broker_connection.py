"""A connection to a broker: one request at a time, in versions that both sides speak."""

from __future__ import annotations

import socket
from collections.abc import Callable
from struct import Struct
from types import TracebackType
from typing import Self, TypeVar

from ...protocol.api_keys import APIS, ApiKey
from ...protocol.client_requests import RequestMessage, read_answer, request_frame
from ...protocol.error_codes import ErrorCode
from ...protocol.frames import FrameError
from ...protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ...protocol.primitives import Reader

# The newest versions that are asked with. Up to them topics go by their names, which saves asking for their ids.
VERSIONS_MAX = {ApiKey.FETCH: 12, ApiKey.LIST_OFFSETS: 7, ApiKey.METADATA: 12}

# No answer is larger: Fetch asks for far less, and a single batch may have as much as a request.
RESPONSE_BYTES_MAX = 128 * 1024 * 1024

_SIZE = Struct(">i")

Answer = TypeVar("Answer")


class BrokerError(Exception):
    """A broker that does not answer, or not as one does; the words are one line and name it."""


class BrokerConnection:
    """A connection that is open until it is closed; a context manager that closes it."""

    def __init__(self, host: str, port: int, timeout_ms: int) -> None:
        """Connect, and ask which versions are spoken. Raises BrokerError."""
        self.address = f"{host}:{port}"
        self._correlation_id = 0
        try:
            self._socket = socket.create_connection((host, port), timeout=timeout_ms / 1000)
        except OSError as error:
            raise BrokerError(f"broker {self.address}: no connection: {error.strerror or error}") from None
        try:
            # Without waiting for more to send: each request is one.
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            answer = self._ask(ApiKey.API_VERSIONS, 0, ApiVersionsRequest(), ApiVersionsResponse.read)
        except BaseException:
            self._socket.close()
            raise
        self._versions = {api.api_key: (api.min_version, api.max_version) for api in answer.api_keys}

    def __enter__(self) -> Self:
        """Return the connection."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the connection."""
        self._socket.close()

    def ask(self, key: ApiKey, message: RequestMessage, read: Callable[[Reader, int], Answer]) -> Answer:
        """Return the answer to a request, in the newest version that both speak. Raises BrokerError."""
        least, most = self._versions.get(key, (0, -1))
        version = min(most, VERSIONS_MAX.get(key, APIS[key].last_version))
        if version < max(least, APIS[key].first_version):
            raise BrokerError(f"broker {self.address}: speaks {key.name} {least}-{most}; known here up to {version}")
        return self._ask(key, version, message, read)

    def _ask(self, key: ApiKey, version: int, message: RequestMessage, read: Callable[[Reader, int], Answer]) -> Answer:
        self._correlation_id += 1
        try:
            self._socket.sendall(request_frame(APIS[key], version, self._correlation_id, message))
            size: int = _SIZE.unpack(self._receive(_SIZE.size))[0]
            if not 0 < size <= RESPONSE_BYTES_MAX:
                raise FrameError(f"an answer of {size} bytes")
            return read_answer(APIS[key], version, self._correlation_id, self._receive(size), read)
        except TimeoutError:
            raise BrokerError(f"broker {self.address}: no answer to {key.name} in time") from None
        except (OSError, FrameError) as error:
            raise BrokerError(f"broker {self.address}: {key.name}: {error}") from None

    def _receive(self, size: int) -> bytes:
        buffer = bytearray(size)
        view = memoryview(buffer)
        while view:
            count = self._socket.recv_into(view)
            if not count:
                raise FrameError("the connection was closed")
            view = view[count:]
        return bytes(buffer)


def error_name(code: int) -> str:
    """Return Kafka's name of an error code."""
    try:
        return ErrorCode(code).name
    except ValueError:
        return f"error {code}"
