"""Response frames: size, response header and message; and the fields that responses of all APIs share.

The header has tagged fields in flexible versions, except for ApiVersions: its client does not know yet which versions
the broker supports (KIP-511). For the same reason a request for an unsupported version of ApiVersions gets a response
of version 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from struct import pack_into
from typing import cast

from ..api_keys import APIS, Api, ApiKey
from ..frames import FRAME_SIZE_BYTES
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


def response_version(api: Api, version: int) -> int:
    """Return the version of the response to a request of this version."""
    if api.key is ApiKey.API_VERSIONS and not api.first_version <= version <= api.last_version:
        return 0
    return version


def encode_response_frame(api: Api, version: int, correlation_id: int, response: Message) -> bytearray:
    """Return the response frame. Raises ValueError for a value that the version cannot carry."""
    version = response_version(api, version)
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
    """Return correlation id and message of a response frame. Raises FrameError if it does not decode."""
    version = response_version(api, version)
    reader = Reader(frame, FRAME_SIZE_BYTES)
    correlation_id = reader.int32()
    if _is_header_flexible(api, version):
        reader.skip_tagged_fields()
    return correlation_id, response_type(api).read(reader, version)


def _is_header_flexible(api: Api, version: int) -> bool:
    return version >= api.flexible_since and api.key is not ApiKey.API_VERSIONS


def has_throttle_time(api: Api) -> bool:
    """Whether a version of the API's responses has throttle_time_ms."""
    return THROTTLE_FIELD in response_type(api).__slots__


def set_throttle_time(
    api: Api, version: int, buffers: Iterable[bytes | bytearray | memoryview], throttle_time_ms: int
) -> bytearray:
    """Return the response frame with this throttle time, or unchanged if its version has no throttle time.

    buffers: the frame, in pieces. A frame of very many elements is not decoded.
    """
    frame = bytearray().join(buffers)
    if not _has_field(api.key, version):
        return frame
    position = _find_throttle_time(api, version, frame)
    if position is not None:
        pack_into(">i", frame, position, throttle_time_ms)
        return frame
    correlation_id, response = decode_response_frame(api, version, frame)
    setattr(response, THROTTLE_FIELD, throttle_time_ms)
    return encode_response_frame(api, version, correlation_id, response)


@cache
def _has_field(api_key: int, version: int) -> bool:
    """Return whether responses of this version have the throttle time: then it is in the frame of an empty one."""
    api = APIS[api_key]
    if not has_throttle_time(api):
        return False
    response = response_type(api)()
    without = encode_response_frame(api, version, 0, response)
    setattr(response, THROTTLE_FIELD, 1)
    return encode_response_frame(api, version, 0, response) != without


def _find_throttle_time(api: Api, version: int, frame: bytearray) -> int | None:
    """Return the position of the throttle time; None in a response in which it follows other fields."""
    if response_type(api).__slots__[0] == THROTTLE_FIELD:
        return FRAME_SIZE_BYTES + _CORRELATION_ID_BYTES + _is_header_flexible(api, version)
    if api.key is ApiKey.PRODUCE:
        return _find_before_tagged_fields(frame) if version >= api.flexible_since else len(frame) - _INT32_BYTES
    return None


def _find_before_tagged_fields(frame: bytearray) -> int | None:
    """Return the position of the last field of a response, which is 0, before its tagged fields: at most one."""
    if frame.endswith(_ZERO_AND_NO_TAGGED_FIELDS):
        return len(frame) - len(_ZERO_AND_NO_TAGGED_FIELDS)
    position = frame.rfind(_ZERO_AND_TAGGED_FIELD)
    while position >= 0:
        # An address may have the same bytes, but not the size of what follows them.
        reader = Reader(frame, position + len(_ZERO_AND_TAGGED_FIELD))
        size = reader.unsigned_varint()
        if size >= _ADDRESS_BYTES_MIN and reader.position + size == len(frame):
            return position
        position = frame.rfind(_ZERO_AND_TAGGED_FIELD, 0, position)
    return None


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
