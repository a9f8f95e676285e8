"""The result of cleaning single batches, compared with a real Kafka.

cleaned_batches_4.3.0.txt was printed by programs/FilterBatches.java in a real Kafka's class path. Its lines: a batch,
its retention, whether it is a marker without records, the time, delete.retention.ms, the offsets kept, and what
Kafka made of it.
"""

from pathlib import Path

from fauxka.protocol.batches.record_batch import (
    COMPRESSION_MASK,
    DELETE_HORIZON_BIT,
    HEADER_SIZE,
    Compression,
    is_crc_right,
    parse_header,
)
from fauxka.protocol.batches.records import RecordFields, decode_batch
from fauxka.storage.cleaning.retained_batch import (
    BatchRetention,
    BatchRetentionResult,
    delete_horizon_of,
    retained_batch,
)

from ..each_case import each_case
from ..protocol.batch_bytes import NOW_MS, batch, record, records

CASES = (Path(__file__).parent / "cleaned_batches_4.3.0.txt").read_text().splitlines()
# Compressed payloads of these codecs depend on the library version; their content does not.
NOT_COMPARED_BY_BYTES = (Compression.GZIP, Compression.ZSTD)

KEEP_EMPTY = BatchRetentionResult(BatchRetention.RETAIN_EMPTY)
DELETE_EMPTY = BatchRetentionResult(BatchRetention.DELETE_EMPTY)


def keep_all(fields: RecordFields, key: bytes | None) -> bool:
    return True


def retained(line: str) -> bytes | None:
    data, retention, is_marker, now_ms, delete_retention_ms, kept, _ = line.split(" ")
    stored = memoryview(bytes.fromhex(data))
    offsets = kept.split(",")
    verdict = BatchRetentionResult(BatchRetention[retention], is_marker == "1")
    horizon = int(now_ms) + int(delete_retention_ms)
    result = retained_batch(
        parse_header(stored), stored, verdict, lambda fields, _: str(fields.offset) in offsets, horizon
    )
    return None if result is None else bytes(result)


def kept_of(stored: bytes, offsets: set[int], verdict: BatchRetentionResult = KEEP_EMPTY) -> bytes | None:
    result = retained_batch(
        parse_header(stored), memoryview(stored), verdict, lambda fields, _: fields.offset in offsets, NOW_MS + 1000
    )
    return None if result is None else bytes(result)


@each_case(range(len(CASES)))
def test_cleaned_batch_equals_kafkas(number: int) -> None:
    expected = CASES[number].rpartition(" ")[2]

    result = retained(CASES[number])

    if expected == "-":
        assert result is None
        return
    assert result is not None
    header, expected_header = parse_header(result), parse_header(bytes.fromhex(expected))
    if header.attributes & COMPRESSION_MASK in NOT_COMPARED_BY_BYTES:
        assert header.replaced(length=0, crc=0) == expected_header.replaced(length=0, crc=0)
        assert decode_batch(result) == decode_batch(bytes.fromhex(expected))
    else:
        assert result.hex() == expected
    assert is_crc_right(memoryview(result), header.crc)


def test_batch_with_all_records_kept_is_not_copied() -> None:
    stored = memoryview(batch(records(3, key=b"k"), count=3))

    assert retained_batch(parse_header(stored), stored, DELETE_EMPTY, keep_all, NOW_MS) is stored


def test_emptied_batch_keeps_its_sequences_and_offsets_in_61_bytes() -> None:
    stored = batch(
        records(3), count=3, base_offset=40, producer_id=7, producer_epoch=1, base_sequence=12, leader_epoch=2
    )

    result = kept_of(stored, set())

    assert result is not None and len(result) == HEADER_SIZE
    before, after = parse_header(stored), parse_header(result)
    assert after.records_count == 0
    assert (after.base_offset, after.last_offset, after.last_sequence) == (40, 42, before.last_sequence)
    assert (after.producer_id, after.producer_epoch, after.partition_leader_epoch) == (7, 1, 2)


def test_unneeded_empty_batch_is_removed() -> None:
    assert kept_of(batch(records(3), count=3), set(), DELETE_EMPTY) is None


def test_tombstone_gets_its_delete_horizon_once() -> None:
    stored = batch(record(None, b"k"))

    first = kept_of(stored, {0})
    assert first is not None
    second = retained_batch(parse_header(first), memoryview(first), KEEP_EMPTY, keep_all, NOW_MS + 9999)

    header = parse_header(first)
    assert header.attributes & DELETE_HORIZON_BIT and delete_horizon_of(header) == NOW_MS + 1000
    assert decode_batch(first)[0].timestamp == NOW_MS
    assert second is not None and bytes(second) == first
