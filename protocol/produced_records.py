"""What a Produce request's records must be before a log looks at them: whole batches, one of them, of magic 2.

Batches are found as Kafka finds them: too few bytes for the next one end the records without a word, a length or magic
that cannot be is an error.
Source: ByteBufferLogInputStream.nextBatchSize, ProduceRequest.validateRecords, RequestUtils.hasTransactionalRecords,
Kafka 4.3.0; the order of the checks was measured (V31 to V48 of the golden cases).
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from .batches.record_batch import (
    ATTRIBUTES_POSITION,
    COMPRESSION_MASK,
    COMPRESSION_MAX,
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC_POSITION,
    MAGIC_V2,
    TRANSACTIONAL_BIT,
    Compression,
)
from .buffer_codec import decode_unsigned_varint
from .error_codes import ErrorCode, KafkaError
from .sequences import MAX_SEQUENCE

# Bytes after the length field in the shortest message there ever was: one of magic 0 without key and value.
_RECORD_OVERHEAD_MIN = 14

# Produce requests before this version may not carry zstd.
ZSTD_VERSION_MIN = 7

# The ends of the partition, the topic and the request behind the records of a request of one partition.
NO_TAGGED_FIELDS = b"\0\0\0"
_TAGGED_FIELDS = Struct(f"{len(NO_TAGGED_FIELDS)}s")

_INT32 = Struct(">i")
_LENGTH_POSITION = 8
# length, magic, attributes, where a header has them.
_PLAIN = Struct(">8xi4xb4xh")
_PRODUCER = Struct(">qh")
_PRODUCER_POSITION = 43
_BASE_SEQUENCE_POSITION = 53


class RequestRefused(KafkaError):
    """An error that every partition of the request is answered with; nothing of the request is appended.

    message_for_client: the error_message Kafka sends with it, None where it sends none.
    """

    def __init__(self, code: ErrorCode, message: str, message_for_client: str | None = None) -> None:
        """Keep the code, our words and Kafka's."""
        super().__init__(code, message)
        self.message_for_client = message_for_client


class TransactionalProducer(NamedTuple):
    """Whose transaction a batch belongs to; a tuple, because one is made for every batch of a transaction."""

    producer_id: int
    producer_epoch: int


def find_plain_batch(frame: memoryview, position: int, end: int) -> memoryview | None:
    """Return the batch that ends a Produce request of one partition, if is_plain_batch holds for it.

    position: where the compact size of the records begins, the `head_end` of an earlier request with the same head.
    Returns None also for a request with tagged fields behind the records.
    """
    size = frame[position]
    position += 1
    if size > 127:
        if position < end and frame[position] <= 127:
            size += frame[position] * 128 - 128
            position += 1
        else:
            size, position = decode_unsigned_varint(frame, position - 1, end)
    records_end = position + size - 1
    if records_end + _TAGGED_FIELDS.size != end or size <= HEADER_SIZE:
        return None
    length, magic, attributes = _PLAIN.unpack_from(frame, position)
    if magic != MAGIC_V2 or length + LOG_OVERHEAD != size - 1 or attributes & TRANSACTIONAL_BIT:
        return None
    (tagged_fields,) = _TAGGED_FIELDS.unpack_from(frame, records_end)
    return frame[position:records_end] if tagged_fields == NO_TAGGED_FIELDS else None


def is_plain_batch(records: memoryview) -> bool:
    """Whether the records are one whole batch of magic 2 and of no transaction, as nearly all are.

    It passes every check of this module (from version 7 on, which knows every codec), so that one look is enough.
    """
    if len(records) < HEADER_SIZE:
        return False
    length, magic, attributes = _PLAIN.unpack_from(records)
    return magic == MAGIC_V2 and length + LOG_OVERHEAD == len(records) and not attributes & TRANSACTIONAL_BIT


def first_batch_size(records: memoryview) -> int | None:
    """Return the size of the first batch, which may reach past the end, or None if there is too little to tell.

    Raises KafkaError CORRUPT_MESSAGE with Kafka's words for a length or magic that cannot be.
    """
    if len(records) < LOG_OVERHEAD:
        return None
    length: int = _INT32.unpack_from(records, _LENGTH_POSITION)[0]
    if length < _RECORD_OVERHEAD_MIN:
        raise KafkaError(
            ErrorCode.CORRUPT_MESSAGE,
            f"Record size {length} is less than the minimum record overhead ({_RECORD_OVERHEAD_MIN})",
        )
    if len(records) <= MAGIC_POSITION:
        return None
    magic = records[MAGIC_POSITION]
    if magic > MAGIC_V2:
        signed_magic = magic - 256 if magic > 127 else magic
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, f"Invalid magic found in record: {signed_magic}")
    if length > MAX_SEQUENCE - LOG_OVERHEAD:
        # The sum overflows Java's int and Kafka fails on the negative size.
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"a batch of {length} bytes and {LOG_OVERHEAD} more")
    return LOG_OVERHEAD + length


def _find_first_batch(records: memoryview) -> memoryview | None:
    size = first_batch_size(records)
    return records[:size] if size is not None and size <= len(records) else None


def has_transactional_batch(records: memoryview | None) -> bool:
    """Whether the first batch is transactional; the first look at any partition of a request.

    Raises RequestRefused where Kafka refuses the whole request for one bad length or magic.
    """
    if records is None:
        return False
    try:
        batch = _find_first_batch(records)
    except KafkaError as error:
        shown = error.message if error.code is ErrorCode.CORRUPT_MESSAGE else None
        raise RequestRefused(error.code, error.message, shown) from None
    if batch is None or batch[MAGIC_POSITION] != MAGIC_V2:
        return False
    return batch[ATTRIBUTES_POSITION + 1] & TRANSACTIONAL_BIT != 0


def transactional_producer_of(batch: memoryview) -> TransactionalProducer | None:
    """Return whose transaction the batch belongs to; None if it belongs to none, or has no producer id.

    batch: what check_produced_records returned.
    Raises RequestRefused for a batch too short to hold a producer id: Kafka reads past its end and fails the request.
    """
    if len(batch) < _PRODUCER_POSITION + 8:
        raise RequestRefused(
            ErrorCode.UNKNOWN_SERVER_ERROR, f"a batch of {len(batch)} bytes ends before its producer id"
        )
    if not batch[ATTRIBUTES_POSITION + 1] & TRANSACTIONAL_BIT:
        return None
    if batch[_PRODUCER_POSITION] > 127:  # the sign: any negative producer id is none
        return None
    if len(batch) < _PRODUCER_POSITION + _PRODUCER.size:
        raise RequestRefused(ErrorCode.UNKNOWN_SERVER_ERROR, f"a batch of {len(batch)} bytes ends in its producer")
    producer_id, producer_epoch = _PRODUCER.unpack_from(batch, _PRODUCER_POSITION)
    return TransactionalProducer(producer_id, producer_epoch)


def base_sequence_of(batch: memoryview) -> int:
    """Return the sequence of the batch's first record; raises RequestRefused where it ends before that."""
    if len(batch) < _BASE_SEQUENCE_POSITION + _INT32.size:
        raise RequestRefused(ErrorCode.UNKNOWN_SERVER_ERROR, f"a batch of {len(batch)} bytes ends before its sequence")
    sequence: int = _INT32.unpack_from(batch, _BASE_SEQUENCE_POSITION)[0]
    return sequence


def check_produced_records(records: memoryview | None, version: int) -> memoryview:
    """Return the one batch that the records of a partition are, without the torn bytes that may follow it.

    version: of the Produce request.
    Raises KafkaError, which concerns this partition (the client gets no message with it): INVALID_RECORD,
    UNSUPPORTED_COMPRESSION_TYPE, CORRUPT_MESSAGE for what follows the batch; RequestRefused for a codec that is none.
    Null records, which Kafka never answers, are INVALID_RECORD.
    """
    if records is None:
        raise KafkaError(ErrorCode.INVALID_RECORD, "the records are null")
    size = first_batch_size(records)
    if size is None or size > len(records):
        raise KafkaError(ErrorCode.INVALID_RECORD, f"no complete batch in {len(records)} bytes")
    if records[MAGIC_POSITION] != MAGIC_V2:
        raise KafkaError(ErrorCode.INVALID_RECORD, f"a batch of magic {records[MAGIC_POSITION]}, not {MAGIC_V2}")
    if version < ZSTD_VERSION_MIN:
        _check_codec(records[ATTRIBUTES_POSITION + 1] & COMPRESSION_MASK, version)
    if size == len(records):
        return records
    rest = records[size:]
    second_size = first_batch_size(rest)
    if second_size is not None and second_size <= len(rest):
        raise KafkaError(ErrorCode.INVALID_RECORD, f"a second batch of {second_size} bytes follows the first")
    return records[:size]


def _check_codec(codec: int, version: int) -> None:
    if codec == Compression.ZSTD:
        raise KafkaError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, f"zstd in a Produce request of version {version}")
    if codec > COMPRESSION_MAX:
        raise RequestRefused(ErrorCode.UNKNOWN_SERVER_ERROR, f"codec {codec} in a Produce request of version {version}")
