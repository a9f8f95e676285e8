"""Validation of a batch in Kafka's order: error code, log start offset and error message of each check."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest

from fauxka.protocol.batches.compression import compress
from fauxka.protocol.batches.record_batch import Compression, TimestampType, parse_header
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch, decode_batch
from fauxka.protocol.error_codes import ErrorCode
from fauxka.storage.append_refused import AppendRefused, RecordError
from fauxka.storage.log_config import LONG_MAX, CleanupPolicy, LogConfig, RecordValidation
from fauxka.storage.log_validator import LogValidator, LongValidation

from ..protocol.batch_bytes import NOW_MS, batch, record, records, zigzag
from .logs import append, batches_in, new_log, read_all, read_bytes, sized_batch

LOG_START = 5
HOUR_MS = 3_600_000
COMPACTED = LogConfig(cleanup_policies=frozenset({CleanupPolicy.COMPACT}))
APPEND_TIME = LogConfig(message_timestamp_type=TimestampType.LOG_APPEND_TIME)
TRUSTING = LogConfig(record_validation=RecordValidation.BATCH)


def no_pause() -> None:
    """Let no other thread run: there is none."""


def refusal(data: bytes, config: LogConfig | None = None) -> AppendRefused:
    validator = LogValidator("topic-0", config or LogConfig(), no_pause)
    with pytest.raises(AppendRefused) as raised:
        validator.validate(memoryview(data), NOW_MS, LOG_START)
    return raised.value


def compressed(codec: Compression, content: bytes, *, count: int) -> bytes:
    return batch(compress(codec, content), count=count, attributes=codec)


SHORT = struct.pack(">qi", 0, 40) + batch()[12:52]
LONG = bytes(2000)
# In the order of the checks; each batch also has the faults of later checks, where possible.
REFUSED = {
    "base offset, and too large, and a wrong CRC": (
        batch(record(LONG), base_offset=7, crc_error=1),
        ErrorCode.INVALID_RECORD,
        LOG_START,
    ),
    "base offset below zero": (batch(base_offset=-1), ErrorCode.INVALID_RECORD, LOG_START),
    "too large, and a wrong CRC": (batch(record(LONG), crc_error=1), ErrorCode.MESSAGE_TOO_LARGE, -1),
    "wrong CRC, and a codec that is none": (batch(attributes=5, crc_error=1), ErrorCode.CORRUPT_MESSAGE, -1),
    "shorter than a header": (SHORT, ErrorCode.CORRUPT_MESSAGE, -1),
    "shorter than a header, and a base offset": (b"\1" + SHORT[1:], ErrorCode.INVALID_RECORD, LOG_START),
    "length that is not the batch's": (batch(length_error=1), ErrorCode.CORRUPT_MESSAGE, -1),
    "codec that is none, and no records": (
        batch(b"", count=0, attributes=5),
        ErrorCode.UNKNOWN_SERVER_ERROR,
        LOG_START,
    ),
    "codec 7": (batch(attributes=7), ErrorCode.UNKNOWN_SERVER_ERROR, LOG_START),
    "no records": (batch(b"", count=0), ErrorCode.INVALID_RECORD, LOG_START),
    "no records, last offset delta 0": (batch(b"", count=0, last_offset_delta=0), ErrorCode.INVALID_RECORD, LOG_START),
    "count above the deltas": (batch(count=2, last_offset_delta=0), ErrorCode.INVALID_RECORD, LOG_START),
    "count below the deltas": (batch(count=2, last_offset_delta=5), ErrorCode.INVALID_RECORD, LOG_START),
    "last offset delta -1": (batch(last_offset_delta=-1), ErrorCode.INVALID_RECORD, LOG_START),
    "control batch": (batch(attributes=0x20), ErrorCode.INVALID_RECORD, LOG_START),
    "producer without sequence": (batch(producer_id=5, base_sequence=-1), ErrorCode.INVALID_RECORD, LOG_START),
    "producer with sequence -2": (batch(producer_id=5, base_sequence=-2), ErrorCode.INVALID_RECORD, LOG_START),
    "fewer records than said": (batch(records(2), count=3), ErrorCode.INVALID_RECORD, LOG_START),
    "more records than said": (batch(records(2), count=1), ErrorCode.INVALID_RECORD, LOG_START),
    "record length too large": (batch(record(length_error=1)), ErrorCode.INVALID_RECORD, LOG_START),
    "record length too small": (batch(record(length_error=-1)), ErrorCode.INVALID_RECORD, LOG_START),
    "record length without end": (batch(b"\xff" * 12), ErrorCode.UNKNOWN_SERVER_ERROR, LOG_START),
    "gzip that is none": (batch(records(1), attributes=1), ErrorCode.UNKNOWN_SERVER_ERROR, LOG_START),
    "lz4 that is none": (batch(b"\0\1\2", attributes=3), ErrorCode.UNKNOWN_SERVER_ERROR, LOG_START),
    "zstd that is none": (batch(b"\0\1\2", attributes=4), ErrorCode.UNKNOWN_SERVER_ERROR, LOG_START),
    "fewer compressed records than said": (
        compressed(Compression.GZIP, records(2), count=3),
        ErrorCode.INVALID_RECORD,
        LOG_START,
    ),
    "compressed record length without end": (
        compressed(Compression.GZIP, b"\xff" * 12, count=1),
        ErrorCode.INVALID_RECORD,
        LOG_START,
    ),
    "compressed offset deltas that do not count": (
        compressed(Compression.GZIP, record() + record(offset_delta=5), count=2),
        ErrorCode.UNKNOWN_SERVER_ERROR,
        LOG_START,
    ),
}


@pytest.mark.parametrize(("data", "code", "log_start_offset"), REFUSED.values(), ids=REFUSED)
def test_batch_is_refused_with_the_first_of_its_faults(data: bytes, code: ErrorCode, log_start_offset: int) -> None:
    refused = refusal(data, LogConfig(max_message_bytes=1000))

    assert (refused.code, refused.log_start_offset) == (code, log_start_offset)
    assert (refused.message_for_client, refused.record_errors) == (None, ())
    assert refused.message


def test_refused_batch_leaves_the_log_as_it_was() -> None:
    log = new_log()
    append(log, batch())
    before = read_all(log)

    with pytest.raises(AppendRefused):
        append(log, batch(crc_error=1))

    assert (log.log_end_offset, read_all(log)) == (1, before)


def test_batch_of_exactly_max_message_bytes_is_taken() -> None:
    log = new_log(LogConfig(max_message_bytes=500))

    append(log, sized_batch(500))
    with pytest.raises(AppendRefused) as raised:
        append(log, sized_batch(501))

    assert raised.value.code is ErrorCode.MESSAGE_TOO_LARGE


def test_size_limit_is_of_the_compressed_bytes() -> None:
    log = new_log(LogConfig(max_message_bytes=500))

    append(log, compressed(Compression.GZIP, record(bytes(5000)), count=1))

    assert log.log_end_offset == 1


def test_wrong_offset_deltas_of_plain_records_are_stored_as_they_came() -> None:
    log = new_log()
    sent = batch(record() + record(offset_delta=5), count=2)

    append(log, sent)

    assert read_all(log)[16:] == sent[16:]
    assert log.log_end_offset == 2


def test_compressed_records_with_wrong_lengths_are_taken_as_kafka_takes_them() -> None:
    log = new_log()

    append(log, compressed(Compression.GZIP, record(length_error=3), count=1))

    assert log.log_end_offset == 1


@pytest.mark.parametrize("attributes", [0x40, 0x80, 0x7F00])
def test_unused_attributes_are_stored_as_they_came(attributes: int) -> None:
    log = new_log()

    append(log, batch(attributes=attributes))

    assert parse_header(read_all(log)).attributes == attributes


@pytest.mark.parametrize(
    "data", [batch(record(attributes=7)), batch(record(None)), batch(record(headers=[(b"h", None)]))]
)
def test_odd_records_are_stored_as_they_came(data: bytes) -> None:
    log = new_log()

    append(log, data)

    assert read_all(log)[16:] == data[16:]


@pytest.mark.parametrize("timestamp", [NOW_MS + HOUR_MS, 0, -1, -2, NOW_MS - LONG_MAX - 1, NOW_MS])
def test_timestamp_is_taken(timestamp: int) -> None:
    log = new_log()

    result = append(log, batch(base_timestamp=timestamp, max_timestamp=max(timestamp, -1)))

    assert result.log_append_time_ms == -1
    assert parse_header(read_all(log)).max_timestamp == max(timestamp, -1)


@pytest.mark.parametrize("timestamp", [NOW_MS + HOUR_MS + 1, LONG_MAX, NOW_MS - LONG_MAX - 2])
def test_timestamp_out_of_bounds_as_java_subtracts_is_refused_with_kafkas_words(timestamp: int) -> None:
    refused = refusal(batch(base_timestamp=timestamp))

    assert (refused.code, refused.log_start_offset) == (ErrorCode.INVALID_TIMESTAMP, LOG_START)
    assert refused.message_for_client == "One or more records have been rejected due to invalid timestamp"
    assert refused.record_errors == (
        RecordError(
            0,
            f"Timestamp {timestamp} of message with offset 0 is out of range. "
            f"The timestamp should be within [{NOW_MS - LONG_MAX}, {NOW_MS + HOUR_MS}]",
        ),
    )


def test_every_record_with_a_wrong_timestamp_is_named() -> None:
    deltas = (0, HOUR_MS + 1, 5, HOUR_MS + 9)
    content = b"".join(record(offset_delta=index, timestamp_delta=delta) for index, delta in enumerate(deltas))

    refused = refusal(batch(content, count=4))

    assert [error.batch_index for error in refused.record_errors] == [1, 3]


def test_timestamp_too_old_is_refused_and_none_at_all_is_not() -> None:
    strict = LogConfig(message_timestamp_before_max_ms=1000)

    assert refusal(batch(base_timestamp=NOW_MS - 1001), strict).code is ErrorCode.INVALID_TIMESTAMP
    log = new_log(strict)
    append(log, batch(base_timestamp=NOW_MS - 1000))
    append(log, batch(base_timestamp=-1))
    assert log.log_end_offset == 2


def test_sum_of_timestamps_that_wraps_is_judged_as_java_adds() -> None:
    log = new_log(LogConfig(message_timestamp_after_max_ms=LONG_MAX))

    append(log, batch(record(timestamp_delta=10), base_timestamp=LONG_MAX))

    assert parse_header(read_all(log)).max_timestamp == -1


def test_wrong_max_timestamp_is_corrected_with_its_crc() -> None:
    log = new_log()
    content = record() + record(offset_delta=1, timestamp_delta=500)

    append(log, batch(content, count=2, max_timestamp=NOW_MS + 99_999))

    stored = read_all(log)
    assert parse_header(stored).max_timestamp == NOW_MS + 500
    _, _, max_timestamp, _ = LogValidator("topic-0", LogConfig()).validate(memoryview(stored), NOW_MS, 0)
    assert max_timestamp == NOW_MS + 500


def test_timestamp_type_of_the_client_is_cleared_on_a_create_time_topic() -> None:
    log = new_log()

    append(log, batch(attributes=8))

    header = parse_header(read_all(log))
    assert (header.attributes, header.max_timestamp) == (0, NOW_MS)


def test_timestamp_type_of_the_client_without_a_timestamp_is_refused() -> None:
    refused = refusal(batch(attributes=8, base_timestamp=-1))

    assert refused.code is ErrorCode.INVALID_TIMESTAMP
    assert refused.record_errors[0].message == (
        "Invalid timestamp type in message DefaultRecord(offset=0, timestamp=-1, key=0 bytes, value=1 bytes). "
        "Producer should not set timestamp type to LogAppendTime."
    )


def test_log_append_time_is_stored_and_returned_for_any_client_timestamp() -> None:
    log = new_log(APPEND_TIME)

    results = [
        append(log, batch(base_timestamp=timestamp), now_ms=NOW_MS + 3) for timestamp in (5, NOW_MS + 9 * HOUR_MS)
    ]

    assert [result.log_append_time_ms for result in results] == [NOW_MS + 3, NOW_MS + 3]
    headers = [parse_header(each) for each in batches_in(read_all(log))]
    assert [(each.attributes, each.max_timestamp) for each in headers] == [(8, NOW_MS + 3)] * 2
    assert headers[0].base_timestamp == 5


def test_timestamp_type_of_the_client_is_refused_on_a_log_append_time_topic() -> None:
    refused = refusal(batch(attributes=8), APPEND_TIME)

    assert (refused.code, len(refused.record_errors)) == (ErrorCode.INVALID_TIMESTAMP, 1)


def test_compacted_topic_names_every_record_without_key() -> None:
    refused = refusal(batch(records(4), count=4), COMPACTED)

    text = "Compacted topic cannot accept message without key in topic partition topic-0"
    shown = ", ".join(f"RecordError(batchIndex={index}, message='{text}')" for index in range(3))
    assert (refused.code, refused.log_start_offset) == (ErrorCode.INVALID_RECORD, LOG_START)
    assert refused.record_errors == tuple(RecordError(index, text) for index in range(4))
    assert refused.message_for_client == (
        "One or more records have been rejected due to 4 record errors in total, "
        f"and only showing the first three errors at most: [{shown}]"
    )


def test_timestamp_error_of_one_record_decides_the_code_for_all() -> None:
    content = record() + record(b"v", b"k", offset_delta=1, timestamp_delta=2 * HOUR_MS)

    refused = refusal(batch(content, count=2), COMPACTED)

    assert refused.code is ErrorCode.INVALID_TIMESTAMP
    assert [error.batch_index for error in refused.record_errors] == [0, 1]


def test_compacted_topic_takes_keys_even_empty_ones() -> None:
    log = new_log(COMPACTED)

    append(log, batch(records(2, key=b"k"), count=2))
    append(log, batch(records(2, key=b""), count=2))

    assert log.log_end_offset == 4


def test_trusted_batch_is_stored_without_a_look_at_its_records() -> None:
    log = new_log(TRUSTING)

    append(log, batch(b"no records at all", count=3))
    append(log, batch(b"nor gzip", count=2, attributes=1))

    assert log.log_end_offset == 5


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (batch(crc_error=1), ErrorCode.CORRUPT_MESSAGE),
        (batch(count=2, last_offset_delta=0), ErrorCode.INVALID_RECORD),
        (batch(record(bytes(2000))), ErrorCode.MESSAGE_TOO_LARGE),
        (batch(base_timestamp=NOW_MS + 2 * HOUR_MS), ErrorCode.INVALID_TIMESTAMP),
        (batch(attributes=8, base_timestamp=-1), ErrorCode.INVALID_TIMESTAMP),
    ],
)
def test_trusted_batch_is_still_held_to_its_header(data: bytes, code: ErrorCode) -> None:
    assert refusal(data, replace(TRUSTING, max_message_bytes=1000)).code is code


def test_keys_are_looked_for_on_a_compacted_topic_even_in_a_trusted_batch() -> None:
    refused = refusal(batch(), replace(COMPACTED, record_validation=RecordValidation.BATCH))

    assert refused.code is ErrorCode.INVALID_RECORD


SENT = [Record(b"value %d" % index, b"k", NOW_MS + index, (("h", b"x"), ("n", None)), index) for index in range(30)]


@pytest.mark.parametrize("source", Compression)
@pytest.mark.parametrize("target", Compression)
@pytest.mark.parametrize("validation", RecordValidation)
def test_topic_stores_its_own_codec(source: Compression, target: Compression, validation: RecordValidation) -> None:
    log = new_log(LogConfig(compression_type=target, record_validation=validation))
    options = BatchOptions(compression=source, producer_id=5, producer_epoch=2, base_sequence=4)

    result = append(log, build_batch(SENT, options), leader_epoch=6)

    stored = read_all(log)
    header = parse_header(stored)
    assert decode_batch(stored) == SENT
    assert (header.attributes, header.partition_leader_epoch, header.records_count) == (target, 6, 30)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (5, 2, 4)
    assert (result.base_offset, result.last_sequence) == (0, 33)
    assert refusal(stored[:21] + b"\0" + stored[22:-1] + b"\xff").code is ErrorCode.CORRUPT_MESSAGE


def test_producer_compression_stores_the_received_bytes() -> None:
    log = new_log()
    sent = build_batch(SENT, BatchOptions(compression=Compression.GZIP))

    append(log, sent)

    assert read_all(log)[16:] == sent[16:]


def test_batch_that_grows_by_the_topics_codec_is_measured_again() -> None:
    log = new_log(LogConfig(compression_type=Compression.NONE, max_message_bytes=1000))

    with pytest.raises(AppendRefused) as raised:
        append(log, compressed(Compression.GZIP, record(bytes(5000)), count=1))

    assert (raised.value.code, raised.value.log_start_offset) == (ErrorCode.MESSAGE_TOO_LARGE, -1)


def test_records_compressed_anew_get_the_append_time_of_the_topic() -> None:
    log = new_log(replace(APPEND_TIME, compression_type=Compression.ZSTD))

    append(log, build_batch(SENT), now_ms=NOW_MS + 77)

    header = parse_header(read_all(log))
    assert (header.attributes, header.max_timestamp, header.base_timestamp) == (12, NOW_MS + 77, NOW_MS)


def test_records_compressed_anew_are_counted_anew() -> None:
    log = new_log(LogConfig(compression_type=Compression.GZIP))

    append(log, batch(record() + record(offset_delta=5), count=2))

    assert [each.offset for each in decode_batch(read_all(log))] == [0, 1]


def test_duplicate_of_a_batch_compressed_anew_is_recognised() -> None:
    log = new_log(LogConfig(compression_type=Compression.GZIP))
    sent = build_batch(SENT, BatchOptions(producer_id=5, producer_epoch=0, base_sequence=0))

    first, again = append(log, sent), append(log, sent)

    assert (first.is_duplicate, again.is_duplicate, again.base_offset) == (False, True, 0)


def test_bomb_is_refused_as_too_large() -> None:
    bomb = zigzag(10) + bytes(200 * 1024 * 1024)

    refused = refusal(compressed(Compression.ZSTD, bomb, count=1))

    assert (refused.code, refused.log_start_offset) == (ErrorCode.MESSAGE_TOO_LARGE, -1)


@pytest.mark.parametrize(
    ("codec", "content", "count", "topic_codec"),
    [
        (Compression.ZSTD, zigzag(10) + bytes(8 * 1024 * 1024), 1, None),
        (Compression.NONE, None, 100_000, None),
        (Compression.NONE, None, 10_000, Compression.ZSTD),
    ],
    ids=["bytes", "records", "rebuilt records"],
)
def test_batch_that_takes_long_is_left_to_a_thread(
    codec: Compression, content: bytes | None, count: int, topic_codec: Compression | None
) -> None:
    config = LogConfig(max_message_bytes=2**31 - 1, compression_type=topic_codec)
    sent = memoryview(compressed(codec, records(count) if content is None else content, count=count))

    with pytest.raises(LongValidation):
        LogValidator("topic-0", config).validate(sent, NOW_MS, LOG_START)

    if count > 1:
        header, _, _, _ = LogValidator("topic-0", config, no_pause).validate(sent, NOW_MS, LOG_START)
        assert header.records_count == count


def test_received_bytes_are_never_written_to() -> None:
    log = new_log(APPEND_TIME)
    sent = bytearray(batch(leader_epoch=9))
    before = bytes(sent)

    log.append(memoryview(sent).toreadonly(), now_ms=NOW_MS, leader_epoch=1)

    assert bytes(sent) == before
    sent[:] = bytes(len(sent))
    assert parse_header(read_bytes(log)).max_timestamp == NOW_MS
