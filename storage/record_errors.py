"""Checks each record of a batch, after the check of the whole batch has found that one may be invalid.

Source: LogValidator.validateRecord, validateKey, validateTimestamp and processRecordErrors, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..protocol.batches.record_batch import NO_TIMESTAMP, TimestampType
from ..protocol.batches.records import RecordFields
from ..protocol.error_codes import ErrorCode
from ..protocol.release_rules import ReleaseRules
from .append_refused import AppendRefused, RecordError
from .log_config import LogConfig

# Kafka names this many of the invalid records in the message.
_RECORDS_SHOWN_MAX = 3

_LONG_SIGN = 2**63
_LONG_RANGE = 2**64


@dataclass(frozen=True, slots=True)
class RecordRules:
    """The rules for the records of one batch.

    is_type_set: whether the client set the timestamp type bit, which only the broker may set.
    """

    config: LogConfig
    topic_partition: str
    now_ms: int
    is_type_set: bool
    release: ReleaseRules


def check_each_record(record_fields: Iterable[RecordFields], rules: RecordRules, log_start_offset: int) -> int:
    """Return the greatest timestamp of the records, at least -1.

    Raises AppendRefused with all invalid records: INVALID_TIMESTAMP if any timestamp is invalid, else INVALID_RECORD.
    """
    key_errors: list[RecordError] = []
    timestamp_errors: list[RecordError] = []
    max_timestamp = NO_TIMESTAMP
    for index, record in enumerate(record_fields):
        max_timestamp = max(max_timestamp, record.timestamp)
        if rules.config.is_compacted and record.key_size < 0:
            key_errors.append(RecordError(index, _key_error(rules)))
        elif text := _timestamp_error(record, rules):
            timestamp_errors.append(RecordError(index, text))
        if (key_errors or timestamp_errors) and not rules.release.reports_all_record_errors:
            code = ErrorCode.INVALID_TIMESTAMP if timestamp_errors else ErrorCode.INVALID_RECORD
            raise _refusal_of_first((key_errors or timestamp_errors)[0], code, log_start_offset)
    if key_errors or timestamp_errors:
        errors = sorted(key_errors + timestamp_errors, key=lambda error: error.batch_index)
        raise _refusal(errors, rules.release, log_start_offset, has_timestamp_error=bool(timestamp_errors))
    return max_timestamp


def refusal_of_offsets(
    record_fields: Iterable[RecordFields], rules: RecordRules, log_start_offset: int
) -> AppendRefused:
    """Return the refusal of compressed records whose offset deltas do not count from 0 (Kafka 2.4)."""
    index, record = next((index, each) for index, each in enumerate(record_fields) if each.offset != index)
    text = (
        f"Inner record {_shown(record)} inside the compressed record batch does not have incremental offsets, "
        f"expected offset is {index} in topic partition {rules.topic_partition}."
    )
    return _refusal_of_first(RecordError(index, text), ErrorCode.INVALID_RECORD, log_start_offset)


def _refusal_of_first(error: RecordError, code: ErrorCode, log_start_offset: int) -> AppendRefused:
    text = error.message or ""
    return AppendRefused(code, text, log_start_offset=log_start_offset, record_errors=(error,), message_for_client=text)


def _key_error(rules: RecordRules) -> str:
    end = "" if rules.release.has_plain_key_error else "."
    return f"Compacted topic cannot accept message without key in topic partition {rules.topic_partition}{end}"


def _shown(record: RecordFields) -> str:
    """Return a record as Kafka's messages have it."""
    return (
        f"DefaultRecord(offset={record.offset}, timestamp={record.timestamp}, "
        f"key={max(record.key_size, 0)} bytes, value={max(record.value_size, 0)} bytes)"
    )


def _timestamp_error(record: RecordFields, rules: RecordRules) -> str:
    """Return Kafka's message for an invalid timestamp, "" for a valid one."""
    config = rules.config
    is_create_time = config.message_timestamp_type is TimestampType.CREATE_TIME
    if is_create_time and record.timestamp != NO_TIMESTAMP:
        age_ms = _as_long(rules.now_ms - record.timestamp)
        before_ms, after_ms = config.message_timestamp_before_max_ms, config.message_timestamp_after_max_ms
        if age_ms > before_ms or _as_long(-age_ms) > after_ms:
            bounds = f"[{_as_long(rules.now_ms - before_ms)}, {_as_long(rules.now_ms + after_ms)}]"
            return (
                f"Timestamp {record.timestamp} of message with offset {record.offset} is out of range. "
                f"The timestamp should be within {bounds}"
            )
        if rules.release.allows_timestamp_type:
            return ""
    if rules.is_type_set:
        return (
            f"Invalid timestamp type in message {_shown(record)}. "
            "Producer should not set timestamp type to LogAppendTime."
        )
    return ""


def _as_long(value: int) -> int:
    """Return value wrapped to Java's long, as in Kafka's comparison."""
    return (value + _LONG_SIGN) % _LONG_RANGE - _LONG_SIGN


def _refusal(
    errors: list[RecordError], release: ReleaseRules, log_start_offset: int, *, has_timestamp_error: bool
) -> AppendRefused:
    if has_timestamp_error:
        code = ErrorCode.INVALID_TIMESTAMP
        text = "One or more records have been rejected due to invalid timestamp"
    elif not release.counts_record_errors:
        code, text = ErrorCode.INVALID_RECORD, "One or more records have been rejected"
    else:
        code = ErrorCode.INVALID_RECORD
        shown = ", ".join(
            f"RecordError(batchIndex={error.batch_index}, message='{error.message}')"
            for error in errors[:_RECORDS_SHOWN_MAX]
        )
        text = (
            f"One or more records have been rejected due to {len(errors)} record errors in total, "
            f"and only showing the first three errors at most: [{shown}]"
        )
    return AppendRefused(
        code, text, log_start_offset=log_start_offset, record_errors=tuple(errors), message_for_client=text
    )
