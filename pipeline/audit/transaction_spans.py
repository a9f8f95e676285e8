"""Transactions as a partition's log shows them: a producer's batches up to its next marker.

A marker ends what is open of its producer, of whatever epoch: the coordinator that fences a producer writes it with the
next one. Source: ProducerAppendInfo.appendEndTxnMarker, Kafka 4.3.0.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from .log_order import PRODUCER, by_producer, in_log_order


def with_producer_past(rows: DataFrame) -> DataFrame:
    """Add what the batches of a producer before each tell; rows come from by_producer.

    epoch_before: the greatest one. has_older_epoch: whether any has an older one. markers_before: how many are markers.
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
    """Add the transaction that each transactional batch belongs to; rows come from with_producer_past.

    transaction_end: commit, abort, or null while there is no marker. transaction_end_offset: the marker's.
    transaction_first_offset, transaction_start: the first batch's offset and timestamp. transaction_records: how many.
    All but transaction_end are null where no batch of records is left of it.
    """
    is_marker = _is_marker()
    is_part = f.col("is_trusted") & f.col("is_transactional") & ~f.col("is_control")
    # What is in no transaction is a group each, so that no task holds all of it.
    of_none = f.when(~f.coalesce(is_marker | is_part, f.lit(False)), f.col("log_order"))
    in_transaction = Window.partitionBy(*PRODUCER, "markers_before", "of_no_transaction")
    return rows.withColumn("of_no_transaction", of_none).withColumns(
        {
            "transaction_end": f.max(f.when(is_marker, f.col("control_type"))).over(in_transaction),
            "transaction_end_offset": f.max(f.when(is_marker, f.col("base_offset"))).over(in_transaction),
            "transaction_first_offset": f.min(f.when(is_part, f.col("base_offset"))).over(in_transaction),
            "transaction_start": f.min(f.when(is_part, f.col("base_timestamp"))).over(in_transaction),
            "transaction_records": f.sum(f.when(is_part, f.col("records_count"))).over(in_transaction),
        }
    )


def aborted_batches(batches: DataFrame) -> DataFrame:
    """Return topic, partition and batch_base_offset of the batches whose transaction was aborted."""
    is_aborted = f.col("is_transactional") & ~f.col("is_control") & (f.col("transaction_end") == "abort")
    rows = with_transactions(with_producer_past(by_producer(in_log_order(batches))))
    return rows.where(f.col("is_trusted") & is_aborted).select(
        "topic", "partition", f.col("base_offset").alias("batch_base_offset")
    )


def _is_marker() -> Column:
    return f.col("is_trusted") & f.col("control_type").isNotNull()
