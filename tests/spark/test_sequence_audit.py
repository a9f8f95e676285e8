"""The audit of batch headers, one situation at a time in small frames."""

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from fauxka.pipeline.sequence_audit import audit_sequences

from .frames import assert_found, at, batch, batches, marker, transactional

pytestmark = pytest.mark.spark

PLACES = "check string, kind string, offset bigint, other_offset bigint, count bigint"
LAST = 2**31 - 1


def assert_finds(spark: SparkSession, rows: list[dict[str, object]], *expected: tuple[object, ...]) -> None:
    """Compare check, kind, offset, other offset and count."""
    assert_found(spark, audit_sequences(batches(spark, *rows)), PLACES, *expected)


def test_contiguous_sequences_of_several_producers_are_clean(spark: SparkSession) -> None:
    rows = [
        batch(0, 0),
        batch(5, 0, producer_id=8),
        batch(10, 5),
        batch(15, 5, producer_id=8),
        batch(0, 0, partition=1),
        batch(0, 0, topic="other"),
        batch(20, 0, producer_epoch=1),
    ]

    assert_finds(spark, rows)


def test_producers_without_idempotence_have_no_sequences_to_miss(spark: SparkSession) -> None:
    none = {"producer_id": -1, "producer_epoch": -1}

    assert_finds(spark, [batch(0, -1, **none), batch(5, -1, **none)])


def test_a_gap_tells_what_is_missing_and_after_which_offset(spark: SparkSession) -> None:
    rows = [batch(0, 0), batch(5, 8), batch(10, 13)]

    found = audit_sequences(batches(spark, *rows))

    schema = "kind string, topic string, partition int, offset bigint, other_offset bigint, producer_id bigint, "
    schema += "producer_epoch int, base_sequence int, count bigint, timestamp timestamp, detail string"
    detail = "3 sequences are missing: sequences 8 to 12 come after sequence 4 at offset 4"
    assert_found(spark, found, schema, ("gap", "t", 0, 5, 4, 7, 0, 8, 3, at(5), detail))


def test_a_repeated_batch_points_to_the_first_one(spark: SparkSession) -> None:
    rows = [batch(0, 0), batch(5, 5), batch(10, 10), batch(15, 5), batch(20, 10), batch(25, 15)]

    assert_finds(spark, rows, ("sequence", "repeat", 15, 5, 5), ("sequence", "repeat", 20, 10, 5))


def test_batches_out_of_order_are_a_gap_and_a_regression(spark: SparkSession) -> None:
    rows = [batch(0, 0), batch(5, 10), batch(10, 5), batch(15, 15)]

    assert_finds(spark, rows, ("sequence", "gap", 5, 4, 5), ("sequence", "regression", 10, 9, 5))


def test_sequences_wrap_to_zero(spark: SparkSession) -> None:
    rows = [
        batch(100, LAST - 6),
        batch(105, LAST - 1),
        batch(110, 3),
        batch(115, 8),
    ]

    assert_finds(spark, rows)


def test_a_gap_over_the_wrap_is_counted_through_it(spark: SparkSession) -> None:
    rows = [batch(100, LAST - 6), batch(105, 1)]

    assert_finds(spark, rows, ("sequence", "gap", 105, 104, 3))


def test_a_repetition_behind_the_wrap_is_one_and_the_same_number_a_turn_later_is_none(spark: SparkSession) -> None:
    half = 2**30
    # One turn in three long strides, whose gaps are told, back to the sequences of the beginning.
    rows = [batch(0, 0), batch(5, half - 5), batch(10, LAST - 9), batch(15, LAST - 4), batch(20, 0), batch(25, 0)]

    found = audit_sequences(batches(spark, *rows)).where("kind != 'gap'")

    assert_found(spark, found, PLACES, ("sequence", "repeat", 25, 20, 5))


def test_the_first_sequence_behind_retention_may_be_any(spark: SparkSession) -> None:
    assert_finds(spark, [batch(1000, 70), batch(1005, 75)])


def test_a_log_from_its_beginning_begins_with_sequence_zero(spark: SparkSession) -> None:
    assert_finds(spark, [batch(0, 0), batch(5, 4, producer_id=8)], ("sequence", "gap", 5, None, 4))


def test_a_newer_epoch_begins_with_sequence_zero(spark: SparkSession) -> None:
    rows = [batch(1000, 70), batch(1005, 3, producer_epoch=1)]

    assert_finds(spark, rows, ("sequence", "gap", 1005, None, 3))


def test_an_older_epoch_behind_a_newer_one_is_a_regression(spark: SparkSession) -> None:
    rows = [batch(0, 0), batch(5, 0, producer_epoch=1), batch(10, 5), batch(15, 5, producer_epoch=1)]

    assert_finds(spark, rows, ("sequence", "epoch_regression", 10, None, 5))


def test_a_fenced_producer_that_writes_behind_the_marker_is_an_epoch_regression(spark: SparkSession) -> None:
    rows = [
        transactional(0, 0),
        marker(5, "commit", producer_epoch=1),
        transactional(6, 5),
        marker(11, "commit", producer_epoch=1),
    ]

    assert_finds(spark, rows, ("sequence", "epoch_regression", 6, None, 5))


def test_what_compaction_took_is_no_gap(spark: SparkSession) -> None:
    rows = [batch(0, 0, records_count=2), batch(10, 10), batch(25, 25)]

    assert_finds(spark, rows, ("log", "compacted_offsets", 10, 4, 15))


def test_offsets_that_are_missing_are_told_once_a_partition(spark: SparkSession) -> None:
    rows = [batch(0, 0), batch(10, 10), batch(20, 20)]

    assert_finds(spark, rows, ("log", "missing_offsets", 10, 4, 10))


def test_a_gap_wider_than_the_missing_offsets_is_a_gap(spark: SparkSession) -> None:
    rows = [batch(0, 0), batch(7, 9)]

    assert_finds(spark, rows, ("log", "missing_offsets", 7, 4, 2), ("sequence", "gap", 7, 4, 4))


def test_a_damaged_batch_is_told_and_its_records_are_no_gap(spark: SparkSession) -> None:
    wrong = "its CRC-32C is 00000001, its header says 00000002"
    damaged = batch(5, 5, valid_crc=False, damage=wrong, file="/d/t-0/0.log", position=100)
    rows = [
        batch(0, 0, file="/d/t-0/0.log", position=0),
        damaged,
        batch(10, 10, file="/d/t-0/0.log", position=200),
    ]

    found = audit_sequences(batches(spark, *rows))

    schema = "check string, kind string, cause string, offset bigint, count bigint, detail string"
    detail = f"100 bytes of /d/t-0/0.log at position 100: {wrong}"
    assert_found(spark, found, schema, ("log", "damaged_batch", "wrong_crc", 5, 1, detail))


def test_bytes_that_are_no_batch_are_told_and_hide_no_other_gap(spark: SparkSession) -> None:
    nothing: dict[str, object] = {"topic": "t", "partition": 0, "valid_crc": False, "batch_bytes": 70}
    nothing |= {"file": "f", "position": 1, "damage": "no batch: its magic would be 9"}
    rows = [
        batch(0, 0, file="f", position=0),
        nothing,
        batch(10, 10, file="f", position=2),
        batch(15, 16, file="f", position=3),
    ]

    assert_finds(spark, rows, ("log", "damaged_batch", None, None, 1), ("sequence", "gap", 15, 14, 1))


@pytest.mark.parametrize(
    ("damage", "cause"),
    [
        ("a message of magic 1, the format before Kafka 0.11, which is not read", "old_format"),
        ("cut off: 70 of 100 bytes are there", "cut_off"),
        ("the last 20 bytes are no whole batch", "cut_off"),
        ("no codec has the number 7", "unreadable_records"),
    ],
)
def test_damage_has_a_cause(spark: SparkSession, damage: str, cause: str) -> None:
    row = batch(0, 0, damage=damage, valid_crc=cause == "unreadable_records")

    found = audit_sequences(batches(spark, row))

    assert_found(spark, found, "kind string, cause string", ("damaged_batch", cause))


def test_an_offset_that_comes_again_is_told(spark: SparkSession) -> None:
    rows = [
        batch(0, 0, file="0.log", position=0),
        batch(5, 5, file="0.log", position=1),
        batch(4, 10, file="1.log", position=0),
    ]

    assert_finds(spark, rows, ("log", "offset_regression", 4, 9, 5))


def test_committed_transactions_are_clean(spark: SparkSession) -> None:
    rows = [
        transactional(0, 0),
        batch(5, 0, producer_id=8),
        transactional(10, 5),
        marker(15, "commit"),
        transactional(16, 10),
        marker(21, "commit"),
    ]

    assert_finds(spark, rows)


def test_an_aborted_transaction_is_told_with_its_records_and_its_marker(spark: SparkSession) -> None:
    rows = [
        transactional(0, 0),
        marker(5, "commit"),
        transactional(6, 5),
        transactional(11, 10),
        marker(16, "abort", producer_epoch=1),
        transactional(17, 0, producer_epoch=1),
        marker(22, "commit", producer_epoch=1),
    ]

    assert_finds(spark, rows, ("log", "aborted_transaction", 6, 16, 10))


def test_a_marker_without_records_is_nothing(spark: SparkSession) -> None:
    assert_finds(spark, [marker(0, "abort"), marker(1, "abort")])


def test_a_transaction_without_an_end_is_open_and_later_hanging(spark: SparkSession) -> None:
    rows = [transactional(0, 0), transactional(5, 5), batch(10, 0, producer_id=8, max_timestamp=at(800))]

    assert_finds(spark, rows, ("log", "open_transaction", 0, None, 10))
    assert_finds(
        spark, [*rows, batch(15, 5, producer_id=8, max_timestamp=at(901))], ("log", "hanging_transaction", 0, None, 10)
    )


def test_the_time_of_the_audit_may_be_given(spark: SparkSession) -> None:
    found = audit_sequences(batches(spark, transactional(0, 0)), as_of=f.lit(at(1000)))

    assert_found(spark, found, "kind string, count bigint", ("hanging_transaction", 5))
