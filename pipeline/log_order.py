"""The batches of each partition in the order of the log, what can be trusted of them, and the offsets between them."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

# What the audits need of the batches view.
BATCH_COLUMNS_READ = (
    "topic",
    "partition",
    "base_offset",
    "last_offset",
    "last_offset_delta",
    "is_transactional",
    "is_control",
    "base_timestamp",
    "max_timestamp",
    "producer_id",
    "producer_epoch",
    "base_sequence",
    "last_sequence",
    "records_count",
    "control_type",
    "batch_bytes",
    "valid_crc",
    "damage",
    "file",
    "position",
)


def in_log_order(batches: DataFrame) -> DataFrame:
    """Return the batches that an audit reads, with their place in the log of their partition.

    log_order: counts from 1. Where there are files the bytes' order counts: the offset of a damaged batch may be any.
    is_trusted: the header is what its producer and the broker wrote, since its CRC is right.
    is_damaged: not trusted, or its records cannot be read.
    """
    in_partition = Window.partitionBy("topic", "partition")
    return (
        batches.select(*BATCH_COLUMNS_READ)
        .withColumn("is_trusted", f.col("valid_crc") & f.col("base_offset").isNotNull())
        .withColumn("is_damaged", ~f.col("valid_crc") | f.col("damage").isNotNull())
        .withColumn("log_order", f.row_number().over(in_partition.orderBy("file", "position", "base_offset")))
    )


def with_missing_offsets(rows: DataFrame) -> DataFrame:
    """Add what is missing between the batches; rows come from in_log_order.

    offset_before: the greatest one of the batches before. hole: how many offsets are missing before this batch.
    holes: how many are missing from the log's first batch up to here. hole_untold: hole, where no damaged batch is in
    it, since damage is told by itself. holes_untold: their sum up to here, partition_holes_untold: in the partition.
    is_compacted: some batch of the partition has fewer records than offsets, as only cleaning leaves them.
    log_start_offset: of the partition's first batch.
    """
    in_partition = Window.partitionBy("topic", "partition")
    in_order = in_partition.orderBy("log_order")
    before = in_order.rowsBetween(Window.unboundedPreceding, -1)
    so_far = in_order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    follows_damage = f.coalesce(f.lag("is_trusted").over(in_order), f.lit(True)) == f.lit(False)
    is_emptied = f.col("is_trusted") & (f.col("records_count") <= f.col("last_offset_delta"))
    return (
        rows.withColumn("offset_before", f.max(_trusted("last_offset")).over(before))
        .withColumn("hole", f.greatest(_trusted("base_offset") - f.col("offset_before") - 1, f.lit(0)))
        .withColumn("hole_untold", f.when(follows_damage, 0).otherwise(f.col("hole")).cast("bigint"))
        .withColumn("holes", f.sum("hole").over(so_far))
        .withColumn("holes_untold", f.sum("hole_untold").over(so_far))
        .withColumn("partition_holes_untold", f.sum("hole_untold").over(in_partition))
        .withColumn("is_compacted", f.max(is_emptied).over(in_partition))
        .withColumn("log_start_offset", f.min(_trusted("base_offset")).over(in_partition))
    )


def _trusted(name: str) -> Column:
    return f.when(f.col("is_trusted"), f.col(name))
