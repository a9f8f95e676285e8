"""Batches in log order, with the validity of each, the offsets missing between them, and their leader epochs."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as f

# The columns of the batches view that the audits need.
BATCH_COLUMNS_READ = (
    "topic",
    "partition",
    "base_offset",
    "last_offset",
    "last_offset_delta",
    "leader_epoch",
    "magic",
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

# The columns that identify a producer within a partition, after by_producer.
PRODUCER = ("topic", "partition", "producer_id", "own_group")


def in_log_order(batches: DataFrame) -> DataFrame:
    """Return the columns that an audit reads, with the place of each batch in the log of its partition.

    log_order: from 1; in files by position, because a damaged batch can have any offset.
    is_trusted: the CRC is right, so the header is as written. is_damaged: not trusted, or the records are unreadable.
    offset_before: the greatest offset of all earlier batches. follows_damage: the previous batch is not trusted.
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


def with_facts(rows: DataFrame, facts: DataFrame) -> DataFrame:
    """Add what is known about each partition. rows: from in_log_order, or from with_range_start for a part of the log.

    facts: of FACTS_SCHEMA (log_facts.py). Offsets missing in front of the first batch count from begins_at.
    cleaned_before: cleaning explains missing offsets in front of it.
    """
    joined = rows.join(f.broadcast(facts), ["topic", "partition"], "left")
    return joined.withColumn("offset_before", f.coalesce("offset_before", f.col("begins_at") - 1))


def with_range_start(rows: DataFrame, ranges: DataFrame) -> DataFrame:
    """Add range_start, the first audited offset of a partition that has earlier ones. rows: from in_log_order.

    ranges: of RANGE_SCHEMA. The earlier offsets count as there, so offsets missing at the start of the range are found.
    """
    starts = f.broadcast(ranges.select("topic", "partition", "range_start"))
    joined = rows.join(starts, ["topic", "partition"], "left")
    return joined.withColumn("offset_before", f.coalesce("offset_before", f.col("range_start") - 1))


def with_missing_offsets(rows: DataFrame) -> DataFrame:
    """Add the offsets missing between the batches. rows: from in_log_order.

    hole: the number of offsets missing before this batch. holes: their sum up to this batch.
    cleaned_hole: those that cleaning explains. lost_hole: the others. Both are 0 behind a damaged batch,
    which is a finding itself. lost_holes, cleaned_holes: their sums up to this batch. partition_lost_holes,
    partition_cleaned_holes: in the partition. Cleaning explains the offsets in front of cleaned_before, and all of a
    partition with a batch behind it that has fewer records than offsets, which only cleaning causes. lost_from: the
    first lost offset. hole_cause: for a hole in front of the first batch of a segment file, segment_start if the hole
    begins behind the offset in the file's name, before_segment if it ends at it.
    log_start_offset: of the partition's first batch. newest_timestamp: of the partition.
    """
    so_far = _in_partition().rowsBetween(Window.unboundedPreceding, Window.currentRow)
    # The order is not needed, but with it Spark sorts once for both windows.
    in_all = _in_partition().rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    cleaned_before = f.coalesce("cleaned_before", f.lit(0)) if "cleaned_before" in rows.columns else f.lit(0)
    is_emptied = f.col("is_trusted") & (f.col("records_count") <= f.col("last_offset_delta"))
    is_emptied &= f.col("base_offset") >= cleaned_before
    lost_from = f.greatest(f.col("offset_before") + 1, cleaned_before)
    lost = f.when(f.col("is_cleaned"), 0).otherwise(f.greatest(f.col("base_offset") - lost_from, f.lit(0)))
    hole = f.when(~f.col("follows_damage"), f.col("hole"))
    kinds = ("lost_hole", "cleaned_hole")
    return (
        rows.withColumn("hole", f.greatest(_trusted("base_offset") - f.col("offset_before") - 1, f.lit(0)))
        .withColumn("hole_cause", f.when(f.col("hole") > 0, _hole_cause()))
        .withColumns(
            {
                "holes": f.sum("hole").over(so_far),
                "is_cleaned": f.coalesce(f.max(is_emptied).over(in_all), f.lit(False)),
                "log_start_offset": f.min(_trusted("base_offset")).over(in_all),
                "newest_timestamp": f.max(_trusted("max_timestamp")).over(in_all),
                "lost_from": lost_from,
            }
        )
        .withColumn("lost_hole", f.when(hole > 0, lost).otherwise(0).cast("bigint"))
        .withColumn("cleaned_hole", (f.coalesce(hole, f.lit(0)) - f.col("lost_hole")).cast("bigint"))
        .withColumns({f"{kind}s": f.sum(kind).over(so_far) for kind in kinds})
        .withColumns({f"partition_{kind}s": f.sum(kind).over(in_all) for kind in kinds})
        .drop("is_cleaned")
    )


def with_leader_epochs(rows: DataFrame) -> DataFrame:
    """Add facts about leader epochs. rows: from with_facts.

    leader_epoch_before, newest_leader_epoch: of the previous batch, and the newest one of all earlier batches; null
    without one. epoch_by_checkpoint: of the offset in the leader epoch checkpoint; null if it has none, or only older
    ones than the batch, because a log that is still written gets newer ones. other_epochs: the number of records up to
    this batch whose epoch is another one while the log's epochs are in order. partition_other_epochs: in the partition.
    """
    before = _in_partition().rowsBetween(Window.unboundedPreceding, -1)
    so_far = _in_partition().rowsBetween(Window.unboundedPreceding, Window.currentRow)
    in_all = _in_partition().rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    epoch = f.when(f.col("is_trusted") & (f.col("leader_epoch") >= 0), f.col("leader_epoch"))
    begun = f.filter("leader_epochs", lambda entry: entry["start_offset"] <= f.col("base_offset"))
    newest = f.try_element_at("leader_epochs", f.lit(-1))["leader_epoch"]
    by_checkpoint = f.when(epoch <= newest, f.try_element_at(begun, f.lit(-1))["leader_epoch"])
    with_past = rows.withColumns(
        {
            "leader_epoch_before": f.last(epoch, ignorenulls=True).over(before),
            "newest_leader_epoch": f.max(epoch).over(before),
            "epoch_by_checkpoint": by_checkpoint,
        }
    )
    is_other = (epoch != f.col("epoch_by_checkpoint")) & ~f.coalesce(epoch < f.col("newest_leader_epoch"), f.lit(False))
    others = f.when(is_other, f.col("records_count")).otherwise(0).cast("bigint")
    return (
        with_past.withColumn("of_other_epoch", others)
        .withColumns(
            {
                "other_epochs": f.sum("of_other_epoch").over(so_far),
                "partition_other_epochs": f.sum("of_other_epoch").over(in_all),
            }
        )
        .drop("leader_epochs")
    )


def by_producer(rows: DataFrame) -> DataFrame:
    """Partition the batches by producer. rows: from in_log_order.

    own_group: null, or the log_order of a batch without a trusted producer id, which forms a group of its own.
    file, position: kept only for damaged batches, to make the shuffled rows smaller.
    """
    has_producer = f.coalesce(f.col("is_trusted") & (f.col("producer_id") >= 0), f.lit(False))
    return (
        rows.withColumn("own_group", f.when(~has_producer, f.col("log_order")))
        .withColumns({name: f.when(f.col("is_damaged"), f.col(name)) for name in ("file", "position")})
        .repartition(*PRODUCER)
    )


def _in_partition() -> WindowSpec:
    """Return the window of a partition in log order. All columns use the same order, so that Spark sorts once."""
    # The names of files begin with their offsets; a partition can be in several folders, such as that of a remote tier.
    return Window.partitionBy("topic", "partition").orderBy(
        f.substring_index("file", "/", -1), "position", "base_offset"
    )


def _trusted(name: str) -> Column:
    return f.when(f.col("is_trusted"), f.col(name))


def _hole_cause() -> Column:
    """Return where a hole is: at the start of a segment file, in front of it, or null within one and on a broker."""
    # A segment of a remote tier has its id behind the offset.
    digits = f.regexp_extract("file", r"(\d{20})(?:-[\w-]{22})?\.log$", 1)
    base = f.nullif(digits, f.lit("")).cast("bigint")
    is_first = f.coalesce(f.col("position") == 0, f.lit(False))
    begins_at = f.col("offset_before") + 1
    return f.when(is_first & (begins_at >= base), "segment_start").when(is_first & (begins_at < base), "before_segment")
