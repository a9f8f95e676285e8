"""Fetch (1): the hand-written codec of the hot path.

A request is decoded into tuples. A response is encoded into pieces, with views of the log's memory between them.
The generated messages read and write the same bytes; tests compare both.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from struct import Struct
from struct import error as StructError
from typing import NamedTuple

from .buffer_codec import (
    decode_compact_count,
    decode_compact_string,
    decode_count,
    decode_string,
    decode_unsigned_varint,
    encode_unsigned_varint,
    skip_tagged_fields,
)
from .current_leader import NO_TAGGED_FIELDS, CurrentLeader, encode_endpoints, encode_leader
from .frames import FRAME_SIZE_BYTES, FrameError, take_elements

# Record batches, an isolation level, and aborted transactions. Before them: message sets.
BATCHES_SINCE = 4
FLEXIBLE_SINCE = 12
TOPIC_IDS_SINCE = 13
TOPIC_ID_BYTES = 16
# Sessions (KIP-227), and an error code of the response itself.
SESSIONS_SINCE = 7
# From this version on, the replica id is in a tagged field with the replica's epoch and a count of tagged fields.
REPLICA_STATE_SINCE = 15
_REPLICA_STATE_TAG, _REPLICA_STATE_BYTES_MIN = 1, 4 + 8 + 1
# Kafka has the field from version 12 on, and sets it from this one on.
CURRENT_LEADER_SINCE = 16
_CURRENT_LEADER_TAG = 1
# The epoch and offset where the client's log leaves that of the leader, alone in its tagged fields.
_DIVERGING_EPOCH = Struct(">bbbiqb")
_DIVERGING_EPOCH_TAG, _DIVERGING_EPOCH_BYTES = 0, 4 + 8 + 1

NO_EPOCH = -1
NO_REPLICA = -1
# Partitions of one Fetch and of its session, and topics and partitions of one request. Each append to one of them reads
# them all again. Kafka has no such limit.
FETCH_PARTITIONS_MAX = 20_000

# Versions 0 to 2 have no limit of the whole response (Kafka: FetchRequest.DEFAULT_RESPONSE_MAX_BYTES).
MAX_BYTES_BEFORE_3 = 2**31 - 1

_INT16 = Struct(">h")
_INT32 = Struct(">i")
# max wait, min bytes, max bytes (3), isolation level (4); up to version 14 with the replica id first.
_HEAD_0 = Struct(">iii")
_HEAD_3 = Struct(">iiii")
_HEAD = Struct(">iiib")
_HEAD_WITH_REPLICA = Struct(">iiiib")
_SESSION = Struct(">ii")
# index, leader epoch (9), fetch offset, last fetched epoch (12), log start offset (5), max bytes.
_PARTITION_4 = Struct(">iqi")
_PARTITION_5 = Struct(">iqqi")
_PARTITION_9 = Struct(">iiqqi")
_PARTITION_12 = Struct(">iiqiqi")
_SIZE_AND_CORRELATION_ID = Struct(">ii")
# index, error code, high watermark, last stable offset (4), log start offset (5).
_RESPONSE_0 = Struct(">ihq")
_RESPONSE_4 = Struct(">ihqq")
_RESPONSE_5 = Struct(">ihqqq")
_ABORTED = Struct(">qq")


class FetchPartition(NamedTuple):
    """A partition of a request. A tuple, because a request may have hundreds of partitions."""

    partition: int
    current_leader_epoch: int
    fetch_offset: int
    last_fetched_epoch: int
    max_bytes: int


# The key of the topic (the bytes of its name; from version 13 on its 16-byte id) and the partition index.
PartitionKey = tuple[bytes, int]
# A partition that is named twice keeps the first position and the last values (Kafka: LinkedHashMap).
FetchPartitions = dict[PartitionKey, FetchPartition]


@dataclass(slots=True)
class FetchRequest:
    """A Fetch request.

    forgotten: the partitions to remove from the session. rack: of the client (11), or "" for none.
    replica_id: of a follower; NO_REPLICA for a client.
    """

    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    isolation_level: int
    session_id: int
    session_epoch: int
    partitions: FetchPartitions
    forgotten: list[PartitionKey]
    rack: str = ""
    replica_id: int = NO_REPLICA


@dataclass(slots=True)
class FetchedPartition:
    """A partition of a response.

    aborted_transactions: pairs of producer id and first offset; None is null.
    records: views of the log's memory, not copied. current_leader (16): where to fetch instead.
    diverging_epoch (12): the last epoch that the client's log shares with the leader's, and where it ends there.
    preferred_read_replica (11): the node to fetch from; -1 for this one.
    fetch_offset, last_offset: the offset asked for, and that of the last whole batch in records; -1 if not known. They
    are not encoded.
    """

    index: int
    error_code: int = 0
    high_watermark: int = -1
    last_stable_offset: int = -1
    log_start_offset: int = -1
    aborted_transactions: list[tuple[int, int]] | None = None
    records: list[memoryview] = field(default_factory=list[memoryview])
    records_bytes: int = 0
    current_leader: CurrentLeader | None = None
    diverging_epoch: tuple[int, int] | None = None
    preferred_read_replica: int = -1
    fetch_offset: int = -1
    last_offset: int = -1


# Partitions with the key of their topic, in the order of the response.
FetchedPartitions = list[tuple[bytes, FetchedPartition]]


@dataclass(slots=True)
class FetchResults:
    """A response. session_id: 0 without a session."""

    partitions: FetchedPartitions
    error_code: int = 0
    session_id: int = 0
    throttle_time_ms: int = 0

    def encode(self, correlation_id: int, version: int) -> list[bytes | bytearray | memoryview]:
        """Return the response frame, size and header included, in pieces. Topic keys are written unchanged.

        Adjacent partitions of one topic share one topic entry, as in Kafka (FetchResponse.of).
        """
        return encode_response(correlation_id, version, self)


def decode_request(
    frame: memoryview, position: int, end: int, version: int, elements_max: int = FETCH_PARTITIONS_MAX
) -> FetchRequest:
    """Decode the body in frame[position:end], versions 0-18. Raises FrameError.

    elements_max: of topics and partitions; TooManyElements is raised for more.
    """
    try:
        request, position = _decode(frame, position, end, version, elements_max)
    except (IndexError, StructError) as error:
        raise FrameError(f"Fetch version {version} ends within a field") from error
    if position > end:
        raise FrameError(f"Fetch version {version} goes {position - end} bytes beyond its frame")
    return request


def _decode(frame: memoryview, position: int, end: int, version: int, elements_max: int) -> tuple[FetchRequest, int]:
    head, position = _decode_head(frame, position, version)
    replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level = head
    session_id, session_epoch = 0, NO_EPOCH
    if version >= SESSIONS_SINCE:
        session_id, session_epoch = _SESSION.unpack_from(frame, position)
        position += _SESSION.size
    partitions, position = _decode_topics(frame, position, end, version, elements_max)
    forgotten: list[PartitionKey] = []
    if version >= SESSIONS_SINCE:
        forgotten, position = _decode_forgotten(frame, position, end, version, elements_max)
    rack = b""
    if version >= 11:
        rack, position = _decode_name(frame, position, end, version)
    if version >= FLEXIBLE_SINCE:
        replica_id, position = _decode_tagged_fields(frame, position, end, version, replica_id)
    request = FetchRequest(
        max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, partitions, forgotten
    )
    if rack:
        request.rack = rack.decode(errors="replace")
    if replica_id != NO_REPLICA:
        request.replica_id = replica_id
    return request, position


def _decode_head(frame: memoryview, position: int, version: int) -> tuple[tuple[int, int, int, int, int], int]:
    """Return replica id, max wait, min bytes, max bytes and isolation level, and the position after them."""
    if version >= REPLICA_STATE_SINCE:
        return (NO_REPLICA, *_HEAD.unpack_from(frame, position)), position + _HEAD.size
    if version >= BATCHES_SINCE:
        return _HEAD_WITH_REPLICA.unpack_from(frame, position), position + _HEAD_WITH_REPLICA.size
    if version == 3:
        return (*_HEAD_3.unpack_from(frame, position), 0), position + _HEAD_3.size
    return (*_HEAD_0.unpack_from(frame, position), MAX_BYTES_BEFORE_3, 0), position + _HEAD_0.size


def _decode_tagged_fields(frame: memoryview, position: int, end: int, version: int, replica_id: int) -> tuple[int, int]:
    """Return the replica id, by default replica_id, and the position after the fields."""
    after = skip_tagged_fields(frame, position, end)
    # A client has no tagged field.
    if version >= REPLICA_STATE_SINCE and frame[position]:
        replica_id = _find_replica_id(frame, position, end)
    return replica_id, after


def _find_replica_id(frame: memoryview, position: int, end: int) -> int:
    """Return the replica id in the tagged fields at position, which are whole; NO_REPLICA without one."""
    count, position = decode_unsigned_varint(frame, position, end)
    for _ in range(count):
        tag, position = decode_unsigned_varint(frame, position, end)
        size, position = decode_unsigned_varint(frame, position, end)
        if tag == _REPLICA_STATE_TAG:
            if size < _REPLICA_STATE_BYTES_MIN:
                raise FrameError(f"Fetch: a replica state of {size} bytes; {_REPLICA_STATE_BYTES_MIN} are the least")
            return int(_INT32.unpack_from(frame, position)[0])
        position += size
    return NO_REPLICA


def _decode_topics(
    frame: memoryview, position: int, end: int, version: int, elements_max: int
) -> tuple[FetchPartitions, int]:
    partitions: FetchPartitions = {}
    topic_count, position = _decode_count(frame, position, end, version)
    elements_left = take_elements(elements_max, topic_count, elements_max)
    for _ in range(topic_count):
        key, position = _decode_topic_key(frame, position, end, version)
        partition_count, position = _decode_count(frame, position, end, version)
        elements_left = take_elements(elements_left, partition_count, elements_max)
        for _ in range(partition_count):
            partition, position = _decode_partition(frame, position, version)
            partitions[key, partition.partition] = partition
            if version >= FLEXIBLE_SINCE:
                position = position + 1 if not frame[position] else skip_tagged_fields(frame, position, end)
        if version >= FLEXIBLE_SINCE:
            position = position + 1 if not frame[position] else skip_tagged_fields(frame, position, end)
    return partitions, position


def _decode_partition(frame: memoryview, position: int, version: int) -> tuple[FetchPartition, int]:
    leader_epoch = last_fetched_epoch = NO_EPOCH
    if version >= FLEXIBLE_SINCE:
        index, leader_epoch, fetch_offset, last_fetched_epoch, _, max_bytes = _PARTITION_12.unpack_from(frame, position)
        size = _PARTITION_12.size
    elif version >= 9:
        index, leader_epoch, fetch_offset, _, max_bytes = _PARTITION_9.unpack_from(frame, position)
        size = _PARTITION_9.size
    elif version >= 5:
        index, fetch_offset, _, max_bytes = _PARTITION_5.unpack_from(frame, position)
        size = _PARTITION_5.size
    else:
        index, fetch_offset, max_bytes = _PARTITION_4.unpack_from(frame, position)
        size = _PARTITION_4.size
    return FetchPartition(index, leader_epoch, fetch_offset, last_fetched_epoch, max_bytes), position + size


def _decode_forgotten(
    frame: memoryview, position: int, end: int, version: int, elements_max: int
) -> tuple[list[PartitionKey], int]:
    forgotten: list[PartitionKey] = []
    topic_count, position = _decode_count(frame, position, end, version)
    elements_left = take_elements(elements_max, topic_count, elements_max)
    for _ in range(topic_count):
        key, position = _decode_topic_key(frame, position, end, version)
        count, position = _decode_count(frame, position, end, version)
        elements_left = take_elements(elements_left, count, elements_max)
        if count * _INT32.size > end - position:
            raise FrameError(f"Fetch: {count} forgotten partitions; {end - position} bytes are left")
        forgotten += [(key, _INT32.unpack_from(frame, position + 4 * at)[0]) for at in range(count)]
        position += count * _INT32.size
        if version >= FLEXIBLE_SINCE:
            position = skip_tagged_fields(frame, position, end)
    return forgotten, position


def _decode_topic_key(frame: memoryview, position: int, end: int, version: int) -> tuple[bytes, int]:
    if version < TOPIC_IDS_SINCE:
        return _decode_name(frame, position, end, version)
    return bytes(frame[position : position + TOPIC_ID_BYTES]), position + TOPIC_ID_BYTES


def _decode_name(frame: memoryview, position: int, end: int, version: int) -> tuple[bytes, int]:
    decode = decode_compact_string if version >= FLEXIBLE_SINCE else decode_string
    name, position = decode(frame, position, end)
    if name is None:
        raise FrameError("Fetch: a string that must not be null is null")
    return name, position


def _decode_count(frame: memoryview, position: int, end: int, version: int) -> tuple[int, int]:
    decode = decode_compact_count if version >= FLEXIBLE_SINCE else decode_count
    return decode(frame, position, end)


def encode_response(correlation_id: int, version: int, results: FetchResults) -> list[bytes | bytearray | memoryview]:
    """Return the response frame, see FetchResults.encode."""
    topics = [(key, [partition for _, partition in group]) for key, group in groupby(results.partitions, itemgetter(0))]
    is_flexible = version >= FLEXIBLE_SINCE
    pieces: list[bytes | bytearray | memoryview] = []
    # Size, correlation id, response header.
    head = piece = bytearray(9 if is_flexible else 8)
    if version >= 1:
        piece += _INT32.pack(results.throttle_time_ms)
    if version >= SESSIONS_SINCE:
        piece += _INT16.pack(results.error_code) + _INT32.pack(results.session_id)
    piece += _encode_count(len(topics), is_flexible)
    records_bytes = 0
    for key, partitions in topics:
        if version < TOPIC_IDS_SINCE:
            piece += encode_unsigned_varint(len(key) + 1) if is_flexible else _INT16.pack(len(key))
        piece += key
        piece += _encode_count(len(partitions), is_flexible)
        for partition in partitions:
            _encode_partition(piece, partition, version)
            if partition.records:
                pieces.append(piece)
                pieces += partition.records
                records_bytes += partition.records_bytes
                piece = bytearray()
            if is_flexible:
                piece += _encode_tagged_fields(partition)
        if is_flexible:
            piece += NO_TAGGED_FIELDS
    if is_flexible:
        piece += encode_endpoints(partition.current_leader for _, partition in results.partitions)
    if piece:
        pieces.append(piece)
    size = sum(len(written) for written in pieces if isinstance(written, bytearray)) + records_bytes
    _SIZE_AND_CORRELATION_ID.pack_into(head, 0, size - FRAME_SIZE_BYTES, correlation_id)
    return pieces


def _encode_tagged_fields(partition: FetchedPartition) -> bytes:
    """Return the tagged fields of a partition, of which it has at most one: an error has a leader, and no epoch."""
    if partition.diverging_epoch is None:
        return encode_leader(_CURRENT_LEADER_TAG, partition.current_leader)
    head = 1, _DIVERGING_EPOCH_TAG, _DIVERGING_EPOCH_BYTES
    return _DIVERGING_EPOCH.pack(*head, *partition.diverging_epoch, 0)


def _encode_partition(piece: bytearray, partition: FetchedPartition, version: int) -> None:
    """Append the fields of a partition up to its records."""
    if version < BATCHES_SINCE:
        piece += _RESPONSE_0.pack(partition.index, partition.error_code, partition.high_watermark)
        piece += _INT32.pack(partition.records_bytes)
        return
    is_flexible = version >= FLEXIBLE_SINCE
    head = (partition.index, partition.error_code, partition.high_watermark, partition.last_stable_offset)
    piece += _RESPONSE_4.pack(*head) if version < 5 else _RESPONSE_5.pack(*head, partition.log_start_offset)
    aborted = partition.aborted_transactions
    if aborted is None:
        piece += b"\0" if is_flexible else b"\xff\xff\xff\xff"
    else:
        piece += _encode_count(len(aborted), is_flexible)
        for producer_id, first_offset in aborted:
            piece += _ABORTED.pack(producer_id, first_offset)
            if is_flexible:
                piece += b"\0"
    if version >= 11:
        piece += _INT32.pack(partition.preferred_read_replica)
    piece += _encode_count(partition.records_bytes, is_flexible)


def _encode_count(count: int, is_flexible: bool) -> bytes:
    return encode_unsigned_varint(count + 1) if is_flexible else _INT32.pack(count)
