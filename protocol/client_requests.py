"""Encoding of requests and decoding of responses, for clients.

The request header holds API key, version, correlation id and client id; in flexible versions also tagged fields. The
response header holds the correlation id; in flexible versions also tagged fields, except for ApiVersions, whose client
does not know yet which versions the broker supports.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from .api_keys import Api, ApiKey
from .frames import FrameError
from .primitives import Reader, Writer

CLIENT_ID = "fauxka"

Response = TypeVar("Response")


class RequestMessage(Protocol):
    """A message of protocol.messages."""

    def write(self, writer: Writer, version: int) -> None:
        """Write the fields of this version."""
        ...


def request_frame(
    api: Api, version: int, correlation_id: int, message: RequestMessage, *, client_id: str | None = CLIENT_ID
) -> bytes:
    """Return the request frame, size included. Raises ValueError for a value that does not fit its field."""
    body = Writer()
    body.int16(api.key)
    body.int16(version)
    body.int32(correlation_id)
    body.nullable_string(client_id)
    if version >= api.versions.flexible_since:
        body.no_tagged_fields()
    message.write(body, version)
    frame = Writer()
    frame.int32(len(body.buffer))
    return frame.getvalue() + body.getvalue()


def read_response(
    api: Api, version: int, correlation_id: int, frame: bytes, read: Callable[[Reader, int], Response]
) -> Response:
    """Return the response in a frame.

    frame: without its size. read: the read method of the response's message.
    Raises FrameError if the frame does not decode, is too long, or has another correlation id.
    """
    reader = Reader(frame)
    found_id = reader.int32()
    if found_id != correlation_id:
        raise FrameError(f"{api.name}: expected correlation id {correlation_id}, got {found_id}")
    if version >= api.versions.flexible_since and api.key != ApiKey.API_VERSIONS:
        reader.skip_tagged_fields()
    response = read(reader, version)
    if reader.remaining:
        raise FrameError(f"{api.name} version {version}: {reader.remaining} bytes after the end of the response")
    return response
