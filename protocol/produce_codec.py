"""Produce (0) on the hot path: the request's record batches as views into the frame, the answer as one buffer.

The generated messages decode and encode the same bytes; this path makes no object for a field, and tests hold the two
against each other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from struct import Struct
from struct import error as StructError

from .batches.record_batch import ATTRIBUTES_POSITION, LOG_OVERHEAD
from .frames import FRAME_SIZE_BYTES, FrameError
from .hand_decoding import (
    decode_compact_count,
    decode_compact_string,
    decode_count,
    decode_string,
    decode_unsigned_varint,
    encode_unsigned_varint,
    skip_tagged_fields,
)
from .produced_records import find_transaction, is_plain_batch

FLEXIBLE_SINCE = 9
TOPIC_IDS_SINCE = 13
TOPIC_ID_BYTES = 16

# No transactional id, acks, timeout, one topic of a name of one byte, one partition; and the shortest batch.
_SINGLE_BYTES_MIN = 15 + 61
# Of the partition, the topic and the request.
_NO_TAGGED_FIELDS_BYTES = 3
# No record errors, no message, no tagged fields of partition and topic, throttle_time_ms, none of the answer.
_END_OF_SINGLE = b"\1\0\0\0\0\0\0\0\0"

_INT16 = Struct(">h")
_INT32 = Struct(">i")
_ACKS_AND_TIMEOUT = Struct(">hi")
_SIZE_AND_CORRELATION_ID = Struct(">ii")
_API_AND_CORRELATION_ID = Struct(">Ii")
# index, error code, base offset, log append time; with log start offset; with no record errors and no message.
_PARTITION_3 = Struct(">ihqq")
_PARTITION_5 = Struct(">ihqqq")
_PARTITION_8 = Struct(">ihqqqih")
_PARTITION_9 = Struct(">ihqqqbbb")


@dataclass(slots=True)
class ProduceRequest:
    """What a Produce request asks.

    topics: for each topic its key (the name's bytes, or the 16 bytes of its id from version 13 on) and its partitions:
    index and records, the latter a view into the frame, or None where they are null.
    """

    transactional_id: str | None
    acks: int
    timeout_ms: int
    topics: list[tuple[bytes, list[tuple[int, memoryview | None]]]]


@dataclass(slots=True)
class PartitionAnswer:
    """What became of one partition's records.

    record_errors: pairs of the record's index in the batch and a message, from version 8 on.
    """

    index: int
    error_code: int = 0
    base_offset: int = -1
    log_append_time_ms: int = -1
    log_start_offset: int = -1
    error_message: str | None = None
    record_errors: list[tuple[int, str | None]] = field(default_factory=list[tuple[int, "str | None"]])


def decode_request(frame: memoryview, position: int, end: int, version: int) -> ProduceRequest:
    """Decode the body in frame[position:end], versions 3-13; raises FrameError.

    A topic or partition that is named twice counts as Kafka counts it: topics are merged, of a partition's records the
    last are taken.
    """
    try:
        if version >= FLEXIBLE_SINCE:
            request, position = _decode_flexible(frame, position, end, version)
        else:
            request, position = _decode_plain(frame, position, end)
    except (IndexError, StructError) as error:
        raise FrameError(f"Produce version {version} ends within a field") from error
    if position > end:
        raise FrameError(f"Produce version {version} goes {position - end} bytes beyond its frame")
    topics = request.topics
    if len(topics) > 1 or (topics and len(topics[0][1]) > 1):
        request.topics = _merge(topics)
    return request


def find_single_batch(
    frame: memoryview, position: int, end: int, version: int
) -> tuple[bytes, memoryview] | tuple[None, None]:
    """Return head and records of the request in frame[position:end], if it is one of the many that are all alike.

    That is: version 9 to 13, no transactional id, one topic, one partition, a plain batch (is_plain_batch), and no
    tagged fields. The head is all in front of the records. A producer sends the same one with each batch for a
    partition, so that what it means can be looked up as a whole.
    """
    if version < FLEXIBLE_SINCE or end - position < _SINGLE_BYTES_MIN or frame[position] or frame[position + 7] != 2:
        return None, None
    key_bytes = TOPIC_ID_BYTES if version >= TOPIC_IDS_SINCE else frame[position + 8]
    head_end = position + 13 + key_bytes
    # The length of a name above 126 bytes takes two bytes: rare enough.
    if not 2 <= key_bytes <= 127 or head_end >= end or frame[head_end - 5] != 2:
        return None, None
    records = find_single_records(frame, head_end, end)
    return (None, None) if records is None else (bytes(frame[position:head_end]), records)


def find_single_transactional_batch(
    frame: memoryview, position: int, end: int, version: int
) -> tuple[bytes, memoryview] | tuple[None, None]:
    """Return head and records of the request in frame[position:end], if it is one batch of a producer's transaction.

    That is: as find_single_batch has it, but for a transactional id, and a batch that find_transaction knows.
    """
    id_bytes = frame[position]
    # What follows the id stands as if that were null and began here. An id above 126 bytes is rare enough.
    after = position + id_bytes - 1
    if version < FLEXIBLE_SINCE or not 2 <= id_bytes <= 127 or end - after < _SINGLE_BYTES_MIN or frame[after + 7] != 2:
        return None, None
    key_bytes = TOPIC_ID_BYTES if version >= TOPIC_IDS_SINCE else frame[after + 8]
    head_end = after + 13 + key_bytes
    if not 2 <= key_bytes <= 127 or head_end >= end or frame[head_end - 5] != 2:
        return None, None
    records = find_single_transactional_records(frame, head_end, end)
    return (None, None) if records is None else (bytes(frame[position:head_end]), records)


def find_single_records(frame: memoryview, position: int, end: int) -> memoryview | None:
    """Return the records whose size is at position, if they are a plain batch and end a request of a single one."""
    records_end = end - _NO_TAGGED_FIELDS_BYTES
    size = frame[position]
    position += 1
    if size > 127:
        if position < end and frame[position] <= 127:
            size += frame[position] * 128 - 128
            position += 1
        else:
            size, position = decode_unsigned_varint(frame, position - 1, end)
    if position + size - 1 != records_end or frame[end - 1] or frame[end - 2] or frame[end - 3]:
        return None
    records = frame[position:records_end]
    return records if is_plain_batch(records) else None


def find_single_transactional_records(frame: memoryview, position: int, end: int) -> memoryview | None:
    """Return the records whose size is at position, if they are a transaction's batch and end a request of one."""
    size, position = decode_unsigned_varint(frame, position, end)
    records_end = position + size - 1
    if records_end != end - _NO_TAGGED_FIELDS_BYTES or frame[end - 1] or frame[end - 2] or frame[end - 3]:
        return None
    records = frame[position:records_end]
    return None if find_transaction(records) is None else records


class SingleBatchShape:
    """What a request that find_single_batch takes shares with the next one of its size: all but the batch's content.

    unpack: given a buffer and where a request of request_bytes begins in it, returns api key and version together, the
    correlation id, and what told is of the request that was learned: what stands in front of the batch, with its base
    offset and length; its magic and its attributes; what stands behind it. Where these are the same, the request is as
    right as the first one was.
    records_start, bytes_behind: how much of the request is in front of the batch, and behind it.
    """

    __slots__ = ("bytes_behind", "records_start", "request_bytes", "told", "unpack")

    def __init__(self, request: memoryview, records_bytes: int) -> None:
        """Learn from a request, header included, whose records find_single_records has found."""
        self.request_bytes = len(request)
        self.bytes_behind = _NO_TAGGED_FIELDS_BYTES
        self.records_start = self.request_bytes - self.bytes_behind - records_bytes
        # To the end of the batch's length; leader epoch and CRC are its own.
        same_bytes = self.records_start + LOG_OVERHEAD - _API_AND_CORRELATION_ID.size
        content_bytes = records_bytes - ATTRIBUTES_POSITION - _INT16.size
        shape = Struct(f"{_API_AND_CORRELATION_ID.format}{same_bytes}s4xb4xh{content_bytes}x{_NO_TAGGED_FIELDS_BYTES}s")
        self.unpack = shape.unpack_from
        _, _, *self.told = shape.unpack(request)


class SingleAnswer:
    """The answer to a request of one topic and partition, packed in one step."""

    __slots__ = ("_head", "_pack", "_size")

    def __init__(self, version: int, key: bytes, index: int) -> None:
        """version: 9 to 13; key: the topic's name, or the 16 bytes of its id from version 13 on."""
        key = key if version >= TOPIC_IDS_SINCE else encode_unsigned_varint(len(key) + 1) + key
        # No tagged fields, one topic, its key, one partition, its index.
        self._head = b"\0\2" + key + b"\2" + _INT32.pack(index)
        answer = Struct(f">ii{len(self._head)}shqqq{len(_END_OF_SINGLE)}s")
        self._pack = answer.pack
        self._size = answer.size - FRAME_SIZE_BYTES

    def encode(self, correlation_id: int, base_offset: int, log_append_time_ms: int, log_start_offset: int) -> bytes:
        """Return the whole answer, size and response header included."""
        offsets = (base_offset, log_append_time_ms, log_start_offset)
        return self._pack(self._size, correlation_id, self._head, 0, *offsets, _END_OF_SINGLE)

    def encode_refused(self, correlation_id: int, error_code: int) -> bytes:
        """Return the whole answer that the batch was refused, for an error that tells no more than its code."""
        return self._pack(self._size, correlation_id, self._head, error_code, -1, -1, -1, _END_OF_SINGLE)


def _decode_plain(frame: memoryview, position: int, end: int) -> tuple[ProduceRequest, int]:
    """Decode versions 3-8."""
    transactional_id, position = decode_string(frame, position, end)
    acks, timeout_ms = _ACKS_AND_TIMEOUT.unpack_from(frame, position)
    topic_count, position = decode_count(frame, position + 6, end)
    topics: list[tuple[bytes, list[tuple[int, memoryview | None]]]] = []
    for _ in range(topic_count):
        name, position = decode_string(frame, position, end)
        if name is None:
            raise FrameError("Produce: the name of a topic is null")
        partition_count, position = decode_count(frame, position, end)
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


def _decode_flexible(frame: memoryview, position: int, end: int, version: int) -> tuple[ProduceRequest, int]:
    """Decode versions 9-13."""
    transactional_id, position = decode_compact_string(frame, position, end)
    acks, timeout_ms = _ACKS_AND_TIMEOUT.unpack_from(frame, position)
    topic_count, position = decode_compact_count(frame, position + 6, end)
    topics: list[tuple[bytes, list[tuple[int, memoryview | None]]]] = []
    for _ in range(topic_count):
        if version >= TOPIC_IDS_SINCE:
            key: bytes | None = bytes(frame[position : position + TOPIC_ID_BYTES])
            position += TOPIC_ID_BYTES
        else:
            key, position = decode_compact_string(frame, position, end)
        if key is None:
            raise FrameError("Produce: the name of a topic is null")
        partitions, position = _decode_flexible_partitions(frame, position, end)
        topics.append((key, partitions))
        position = position + 1 if not frame[position] else skip_tagged_fields(frame, position, end)
    position = position + 1 if not frame[position] else skip_tagged_fields(frame, position, end)
    return ProduceRequest(_decode_text(transactional_id), acks, timeout_ms, topics), position


def _decode_flexible_partitions(
    frame: memoryview, position: int, end: int
) -> tuple[list[tuple[int, memoryview | None]], int]:
    partition_count, position = decode_compact_count(frame, position, end)
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


def encode_response(correlation_id: int, version: int, topics: list[tuple[bytes, list[PartitionAnswer]]]) -> bytearray:
    """Return the whole answer, size and response header included; topic keys are written as they came."""
    if version >= FLEXIBLE_SINCE:
        return _encode_flexible(correlation_id, version, topics)
    answer = bytearray(8)
    answer += _INT32.pack(len(topics))
    for key, partitions in topics:
        answer += _INT16.pack(len(key))
        answer += key
        answer += _INT32.pack(len(partitions))
        for partition in partitions:
            answer += _encode_plain_partition(version, partition)
    answer += b"\0\0\0\0"
    _SIZE_AND_CORRELATION_ID.pack_into(answer, 0, len(answer) - FRAME_SIZE_BYTES, correlation_id)
    return answer


def _encode_plain_partition(version: int, partition: PartitionAnswer) -> bytes:
    head = (partition.index, partition.error_code, partition.base_offset, partition.log_append_time_ms)
    if version < 5:
        return _PARTITION_3.pack(*head)
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


def _encode_flexible(correlation_id: int, version: int, topics: list[tuple[bytes, list[PartitionAnswer]]]) -> bytearray:
    answer = bytearray(9)
    answer += encode_unsigned_varint(len(topics) + 1)
    for key, partitions in topics:
        if version < TOPIC_IDS_SINCE:
            answer += encode_unsigned_varint(len(key) + 1)
        answer += key
        answer += encode_unsigned_varint(len(partitions) + 1)
        for partition in partitions:
            answer += _encode_flexible_partition(partition)
        answer += b"\0"
    # throttle_time_ms, and no tagged fields.
    answer += b"\0\0\0\0\0"
    _SIZE_AND_CORRELATION_ID.pack_into(answer, 0, len(answer) - FRAME_SIZE_BYTES, correlation_id)
    return answer


def _encode_flexible_partition(partition: PartitionAnswer) -> bytes:
    head = (
        partition.index,
        partition.error_code,
        partition.base_offset,
        partition.log_append_time_ms,
        partition.log_start_offset,
    )
    if not partition.record_errors and partition.error_message is None:
        return _PARTITION_9.pack(*head, 1, 0, 0)
    parts = [_PARTITION_5.pack(*head), encode_unsigned_varint(len(partition.record_errors) + 1)]
    for batch_index, message in partition.record_errors:
        parts += [_INT32.pack(batch_index), _encode_compact_string(message), b"\0"]
    parts += [_encode_compact_string(partition.error_message), b"\0"]
    return b"".join(parts)


def _encode_compact_string(text: str | None) -> bytes:
    if text is None:
        return b"\0"
    raw = text.encode()
    return encode_unsigned_varint(len(raw) + 1) + raw
