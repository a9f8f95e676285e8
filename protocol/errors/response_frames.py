"""Response frames: size, response header and message; and the fields that responses of all APIs share.

The header has tagged fields in flexible versions, except for ApiVersions: its client does not know yet which versions
the broker supports (KIP-511). For the same reason the response to an ApiVersions of a version that the broker does not
have is one of version 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import pack_into
from typing import cast

from ..api_keys import Api, ApiKey
from ..frames import FRAME_SIZE_BYTES, FrameError
from ..message import Message
from ..message_types import response_type
from ..primitives import Reader, Writer

THROTTLE_FIELD = "throttle_time_ms"
_CORRELATION_ID_BYTES = _INT32_BYTES = 4
_ZERO_AND_NO_TAGGED_FIELDS = b"\0\0\0\0" + b"\0"
# The number of tagged fields, and tag 0: the addresses of nodes. Its size follows.
_ZERO_AND_TAGGED_FIELD = b"\0\0\0\0" + b"\1\0"
# The number of addresses; id, host of one character, port, rack and tagged fields of one.
_ADDRESS_BYTES_MIN = 1 + 4 + 2 + 4 + 1 + 1

# The names of error code fields, at any depth of a response.
ERROR_FIELDS = frozenset({"error_code", "partition_error_code", "acknowledge_error_code"})


def encode_response_frame(api: Api, version: int, correlation_id: int, response: Message) -> bytearray:
    """Return the response frame. Raises ValueError for a value that the version cannot carry."""
    writer = Writer()
    writer.int32(0)
    writer.int32(correlation_id)
    if _is_header_flexible(api, version):
        writer.no_tagged_fields()
    response.write(writer, version)
    buffer = writer.buffer
    pack_into(">i", buffer, 0, len(buffer) - FRAME_SIZE_BYTES)
    return buffer


def decode_response_frame(api: Api, version: int, frame: bytes | bytearray) -> tuple[int, Message]:
    """Return correlation id and message of a response frame. Raises FrameError if it does not decode.

    version: of the request. The response to an ApiVersions may be one of version 0, of which no other version can be
    read: its list begins with a byte that stands for null.
    """
    reader = Reader(frame, FRAME_SIZE_BYTES)
    correlation_id = reader.int32()
    if _is_header_flexible(api, version):
        reader.skip_tagged_fields()
    body_position = reader.position
    try:
        return correlation_id, response_type(api).read(reader, version)
    except FrameError:
        if api.key is not ApiKey.API_VERSIONS or not version:
            raise
        return correlation_id, response_type(api).read(Reader(frame, body_position), 0)


def _is_header_flexible(api: Api, version: int) -> bool:
    return version >= api.versions.flexible_since and api.key is not ApiKey.API_VERSIONS


def has_throttle_time(api: Api) -> bool:
    """Whether a version of the API's responses has throttle_time_ms."""
    return THROTTLE_FIELD in response_type(api).__slots__


def first_error_code(api: Api, version: int, frame: bytes | bytearray) -> int:
    """Return the first error code of the response frame that is not 0, its own before those of its entries; else 0."""
    _, response = decode_response_frame(api, version, frame)
    codes = (cast(int, getattr(holder, name)) for holder, name in error_holders(response))
    return next((code for code in codes if code), 0)


def error_holders(message: object) -> Iterator[tuple[object, str]]:
    """Yield each message within this one that has an error code, itself first, with the name of the field."""
    if not isinstance(message, Message):
        return
    for name in message.__slots__:
        if name in ERROR_FIELDS:
            yield message, name
    for name in message.__slots__:
        value = cast(object, getattr(message, name))
        for part in cast("list[object]", value) if isinstance(value, list) else (value,):
            yield from error_holders(part)
