"""Batches with a right CRC whose records cannot be decompressed or read, which only the records view shows."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

# The columns of both views that identify a batch.
_BATCH = ("topic", "partition", "base_offset", "producer_id", "producer_epoch", "base_sequence")


def with_unreadable_records(batches: DataFrame, records: DataFrame) -> DataFrame:
    """Return the batches view with the column `damage` of both views. records: the records view of the same log."""
    identity = [f.col("offset").alias("base_offset") if name == "base_offset" else name for name in _BATCH]
    unreadable = records.where(is_unreadable()).select(*identity, f.col("damage").alias("damage_of_records"))
    # One small row for each such batch.
    joined = batches.join(f.broadcast(unreadable.distinct()), list(_BATCH), "left")
    return joined.withColumn("damage", f.coalesce("damage", "damage_of_records")).drop("damage_of_records")


def is_unreadable() -> Column:
    """Return whether a row of the records view is such a batch; also true for damage that both views show."""
    return f.col("valid_crc") & f.col("damage").isNotNull()


def has_unreadable() -> Column:
    """Return an aggregate over the records view: whether one of its rows is such a batch."""
    return f.coalesce(f.bool_or(is_unreadable()), f.lit(False))
