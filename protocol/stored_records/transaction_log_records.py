"""Records of __transaction_state: the state of each transactional id.

A key is its type (int16, 0) and the transactional id. A value is its version (int16) and its fields. Version 0 is for
brokers before transaction.version 1. Version 1 is flexible, and has the newer fields as tagged fields.
Source: TransactionLog, TransactionLogKey.json and TransactionLogValue.json, Kafka 4.3.0; tests/golden has such a log.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Self

from ..frames import FrameError
from ..primitives import INT32, Reader, Writer

NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1
NO_TIMESTAMP = -1

KEY_TYPE = 0
FLEXIBLE_SINCE = 1
_VERSION_MAX = 1

_PREVIOUS_PRODUCER_ID_TAG = 0
_NEXT_PRODUCER_ID_TAG = 1
_CLIENT_VERSION_TAG = 2
_NEXT_PRODUCER_EPOCH_TAG = 3
_READ_BY_TAG = {
    _PREVIOUS_PRODUCER_ID_TAG: Reader.int64,
    _NEXT_PRODUCER_ID_TAG: Reader.int64,
    _CLIENT_VERSION_TAG: Reader.int16,
    _NEXT_PRODUCER_EPOCH_TAG: Reader.int16,
}
_WRITE_BY_TAG = {
    _PREVIOUS_PRODUCER_ID_TAG: Writer.int64,
    _NEXT_PRODUCER_ID_TAG: Writer.int64,
    _CLIENT_VERSION_TAG: Writer.int16,
    _NEXT_PRODUCER_EPOCH_TAG: Writer.int16,
}

# The size of a topic without name and partitions: in version 1 two lengths and the tagged fields, of one byte each.
_TOPIC_BYTES_MIN = 3


class TransactionStatus(IntEnum):
    """The state of a transactional id, as the log stores it."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    DEAD = 6
    PREPARE_EPOCH_FENCE = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionLogValue:
    """The state of a transactional id. Times are in ms.

    partitions: those without a transaction marker yet, by topic; None if the producer has had no transaction.
    previous_producer_id, next_producer_id: before and after an exhausted epoch; NO_PRODUCER_ID for none.
    client_transaction_version: the transaction version of the client's last request.
    """

    producer_id: int
    producer_epoch: int
    timeout_ms: int
    status: TransactionStatus
    partitions: Mapping[str, list[int]] | None
    last_update_ms: int
    start_ms: int = NO_TIMESTAMP
    previous_producer_id: int = NO_PRODUCER_ID
    next_producer_id: int = NO_PRODUCER_ID
    client_transaction_version: int = 0
    next_producer_epoch: int = NO_PRODUCER_EPOCH

    @classmethod
    def read(cls, value: bytes) -> Self:
        """Read a value of any version. Raises FrameError."""
        reader = Reader(value)
        version = reader.int16()
        if not 0 <= version <= _VERSION_MAX:
            raise FrameError(f"version {version} of the value of a transactional id")
        producer_id, producer_epoch, timeout_ms = reader.int64(), reader.int16(), reader.int32()
        status = _status_of(reader.int8())
        is_flexible = version >= FLEXIBLE_SINCE
        partitions = _read_partitions(reader, is_flexible=is_flexible)
        last_update_ms, start_ms = reader.int64(), reader.int64()
        tagged = reader.tagged_fields(_READ_BY_TAG) if is_flexible else {}
        return cls(
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            timeout_ms=timeout_ms,
            status=status,
            partitions=partitions,
            last_update_ms=last_update_ms,
            start_ms=start_ms,
            previous_producer_id=tagged.get(_PREVIOUS_PRODUCER_ID_TAG, NO_PRODUCER_ID),
            next_producer_id=tagged.get(_NEXT_PRODUCER_ID_TAG, NO_PRODUCER_ID),
            client_transaction_version=tagged.get(_CLIENT_VERSION_TAG, 0),
            next_producer_epoch=tagged.get(_NEXT_PRODUCER_EPOCH_TAG, NO_PRODUCER_EPOCH),
        )

    def encode(self, version: int) -> bytes:
        """Return the value in a version. Version 0 omits the tagged fields."""
        writer = Writer()
        writer.int16(version)
        writer.int64(self.producer_id)
        writer.int16(self.producer_epoch)
        writer.int32(self.timeout_ms)
        writer.int8(self.status)
        is_flexible = version >= FLEXIBLE_SINCE
        _write_partitions(writer, self.partitions, is_flexible=is_flexible)
        writer.int64(self.last_update_ms)
        writer.int64(self.start_ms)
        if is_flexible:
            self._write_tagged(writer)
        return writer.getvalue()

    def _write_tagged(self, writer: Writer) -> None:
        fields: list[tuple[int, Writer]] = []
        for tag, value, default in (
            (_PREVIOUS_PRODUCER_ID_TAG, self.previous_producer_id, NO_PRODUCER_ID),
            (_NEXT_PRODUCER_ID_TAG, self.next_producer_id, NO_PRODUCER_ID),
            (_CLIENT_VERSION_TAG, self.client_transaction_version, 0),
            (_NEXT_PRODUCER_EPOCH_TAG, self.next_producer_epoch, NO_PRODUCER_EPOCH),
        ):
            if value != default:
                field = Writer()
                _WRITE_BY_TAG[tag](field, value)
                fields.append((tag, field))
        writer.tagged_fields(fields)


def encode_key(transactional_id: str) -> bytes:
    """Return the key of a transactional id. Raises ValueError if the id is too long."""
    writer = Writer()
    writer.int16(KEY_TYPE)
    writer.string(transactional_id)
    return writer.getvalue()


def decode_key(key: bytes) -> str | None:
    """Return the transactional id of a key, None for a key of another type. Raises FrameError."""
    reader = Reader(key)
    return reader.string() if reader.int16() == KEY_TYPE else None


def _status_of(number: int) -> TransactionStatus:
    try:
        return TransactionStatus(number)
    except ValueError as error:
        raise FrameError(f"state {number} of a transactional id") from error


def _read_partitions(reader: Reader, *, is_flexible: bool) -> dict[str, list[int]] | None:
    count = reader.nullable_array_length(_TOPIC_BYTES_MIN, is_flexible)
    if count is None:
        return None
    partitions: dict[str, list[int]] = {}
    for _ in range(count):
        topic = reader.string(is_flexible)
        partitions.setdefault(topic, []).extend(reader.integer_array(INT32, is_flexible))
        if is_flexible:
            reader.skip_tagged_fields()
    return partitions


def _write_partitions(writer: Writer, partitions: Mapping[str, list[int]] | None, *, is_flexible: bool) -> None:
    if is_flexible:
        writer.unsigned_varint(0 if partitions is None else len(partitions) + 1)
    else:
        writer.int32(-1 if partitions is None else len(partitions))
    for topic, indexes in (partitions or {}).items():
        if is_flexible:
            writer.compact_string(topic)
            writer.unsigned_varint(len(indexes) + 1)
        else:
            writer.string(topic)
            writer.int32(len(indexes))
        for index in indexes:
            writer.int32(index)
        if is_flexible:
            writer.unsigned_varint(0)
