"""Transactions as a partition's log shows them: a producer's batches up to its next marker.

A marker ends what is open of its producer, of whatever epoch: the coordinator that fences a producer writes it with the
next one. Source: ProducerAppendInfo.appendEndTxnMarker, Kafka 4.3.0.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as f

from .log_order import in_log_order


def with_transactions(rows: DataFrame) -> DataFrame:
    """Add the transaction that each transactional batch belongs to; rows come from in_log_order.

    transaction_end: commit, abort, or null while there is no marker. transaction_end_offset: the marker's.
    transaction_first_offset, transaction_start: the first batch's offset and timestamp. transaction_records: how many.
    All but transaction_end are null where no batch of records is left of it.
    """
    key = ["topic", "partition", "producer_id"]
    before = Window.partitionBy(*key).orderBy("log_order").rowsBetween(Window.unboundedPreceding, -1)
    in_transaction = Window.partitionBy(*key, "transaction")
    is_marker = f.col("is_trusted") & f.col("control_type").isNotNull()
    is_part = f.col("is_trusted") & f.col("is_transactional") & ~f.col("is_control")
    return (
        rows.withColumn("transaction", f.coalesce(f.count(f.when(is_marker, 1)).over(before), f.lit(0)))
        .withColumn("transaction_end", f.max(f.when(is_marker, f.col("control_type"))).over(in_transaction))
        .withColumn("transaction_end_offset", f.max(f.when(is_marker, f.col("base_offset"))).over(in_transaction))
        .withColumn("transaction_first_offset", f.min(f.when(is_part, f.col("base_offset"))).over(in_transaction))
        .withColumn("transaction_start", f.min(f.when(is_part, f.col("base_timestamp"))).over(in_transaction))
        .withColumn("transaction_records", f.sum(f.when(is_part, f.col("records_count"))).over(in_transaction))
    )


def aborted_batches(batches: DataFrame) -> DataFrame:
    """Return topic, partition and batch_base_offset of the batches whose transaction was aborted."""
    is_aborted = f.col("is_transactional") & ~f.col("is_control") & (f.col("transaction_end") == "abort")
    rows = with_transactions(in_log_order(batches)).where(f.col("is_trusted") & is_aborted)
    return rows.select("topic", "partition", f.col("base_offset").alias("batch_base_offset"))
