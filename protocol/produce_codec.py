"""Produce (0): the hand-written codec of the hot path.

A request is decoded without an object for each field, and its record batches are views of the frame. A response is one
buffer. The generated messages read and write the same bytes; tests compare both.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from struct import Struct
from struct import error as StructError

from .buffer_codec import (
    decode_compact_count,
    decode_compact_string,
    decode_count,
    decode_string,
    decode_unsigned_varint,
    encode_unsigned_varint,
    skip_tagged_fields,
)
from .current_leader import CurrentLeader, encode_endpoints, encode_leader
from .frames import FRAME_SIZE_BYTES, REQUEST_ELEMENTS_MAX, FrameError, take_elements
from .produced_records import NO_TAGGED_FIELDS
from .single_partition_response import TOPIC_IDS_SINCE as TOPIC_IDS_SINCE

TRANSACTIONAL_ID_SINCE = 3
FLEXIBLE_SINCE = 9
TOPIC_ID_BYTES = 16
CURRENT_LEADER_SINCE = 10

# acks: none, the leader's, all in-sync replicas'.
ACKS_NONE = 0
ACKS_ALL = -1
ACKS_ALLOWED = (ACKS_ALL, ACKS_NONE, 1)

_CURRENT_LEADER_TAG = 0

_INT16 = Struct(">h")
_INT32 = Struct(">i")
_ACKS_AND_TIMEOUT = Struct(">hi")
_SIZE_AND_CORRELATION_ID = Struct(">ii")
# index, error code, base offset, log append time (2), log start offset (5), no record errors and no message (8).
_PARTITION_0 = Struct(">ihq")
_PARTITION_2 = Struct(">ihqq")
_PARTITION_5 = Struct(">ihqqq")
_PARTITION_8 = Struct(">ihqqqih")
_PARTITION_9 = Struct(">ihqqqbbb")


@dataclass(slots=True)
class ProduceRequest:
    """A Produce request.

    topics: for each topic its key (the bytes of its name; from version 13 on its 16-byte id) and its partitions, each
    with index and records. The records are a view of the frame, or None for null.
    head: the bytes before the size of the records, in a request of version 9 or newer with one topic, one partition
    and no tagged fields; none in any other. A producer sends the same head with each batch for a partition.
    is_owned: whether the frame outlives the request, unlike a receive buffer.
    """

    transactional_id: str | None
    acks: int
    timeout_ms: int
    topics: list[tuple[bytes, list[tuple[int, memoryview | None]]]]
    head: bytes = b""
    is_owned: bool = False


@dataclass(slots=True)
class PartitionResponse:
    """A partition of a response.

    record_errors (8): pairs of a record's index in the batch and a message. current_leader (10): where to send instead.
    """

    index: int
    error_code: int = 0
    base_offset: int = -1
    log_append_time_ms: int = -1
    log_start_offset: int = -1
    error_message: str | None = None
    record_errors: list[tuple[int, str | None]] = field(default_factory=list[tuple[int, "str | None"]])
    current_leader: CurrentLeader | None = None


@dataclass(slots=True)
class ProduceResults:
    """A response. topics: the partitions by the key of their topic, which is written unchanged."""

    topics: list[tuple[bytes, list[PartitionResponse]]]
    throttle_time_ms: int = 0

    def encode(self, correlation_id: int, version: int) -> list[bytes | bytearray | memoryview]:
        """Return the response frame, size and header included."""
        return [encode_response(correlation_id, version, self.topics, self.throttle_time_ms)]


def decode_request(
    frame: memoryview, position: int, end: int, version: int, elements_max: int = REQUEST_ELEMENTS_MAX
) -> ProduceRequest:
    """Decode the body in frame[position:end], versions 0-13. Raises FrameError.

    elements_max: of topics and partitions; TooManyElements is raised for more.
    Topics that are named twice are merged; of a partition that is named twice the last records count, as in Kafka.
    """
    # frame is a receive buffer: without the slice, a truncated field would continue with older bytes.
    frame = frame[:end]
    try:
        if version >= FLEXIBLE_SINCE:
            request, position = _decode_flexible(frame, position, end, version, elements_max)
        else:
            request, position = _decode_plain(frame, position, end, version, elements_max)
    except (IndexError, StructError) as error:
        raise FrameError(f"Produce version {version} ends within a field") from error
    if position > end:
        raise FrameError(f"Produce version {version} goes {position - end} bytes beyond its frame")
    topics = request.topics
    if len(topics) > 1 or (topics and len(topics[0][1]) > 1):
        request.topics = _merge(topics)
    return request


def _decode_plain(
    frame: memoryview, position: int, end: int, version: int, elements_max: int
) -> tuple[ProduceRequest, int]:
    """Decode versions 0-8."""
    transactional_id = None
    if version >= TRANSACTIONAL_ID_SINCE:
        transactional_id, position = decode_string(frame, position, end)
    acks, timeout_ms = _ACKS_AND_TIMEOUT.unpack_from(frame, position)
    topic_count, position = decode_count(frame, position + 6, end)
    elements_left = take_elements(elements_max, topic_count, elements_max)
    topics: list[tuple[bytes, list[tuple[int, memoryview | None]]]] = []
    for _ in range(topic_count):
        name, position = decode_string(frame, position, end)
        if name is None:
            raise FrameError("Produce: the name of a topic is null")
        partition_count, position = decode_count(frame, position, end)
        elements_left = take_elements(elements_left, partition_count, elements_max)
        partitions: list[tuple[int, memoryview | None]] = []
        for _ in range(partition_count):
            (index,) = _INT32.unpack_from(frame, position)
            (size,) = _INT32.unpack_from(frame, position + 4)
            position += 8
            if size < 0:
                partitions.append((index, None))
                continue
            records_end = position + size
            if records_end > end:
                raise FrameError(f"Produce: records of {size} bytes; {end - position} are left")
            partitions.append((index, frame[position:records_end]))
            position = records_end
        topics.append((name, partitions))
    return ProduceRequest(_decode_text(transactional_id), acks, timeout_ms, topics), position


def _decode_flexible(
    frame: memoryview, position: int, end: int, version: int, elements_max: int
) -> tuple[ProduceRequest, int]:
    """Decode versions 9-13."""
    start = position
    transactional_id, position = decode_compact_string(frame, position, end)
    acks, timeout_ms = _ACKS_AND_TIMEOUT.unpack_from(frame, position)
    topic_count, position = decode_compact_count(frame, position + 6, end)
    elements_left = take_elements(elements_max, topic_count, elements_max)
    topics: list[tuple[bytes, list[tuple[int, memoryview | None]]]] = []
    for _ in range(topic_count):
        if version >= TOPIC_IDS_SINCE:
            key: bytes | None = bytes(frame[position : position + TOPIC_ID_BYTES])
            position += TOPIC_ID_BYTES
        else:
            key, position = decode_compact_string(frame, position, end)
        if key is None:
            raise FrameError("Produce: the name of a topic is null")
        partition_count, position = decode_compact_count(frame, position, end)
        elements_left = take_elements(elements_left, partition_count, elements_max)
        partitions, position = _decode_flexible_partitions(frame, position, end, partition_count)
        topics.append((key, partitions))
        position = position + 1 if not frame[position] else skip_tagged_fields(frame, position, end)
    position = position + 1 if not frame[position] else skip_tagged_fields(frame, position, end)
    request = ProduceRequest(_decode_text(transactional_id), acks, timeout_ms, topics)
    if len(topics) == 1 and len(topics[0][1]) == 1:
        request.head = _find_head(frame, start, end, topics[0][1][0][1])
    return request, position


def _find_head(frame: memoryview, start: int, end: int, records: memoryview | None) -> bytes:
    """Return ProduceRequest.head; none if tagged fields follow, or if the size is not in its shortest form."""
    if records is None:
        return b""
    size = encode_unsigned_varint(len(records) + 1)
    records_end = end - len(NO_TAGGED_FIELDS)
    records_start = records_end - len(records)
    head_end = records_start - len(size)
    has_tagged_fields = bytes(frame[records_end:end]) != NO_TAGGED_FIELDS
    return b"" if has_tagged_fields or bytes(frame[head_end:records_start]) != size else bytes(frame[start:head_end])


def _decode_flexible_partitions(
    frame: memoryview, position: int, end: int, partition_count: int
) -> tuple[list[tuple[int, memoryview | None]], int]:
    partitions: list[tuple[int, memoryview | None]] = []
    for _ in range(partition_count):
        (index,) = _INT32.unpack_from(frame, position)
        size, position = decode_unsigned_varint(frame, position + 4, end)
        if size == 0:
            partitions.append((index, None))
        else:
            records_end = position + size - 1
            if records_end > end:
                raise FrameError(f"Produce: records of {size - 1} bytes; {end - position} are left")
            partitions.append((index, frame[position:records_end]))
            position = records_end
        position = position + 1 if not frame[position] else skip_tagged_fields(frame, position, end)
    return partitions, position


def _decode_text(raw: bytes | None) -> str | None:
    try:
        return None if raw is None else raw.decode()
    except UnicodeDecodeError as error:
        raise FrameError(f"Produce: transactional id {raw!r} is not UTF-8") from error


def _merge(
    topics: list[tuple[bytes, list[tuple[int, memoryview | None]]]],
) -> list[tuple[bytes, list[tuple[int, memoryview | None]]]]:
    merged: dict[bytes, dict[int, memoryview | None]] = {}
    for key, partitions in topics:
        merged.setdefault(key, {}).update(partitions)
    return [(key, list(by_index.items())) for key, by_index in merged.items()]


def encode_response(
    correlation_id: int, version: int, topics: list[tuple[bytes, list[PartitionResponse]]], throttle_time_ms: int = 0
) -> bytearray:
    """Return the response frame, size and header included. Topic keys are written unchanged."""
    if version >= FLEXIBLE_SINCE:
        return _encode_flexible(correlation_id, version, topics, throttle_time_ms)
    response = bytearray(8)
    response += _INT32.pack(len(topics))
    for key, partitions in topics:
        response += _INT16.pack(len(key))
        response += key
        response += _INT32.pack(len(partitions))
        for partition in partitions:
            response += _encode_plain_partition(version, partition)
    if version >= 1:
        response += _INT32.pack(throttle_time_ms)
    _SIZE_AND_CORRELATION_ID.pack_into(response, 0, len(response) - FRAME_SIZE_BYTES, correlation_id)
    return response


def _encode_plain_partition(version: int, partition: PartitionResponse) -> bytes:
    if version < 2:
        return _PARTITION_0.pack(partition.index, partition.error_code, partition.base_offset)
    head = (partition.index, partition.error_code, partition.base_offset, partition.log_append_time_ms)
    if version < 5:
        return _PARTITION_2.pack(*head)
    if version < 8:
        return _PARTITION_5.pack(*head, partition.log_start_offset)
    if not partition.record_errors and partition.error_message is None:
        return _PARTITION_8.pack(*head, partition.log_start_offset, 0, -1)
    parts = [_PARTITION_5.pack(*head, partition.log_start_offset), _INT32.pack(len(partition.record_errors))]
    for batch_index, message in partition.record_errors:
        parts += [_INT32.pack(batch_index), _encode_string(message)]
    parts.append(_encode_string(partition.error_message))
    return b"".join(parts)


def _encode_string(text: str | None) -> bytes:
    raw = b"" if text is None else text.encode()
    return _INT16.pack(-1 if text is None else len(raw)) + raw


def _encode_flexible(
    correlation_id: int, version: int, topics: list[tuple[bytes, list[PartitionResponse]]], throttle_time_ms: int
) -> bytearray:
    response = bytearray(9)
    response += encode_unsigned_varint(len(topics) + 1)
    for key, partitions in topics:
        if version < TOPIC_IDS_SINCE:
            response += encode_unsigned_varint(len(key) + 1)
        response += key
        response += encode_unsigned_varint(len(partitions) + 1)
        for partition in partitions:
            response += _encode_flexible_partition(partition)
        response += b"\0"
    response += _INT32.pack(throttle_time_ms)
    response += encode_endpoints(partition.current_leader for _, partitions in topics for partition in partitions)
    _SIZE_AND_CORRELATION_ID.pack_into(response, 0, len(response) - FRAME_SIZE_BYTES, correlation_id)
    return response


def _encode_flexible_partition(partition: PartitionResponse) -> bytes:
    head = (
        partition.index,
        partition.error_code,
        partition.base_offset,
        partition.log_append_time_ms,
        partition.log_start_offset,
    )
    leader = partition.current_leader
    if not partition.record_errors and partition.error_message is None and leader is None:
        return _PARTITION_9.pack(*head, 1, 0, 0)
    parts = [_PARTITION_5.pack(*head), encode_unsigned_varint(len(partition.record_errors) + 1)]
    for batch_index, message in partition.record_errors:
        parts += [_INT32.pack(batch_index), _encode_compact_string(message), b"\0"]
    parts += [_encode_compact_string(partition.error_message), encode_leader(_CURRENT_LEADER_TAG, leader)]
    return b"".join(parts)


def _encode_compact_string(text: str | None) -> bytes:
    if text is None:
        return b"\0"
    raw = text.encode()
    return encode_unsigned_varint(len(raw) + 1) + raw
