"""Checks on the records of a Produce request before they are appended: they must be one whole batch of magic 2.

Batches are found as in Kafka: bytes too short for a batch end the records without an error, an invalid length or magic
is an error.
Source: ByteBufferLogInputStream.nextBatchSize, ProduceRequest.validateRecords, RequestUtils.hasTransactionalRecords,
Kafka 4.3.0; the order of the checks is that of the golden cases V31 to V48.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

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
from .error_codes import ErrorCode, KafkaError
from .request_refused import RequestRefused
from .sequences import MAX_SEQUENCE

if TYPE_CHECKING:
    from mypy_extensions import i64

# The bytes after the length field in the shortest message of any magic: magic 0 without key and value.
_RECORD_OVERHEAD_MIN: Final = 14

# The first version of Produce that allows zstd.
ZSTD_VERSION_MIN = 7

# The empty tagged fields of partition, topic and request that end a request of one partition.
NO_TAGGED_FIELDS: Final = b"\0\0\0"
_NO_TAGGED_FIELDS_BYTES: Final = 3

_INT32 = Struct(">i")
# A varint has at most 5 bytes of 7 bits.
_VARINT_BYTES_MAX: Final = 5
_VARINT_BITS_MAX: Final = 35
_LENGTH_POSITION = 8
# length, magic and attributes, at their positions in a header.
_PLAIN: Final = Struct(">8xi4xb4xh").unpack_from
_PRODUCER = Struct(">qh")
_PRODUCER_POSITION = 43
_BASE_SEQUENCE_POSITION = 53


class TransactionalProducer(NamedTuple):
    """The producer of a transactional batch. A tuple, because every transactional batch creates one."""

    producer_id: int
    producer_epoch: int


def find_plain_batch(body: bytes, position: i64, size: i64) -> i64:
    """Return where the batch of a Produce request begins, if is_plain_batch would be true for it; else 0.

    body: the whole body of a request of one partition, or its first bytes. size: of the whole body, which must end with
    NO_TAGGED_FIELDS; the caller checks that of a body that is not whole. position: of the compact size of the records.
    """
    start = position
    records_size: i64 = 0
    shift: i64 = 0
    if start + _VARINT_BYTES_MAX + HEADER_SIZE > len(body):
        return 0
    while shift < _VARINT_BITS_MAX:
        byte: i64 = body[start]
        start += 1
        records_size |= (byte & 127) << shift
        if byte < 128:
            break
        shift += 7
    records_size -= 1
    if records_size < HEADER_SIZE or start + records_size + _NO_TAGGED_FIELDS_BYTES != size:
        return 0
    if size == len(body) and (body[size - 1] or body[size - 2] or body[size - 3]):
        return 0
    length: i64 = 0
    for index in range(start + _LENGTH_POSITION, start + LOG_OVERHEAD):
        length = length << 8 | body[index]
    magic: i64 = body[start + MAGIC_POSITION]
    attributes: i64 = body[start + ATTRIBUTES_POSITION + 1]
    is_plain = length + LOG_OVERHEAD == records_size and magic == MAGIC_V2 and not attributes & TRANSACTIONAL_BIT
    return start if is_plain else 0


def is_plain_batch(records: memoryview) -> bool:
    """Whether the records are one whole batch of magic 2 without a transaction, as most are.

    From version 7 on, which allows every codec, such a batch passes all checks of this module.
    """
    if len(records) < HEADER_SIZE:
        return False
    fields: tuple[int, ...] = _PLAIN(records)
    # length, magic, attributes.
    is_whole = fields[0] + LOG_OVERHEAD == len(records)
    return is_whole and fields[1] == MAGIC_V2 and not fields[2] & TRANSACTIONAL_BIT


def first_batch_size(records: memoryview) -> int | None:
    """Return the size of the first batch, which may go beyond records; None if its length or magic is missing.

    Raises KafkaError CORRUPT_MESSAGE, with Kafka's error message, for an invalid length or magic.
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
        # The sum overflows Java's int, and Kafka fails on the negative size.
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"a batch of {length} bytes and {LOG_OVERHEAD} more")
    return LOG_OVERHEAD + length


def _find_first_batch(records: memoryview) -> memoryview | None:
    size = first_batch_size(records)
    return records[:size] if size is not None and size <= len(records) else None


def has_whole_batch(records: memoryview | None) -> bool:
    """Whether the records begin with a whole batch, whatever its content: of any known magic, with a valid length."""
    try:
        return records is not None and _find_first_batch(records) is not None
    except KafkaError:
        return False


def has_transactional_batch(records: memoryview | None) -> bool:
    """Whether the first batch is transactional; the first check of each partition.

    Raises RequestRefused for an invalid length or magic, for which Kafka rejects the whole request.
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
    """Return the producer of a transactional batch; None for another batch, and for one without a producer id.

    batch: a result of check_produced_records.
    Raises RequestRefused if batch ends before its producer id: Kafka reads beyond its end and fails the request.
    """
    if len(batch) < _PRODUCER_POSITION + 8:
        raise RequestRefused(
            ErrorCode.UNKNOWN_SERVER_ERROR, f"a batch of {len(batch)} bytes ends before its producer id"
        )
    if not batch[ATTRIBUTES_POSITION + 1] & TRANSACTIONAL_BIT:
        return None
    if batch[_PRODUCER_POSITION] > 127:  # the sign bit: a negative producer id means none
        return None
    if len(batch) < _PRODUCER_POSITION + _PRODUCER.size:
        raise RequestRefused(ErrorCode.UNKNOWN_SERVER_ERROR, f"a batch of {len(batch)} bytes ends in its producer")
    producer_id, producer_epoch = _PRODUCER.unpack_from(batch, _PRODUCER_POSITION)
    return TransactionalProducer(producer_id, producer_epoch)


def base_sequence_of(batch: memoryview) -> int:
    """Return the sequence of the batch's first record. Raises RequestRefused if batch ends before it."""
    if len(batch) < _BASE_SEQUENCE_POSITION + _INT32.size:
        raise RequestRefused(ErrorCode.UNKNOWN_SERVER_ERROR, f"a batch of {len(batch)} bytes ends before its sequence")
    sequence: int = _INT32.unpack_from(batch, _BASE_SEQUENCE_POSITION)[0]
    return sequence


def check_produced_records(records: memoryview | None, version: int) -> memoryview:
    """Return the one batch of a partition's records, without an incomplete batch that may follow it.

    version: of the Produce request.
    Raises KafkaError for this partition, without a message for the client: INVALID_RECORD,
    UNSUPPORTED_COMPRESSION_TYPE, CORRUPT_MESSAGE for the bytes after the batch. Raises RequestRefused for an unknown
    codec. Null records are INVALID_RECORD; Kafka sends no response to them.
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
