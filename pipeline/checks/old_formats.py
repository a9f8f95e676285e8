"""Messages of magic 0 and 1, the formats before Kafka 0.11: one finding for each run of them.

Their records are read as those of a producer without idempotence, because they have no producer id and no sequence.
They are never part of a transaction, and have no leader epoch.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from ...protocol.batches.record_batch import MAGIC_V2
from .findings import findings_of, in_words
from .log_order import in_log_order

OLD_FORMAT = "old_format"


def audit_old_formats(batches: DataFrame) -> DataFrame:
    """Return a finding for each run of messages, at its first offset. batches: the batches view."""
    rows = in_log_order(batches).where(f.col("is_trusted") & is_of_old_format())
    in_partition = Window.partitionBy("topic", "partition").orderBy("log_order")
    # Constant within a run, because the order counts the batches between two runs too.
    rows = rows.withColumn("run", f.col("log_order") - f.row_number().over(in_partition))
    runs = rows.groupBy("topic", "partition", "run").agg(
        f.min("base_offset").alias("offset"),
        f.max("last_offset").alias("other_offset"),
        f.sum("records_count").alias("count"),
        f.min("max_timestamp").alias("timestamp"),
        f.array_join(f.sort_array(f.collect_set(f.col("magic").cast("string"))), " and ").alias("formats"),
    )
    detail = in_words(
        *(f.col("count"), " records in messages of magic ", f.col("formats"), ", up to offset "),
        *(f.col("other_offset"), ": without producer ids and sequences"),
    )
    columns: dict[str, str | Column] = {
        **{name: name for name in ("topic", "partition", "offset", "other_offset", "count")},
        **{"timestamp": "timestamp", "detail": detail},
    }
    return findings_of(runs, "log", OLD_FORMAT, columns)


def is_of_old_format() -> Column:
    """Return whether a batch of the batches view stands for a message."""
    return f.col("magic") < MAGIC_V2
