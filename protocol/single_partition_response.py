"""The response to a Produce request of one topic and partition, as nearly every request is: packed in one step."""

from __future__ import annotations

from struct import Struct
from typing import Final

from .buffer_codec import encode_unsigned_varint
from .frames import FRAME_SIZE_BYTES

# The first version of Produce that names topics by their ids.
TOPIC_IDS_SINCE: Final = 13

# No record errors, no message, no tagged fields of partition and topic, throttle_time_ms, no tagged fields.
_END: Final = b"\1\0\0\0\0\0\0\0\0"

_INT32 = Struct(">i")


class SinglePartitionResponse:
    """The response to a request of one topic and partition, packed in one step."""

    __slots__ = ("_head", "_pack", "_size")

    def __init__(self, version: int, key: bytes, index: int) -> None:
        """version: 9 to 13. key: the topic's name; in version 13 its 16-byte id."""
        key = key if version >= TOPIC_IDS_SINCE else encode_unsigned_varint(len(key) + 1) + key
        # No tagged fields, one topic, its key, one partition, its index.
        self._head = b"\0\2" + key + b"\2" + _INT32.pack(index)
        layout = Struct(f">ii{len(self._head)}shqqq{len(_END)}s")
        self._pack = layout.pack
        self._size = layout.size - FRAME_SIZE_BYTES

    def encode(self, correlation_id: int, base_offset: int, log_append_time_ms: int, log_start_offset: int) -> bytes:
        """Return the response frame, size and header included."""
        size, head = self._size, self._head
        return self._pack(size, correlation_id, head, 0, base_offset, log_append_time_ms, log_start_offset, _END)

    def encode_refused(self, correlation_id: int, error_code: int) -> bytes:
        """Return the response frame for a rejected batch, with no more than the error code."""
        return self._pack(self._size, correlation_id, self._head, error_code, -1, -1, -1, _END)
