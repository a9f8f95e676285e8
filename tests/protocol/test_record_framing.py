"""Checks on the records of a Produce request before they are appended, compared with Kafka case by case."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fauxka.protocol import produced_records
from fauxka.protocol.error_codes import ErrorCode, KafkaError
from fauxka.protocol.produced_records import TransactionalProducer, check_produced_records
from fauxka.protocol.request_refused import RequestRefused

from ..run_counts import examples
from .batch_bytes import batch

GOOD = batch(producer_id=7, producer_epoch=3, base_sequence=0)
TRANSACTIONAL = batch(producer_id=7, producer_epoch=3, base_sequence=0, attributes=0x10)


def with_length(length: int) -> bytes:
    return GOOD[:8] + struct.pack(">i", length) + GOOD[12:]


def cut_and_continued(size: int, more: bytes) -> bytes:
    return GOOD[:size] + more


def code_of(action: Callable[[], object]) -> ErrorCode:
    with pytest.raises(KafkaError) as raised:
        action()
    return raised.value.code


def test_single_batch_is_returned() -> None:
    view = memoryview(GOOD)

    assert check_produced_records(view, 11) is view


@pytest.mark.parametrize("rest", [b"\xff" * 5, b"\x00" * 11, GOOD[:40], GOOD[:12], GOOD[:-1]])
def test_incomplete_batch_after_the_first_is_ignored(rest: bytes) -> None:
    assert check_produced_records(memoryview(GOOD + rest), 11) == GOOD


@pytest.mark.parametrize(
    ("records", "code"),
    [
        (b"", ErrorCode.INVALID_RECORD),
        (GOOD[:11], ErrorCode.INVALID_RECORD),
        (GOOD[:20], ErrorCode.INVALID_RECORD),
        (GOOD[:-1], ErrorCode.INVALID_RECORD),
        (batch(magic=0), ErrorCode.INVALID_RECORD),
        (batch(magic=1), ErrorCode.INVALID_RECORD),
        (GOOD + GOOD, ErrorCode.INVALID_RECORD),
        (GOOD + bytes(16), ErrorCode.CORRUPT_MESSAGE),
        (GOOD + b"\xff" * 20, ErrorCode.CORRUPT_MESSAGE),
    ],
    ids=["empty", "11 bytes", "20 bytes", "cut", "magic 0", "magic 1", "two", "zero bytes behind", "ones behind"],
)
def test_records_that_are_not_one_batch_are_rejected(records: bytes, code: ErrorCode) -> None:
    assert code_of(lambda: check_produced_records(memoryview(records), 11)) is code


def test_null_records_are_rejected() -> None:
    assert code_of(lambda: check_produced_records(None, 11)) is ErrorCode.INVALID_RECORD


def test_zstd_is_rejected_before_version_7_and_accepted_since() -> None:
    zstd = memoryview(batch(attributes=4))

    assert code_of(lambda: check_produced_records(zstd, 6)) is ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    assert check_produced_records(zstd, 7) == zstd


def test_unknown_codec_fails_the_request_before_version_7_only() -> None:
    strange = memoryview(batch(attributes=5))

    with pytest.raises(RequestRefused) as raised:
        check_produced_records(strange, 6)
    assert raised.value.code is ErrorCode.UNKNOWN_SERVER_ERROR
    assert check_produced_records(strange, 7) == strange


@pytest.mark.parametrize(
    ("records", "text"),
    [
        (with_length(5), "Record size 5 is less than the minimum record overhead (14)"),
        (with_length(-1), "Record size -1 is less than the minimum record overhead (14)"),
        (batch(magic=3), "Invalid magic found in record: 3"),
        (batch(magic=-1), "Invalid magic found in record: -1"),
    ],
)
def test_invalid_first_batch_fails_the_request_with_kafkas_message(records: bytes, text: str) -> None:
    with pytest.raises(RequestRefused) as raised:
        produced_records.has_transactional_batch(memoryview(records))

    assert (raised.value.code, raised.value.message_for_client) == (ErrorCode.CORRUPT_MESSAGE, text)


def test_length_that_overflows_is_a_server_error() -> None:
    with pytest.raises(RequestRefused) as raised:
        produced_records.has_transactional_batch(memoryview(with_length(2**31 - 5)))

    assert (raised.value.code, raised.value.message_for_client) == (ErrorCode.UNKNOWN_SERVER_ERROR, None)


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        (None, False),
        (b"", False),
        (GOOD, False),
        (TRANSACTIONAL, True),
        (TRANSACTIONAL[:-1], False),
        (batch(magic=1, attributes=0x10), False),
        (GOOD + TRANSACTIONAL, False),
    ],
    ids=["null", "empty", "plain", "transactional", "cut", "old magic", "second batch"],
)
def test_transactional_bit_of_a_whole_first_batch_is_found(records: bytes | None, expected: bool) -> None:
    view = None if records is None else memoryview(records)

    assert produced_records.has_transactional_batch(view) is expected


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        (GOOD, None),
        (TRANSACTIONAL, TransactionalProducer(7, 3)),
        (batch(attributes=0x10), None),
        (batch(attributes=0x10, producer_id=-2), None),
    ],
    ids=["plain", "transactional", "no producer id", "negative producer id"],
)
def test_producer_of_a_transactional_batch(records: bytes, expected: TransactionalProducer | None) -> None:
    assert produced_records.transactional_producer_of(memoryview(records)) == expected


@pytest.mark.parametrize(("length", "is_refused"), [(14, True), (38, True), (39, False), (48, False)])
def test_batch_that_ends_before_its_producer_id_fails_the_request(length: int, is_refused: bool) -> None:
    short = memoryview(with_length(length)[: 12 + length])

    if not is_refused:
        assert produced_records.transactional_producer_of(short) is None
        return
    with pytest.raises(RequestRefused) as raised:
        produced_records.transactional_producer_of(short)
    assert raised.value.code is ErrorCode.UNKNOWN_SERVER_ERROR


@given(st.binary(max_size=100) | st.builds(cut_and_continued, st.integers(0, 70), st.binary()))
@settings(derandomize=True, max_examples=examples(300), deadline=None)
def test_any_bytes_are_one_batch_or_rejected(records: bytes) -> None:
    try:
        checked = check_produced_records(memoryview(records), 11)
    except KafkaError:
        return

    assert records.startswith(bytes(checked))
    assert produced_records.first_batch_size(memoryview(records)) == len(checked)


@given(st.binary(min_size=61, max_size=80) | st.sampled_from([GOOD, TRANSACTIONAL, GOOD + GOOD, batch(magic=1)]))
@settings(derandomize=True, max_examples=examples(200), deadline=None)
def test_plain_batch_passes_every_other_check(records: bytes) -> None:
    view = memoryview(records)

    if produced_records.is_plain_batch(view):
        assert check_produced_records(view, 7) == view
        assert not produced_records.has_transactional_batch(view)
        assert produced_records.transactional_producer_of(view) is None
