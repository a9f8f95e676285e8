"""Transactions in a partition's log: the batches of a producer up to its next marker.

A marker ends the open transaction of its producer in any epoch, because a coordinator that fences a producer writes the
marker with the next epoch. Source: ProducerAppendInfo.appendEndTxnMarker, Kafka 4.3.0.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from .log_order import PRODUCER, by_producer, in_log_order

# The columns of the records view that identify the batch of a record.
BATCH_OF_RECORD = ["topic", "partition", "batch_base_offset"]


def with_producer_past(rows: DataFrame) -> DataFrame:
    """Add facts about the earlier batches of the same producer. rows: from by_producer.

    epoch_before: their greatest epoch. has_older_epoch: one of them has an older epoch. markers_before: the number of
    markers among them.
    """
    before = Window.partitionBy(*PRODUCER).orderBy("log_order").rowsBetween(Window.unboundedPreceding, -1)
    return rows.withColumns(
        {
            "epoch_before": f.max("producer_epoch").over(before),
            "has_older_epoch": f.coalesce(f.min("producer_epoch").over(before) < f.col("producer_epoch"), f.lit(False)),
            "markers_before": f.count(f.when(_is_marker(), 1)).over(before),
        }
    )


def with_transactions(rows: DataFrame) -> DataFrame:
    """Add the transaction of each transactional batch. rows: from with_producer_past.

    transaction_end: commit, abort, or null without a marker. transaction_end_offset: the marker's offset.
    transaction_first_offset, transaction_start: offset and timestamp of the first batch. transaction_records: the
    number of records. All but transaction_end are null if the log has no batch of the transaction any more.
    """
    is_marker = _is_marker()
    is_part = f.col("is_trusted") & f.col("is_transactional") & ~f.col("is_control")
    # Batches outside transactions form one group each, so that no task gets all of them.
    own_group = f.when(~f.coalesce(is_marker | is_part, f.lit(False)), f.col("log_order"))
    in_transaction = Window.partitionBy(*PRODUCER, "markers_before", "no_transaction")
    return rows.withColumn("no_transaction", own_group).withColumns(
        {
            "transaction_end": f.max(f.when(is_marker, f.col("control_type"))).over(in_transaction),
            "transaction_end_offset": f.max(f.when(is_marker, f.col("base_offset"))).over(in_transaction),
            "transaction_first_offset": f.min(f.when(is_part, f.col("base_offset"))).over(in_transaction),
            "transaction_start": f.min(f.when(is_part, f.col("base_timestamp"))).over(in_transaction),
            "transaction_records": f.sum(f.when(is_part, f.col("records_count"))).over(in_transaction),
        }
    )


def without_aborted(records: DataFrame, batches: DataFrame | None) -> DataFrame:
    """Return the records that are in no aborted transaction; all of them if batches, the batches view, is None."""
    return records if batches is None else records.join(aborted_batches(batches), BATCH_OF_RECORD, "left_anti")


def aborted_batches(batches: DataFrame) -> DataFrame:
    """Return BATCH_OF_RECORD and last_offset of all batches of aborted transactions."""
    return _batches_of(batches, f.col("transaction_end") == "abort")


def unfinished_batches(batches: DataFrame) -> DataFrame:
    """Return the same of all batches of transactions that are aborted or open."""
    return _batches_of(batches, f.coalesce(f.col("transaction_end") != "commit", f.lit(True)))


def _batches_of(batches: DataFrame, has_ended_so: Column) -> DataFrame:
    is_part = f.col("is_trusted") & f.col("is_transactional") & ~f.col("is_control")
    rows = with_transactions(with_producer_past(by_producer(in_log_order(batches))))
    return rows.where(is_part & has_ended_so).select(
        "topic", "partition", f.col("base_offset").alias("batch_base_offset"), "last_offset"
    )


def _is_marker() -> Column:
    return f.col("is_trusted") & f.col("control_type").isNotNull()
