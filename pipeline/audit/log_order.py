"""The batches of each partition in the order of the log, what can be trusted of them, and the offsets between them."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window, WindowSpec
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


# What the batches of a producer have alike, after by_producer.
PRODUCER = ("topic", "partition", "producer_id", "apart")


def in_log_order(batches: DataFrame) -> DataFrame:
    """Return the batches that an audit reads, with their place in the log of their partition.

    log_order: counts from 1. Where there are files the bytes' order counts: the offset of a damaged batch may be any.
    is_trusted: the header is what its producer and the broker wrote, since its CRC is right.
    is_damaged: not trusted, or its records cannot be read.
    offset_before: the greatest one of the batches before. follows_damage: whether the one before is not trusted.
    """
    before = _in_partition().rowsBetween(Window.unboundedPreceding, -1)
    return (
        batches.select(*BATCH_COLUMNS_READ)
        .withColumn("is_trusted", f.col("valid_crc") & f.col("base_offset").isNotNull())
        .withColumn("is_damaged", ~f.col("valid_crc") | f.col("damage").isNotNull())
        .withColumns(
            {
                "log_order": f.row_number().over(_in_partition()),
                "offset_before": f.max(_trusted("last_offset")).over(before),
                "follows_damage": ~f.coalesce(f.last("is_trusted").over(before), f.lit(True)),
            }
        )
    )


def with_missing_offsets(rows: DataFrame) -> DataFrame:
    """Add what is missing between the batches; rows come from in_log_order.

    hole: how many offsets are missing before this batch. holes: how many from the log's first batch up to here.
    hole_untold: hole, where no damaged batch is in it, since damage is told by itself. holes_untold: their sum up to
    here, partition_holes_untold: in the partition.
    is_compacted: some batch of the partition has fewer records than offsets, as only cleaning leaves them.
    log_start_offset: of the partition's first batch. newest_timestamp: of the partition.
    """
    so_far = _in_partition().rowsBetween(Window.unboundedPreceding, Window.currentRow)
    # With an order, which its columns do not need, it is of the same window as the one above.
    in_all = _in_partition().rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    is_emptied = f.col("is_trusted") & (f.col("records_count") <= f.col("last_offset_delta"))
    return (
        rows.withColumn("hole", f.greatest(_trusted("base_offset") - f.col("offset_before") - 1, f.lit(0)))
        .withColumn("hole_untold", f.when(f.col("follows_damage"), 0).otherwise(f.col("hole")).cast("bigint"))
        .withColumns(
            {
                "holes": f.sum("hole").over(so_far),
                "holes_untold": f.sum("hole_untold").over(so_far),
                "partition_holes_untold": f.sum("hole_untold").over(in_all),
                "is_compacted": f.max(is_emptied).over(in_all),
                "log_start_offset": f.min(_trusted("base_offset")).over(in_all),
                "newest_timestamp": f.max(_trusted("max_timestamp")).over(in_all),
            }
        )
    )


def by_producer(rows: DataFrame) -> DataFrame:
    """Return the batches of each producer together, in tasks of their own; rows come from in_log_order.

    apart: log_order of a batch that has no producer or is not trusted, and follows none; null of the others.
    file, position: of damaged batches, of which they are told; as there are few, the rows are smaller.
    """
    has_producer = f.coalesce(f.col("is_trusted") & (f.col("producer_id") >= 0), f.lit(False))
    return (
        rows.withColumn("apart", f.when(~has_producer, f.col("log_order")))
        .withColumns({name: f.when(f.col("is_damaged"), f.col(name)) for name in ("file", "position")})
        .repartition(*PRODUCER)
    )


def _in_partition() -> WindowSpec:
    """Return a partition in the order of its bytes: one for all that is told of it, so that it is sorted once."""
    return Window.partitionBy("topic", "partition").orderBy("file", "position", "base_offset")


def _trusted(name: str) -> Column:
    return f.when(f.col("is_trusted"), f.col(name))
