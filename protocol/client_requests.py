"""A client's half of the wire, without input or output: requests to bytes, answers to messages.

Request header: api key, version, correlation id, client id, and from the API's first flexible version on tagged fields.
Response header: correlation id, and tagged fields likewise, except for ApiVersions, whose answer a client must be able
to read before it knows what the broker speaks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from .api_keys import Api, ApiKey
from .frames import FrameError
from .primitives import Reader, Writer

CLIENT_ID = "fauxka"

Answer = TypeVar("Answer")


class RequestMessage(Protocol):
    """A message of protocol.messages."""

    def write(self, writer: Writer, version: int) -> None:
        """Write it as this version lays it out."""
        ...


def request_frame(api: Api, version: int, correlation_id: int, message: RequestMessage) -> bytes:
    """Return the request with its size in front, ready to be sent. Raises ValueError for what does not fit."""
    body = Writer()
    body.int16(api.key)
    body.int16(version)
    body.int32(correlation_id)
    body.nullable_string(CLIENT_ID)
    if version >= api.flexible_since:
        body.no_tagged_fields()
    message.write(body, version)
    frame = Writer()
    frame.int32(len(body.buffer))
    return frame.getvalue() + body.getvalue()


def read_response(
    api: Api, version: int, correlation_id: int, frame: bytes, read: Callable[[Reader, int], Answer]
) -> Answer:
    """Return the answer that a frame (without its size) holds.

    read: the read method of the answer's message. Raises FrameError for what does not decode, for bytes that are left
    over, and for the answer to another request.
    """
    reader = Reader(frame)
    answered = reader.int32()
    if answered != correlation_id:
        raise FrameError(f"the answer to request {answered}; expected {correlation_id}")
    if version >= api.flexible_since and api.key != ApiKey.API_VERSIONS:
        reader.skip_tagged_fields()
    answer = read(reader, version)
    if reader.remaining:
        raise FrameError(f"{reader.remaining} bytes behind an answer of {api.name} version {version}")
    return answer
