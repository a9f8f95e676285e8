"""A blocking client of messages: requests out, and their responses in, in the same order."""

from __future__ import annotations

import importlib
import struct
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Protocol, Self, TypeVar, overload

from fauxka.protocol.api_keys import APIS, Api
from fauxka.protocol.client_requests import RequestMessage, request_frame
from fauxka.protocol.messages.produce import ProduceRequest
from fauxka.protocol.primitives import Reader

from .wire_connection import WireConnection

Response = TypeVar("Response")

CLIENT_ID = "capture"
# Behind the size, the API key and the version of a frame.
CORRELATION_ID = struct.Struct(">i")
CORRELATION_ID_POSITION = 8


class ResponseClass(Protocol):
    """A generated response class."""

    def read(self, reader: Reader, version: int) -> object:
        """Read the fields of that version."""
        ...


class MessageClient:
    """One connection with any number of requests in flight. wire: the connection, for bytes between the messages."""

    def __init__(self, address: str, client_id: str | None = CLIENT_ID, *, source: str | None = None) -> None:
        """Connect to "host:port". source: the host to connect from."""
        self.wire = WireConnection(address, source=source)
        self._client_id = client_id
        self._correlation_id = 0
        self._pending: deque[tuple[int, Api, int]] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self.wire.close()

    @overload
    def call(self, request: RequestMessage, version: int) -> object: ...
    @overload
    def call(self, request: RequestMessage, version: int, response_class: type[Response]) -> Response: ...
    def call(self, request: RequestMessage, version: int, response_class: type[object] = object) -> object:
        """Return the response message, of that class.

        Raises ConnectionClosedError when the broker closed the connection, and TimeoutError without a response.
        """
        self.send(request, version)
        return self.receive(response_class)

    def call_each(self, requests: Sequence[tuple[RequestMessage, int]]) -> Iterator[object]:
        """Send all requests, each with its version, and return the responses one by one; raises as call does.

        Both together must fit into the buffers of the sockets.
        """
        self.send_each(requests)
        for _ in requests:
            yield self.receive()

    def repeat(self, request: RequestMessage, version: int, count: int) -> object:
        """Send the request so many times before the first response is read; return the last response."""
        frame = bytearray(self._frame_of(request, version))
        for _ in range(count - 1):
            self.wire.send(frame)
            self._correlation_id += 1
            CORRELATION_ID.pack_into(frame, CORRELATION_ID_POSITION, self._correlation_id)
        self.wire.send(frame)
        for _ in range(count - 1):
            self.wire.receive_frame()
        self._pending[-1] = (self._correlation_id, *self._pending[-1][1:])
        return self.receive()

    def send(self, request: RequestMessage, version: int) -> None:
        """Send a request; receive returns its response. Raises ConnectionClosedError."""
        self.wire.send(self._frame_of(request, version))

    def send_each(self, requests: Sequence[tuple[RequestMessage, int]]) -> None:
        """Send requests, each with its version, in one write."""
        self.wire.send(b"".join(self._frame_of(request, version) for request, version in requests))

    @overload
    def receive(self) -> object: ...
    @overload
    def receive(self, response_class: type[Response]) -> Response: ...
    def receive(self, response_class: type[object] = object) -> object:
        """Return the response to the first request without one, which must be of that class; raises as call does.

        After a TimeoutError the request still waits for its response.
        """
        expected_id, api, version = self._pending[0]
        frame = self.wire.receive_frame(f"response to {api.name}")
        self._pending.popleft()
        reader = Reader(frame)
        correlation_id = reader.int32()
        assert correlation_id == expected_id, f"asked {expected_id}, answered {correlation_id}"
        if version >= api.versions.flexible_since and api.name != "ApiVersions":
            assert reader.unsigned_varint() == 0, "a tagged field in the response header"
        response = response_class_of(api.module, api.name).read(reader, version)
        assert reader.position == len(frame), f"{len(frame) - reader.position} bytes after the response of {api.name}"
        assert isinstance(response, response_class), response
        return response

    def _frame_of(self, request: RequestMessage, version: int) -> bytes:
        """Return the frame of the request with the next correlation id, and expect its response unless it has none."""
        self._correlation_id += 1
        api = api_of(request)
        if not (isinstance(request, ProduceRequest) and request.acks == 0):
            self._pending.append((self._correlation_id, api, version))
        return request_frame(api, version, self._correlation_id, request, client_id=self._client_id)


def api_of(request: RequestMessage) -> Api:
    """Return the API that a request message belongs to."""
    name = type(request).__name__.removesuffix("Request")
    return next(api for api in APIS.values() if api.name == name)


def response_class_of(module: str, name: str) -> ResponseClass:
    """Return the response class of an API, for example of ("metadata", "Metadata")."""
    response_class: ResponseClass = getattr(
        importlib.import_module(f"fauxka.protocol.messages.{module}"), f"{name}Response"
    )
    return response_class
