"""Selection of the events that the audit of a ledger must compare in full.

Nearly every event was sent once, is stored once at its acknowledged offset, and is behind all that was sent before it.
Hashes, offsets and counts prove this, and Spark aggregates numbers several times faster than it sorts rows with text.
An event is selected unless the numbers prove it right, for instance if two event ids have the same hash.
Two keys with the same 64-bit hash can hide a reordered event.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from .event_buckets import bucket_of

# The kinds of entry: a committed record, an acknowledged line of the ledger, such a line outside of the audited range,
# and any other.
_STORED, _ACKED, _ACKED_ELSEWHERE, _NEITHER = 1, 2, 3, 0


def entries_in_doubt(entries: DataFrame, place: Sequence[str]) -> DataFrame:
    """Return all entries of each event that may be a finding, and of some other events.

    entries: of the log and of the ledger, from ledger_audit. place: the columns by which both are compared.
    A reordered event is returned with the event that overtook it. An event with copies in several partitions is
    returned with all events of its key, because the numbers do not show its first copy.
    """
    buckets = _in_doubt(_events(entries, place)).select(bucket_of(f.col("id_hash")).alias("bucket")).distinct()
    # Spark would run a semi join in each part of the union, and compute the buckets each time.
    selected = entries.withColumn("bucket", bucket_of(f.xxhash64("event_id"))).join(f.broadcast(buckets), "bucket")
    return selected.drop("bucket")


def hash_of(*names: str) -> Column:
    """Return a hash of the columns; null if one of them is null, which xxhash64 alone would skip."""
    return f.when(has_all(*names), f.xxhash64(*names))


def has_all(*names: str) -> Column:
    """Return whether none of the columns is null."""
    return reduce(Column.__and__, [f.col(name).isNotNull() for name in names])


def _events(entries: DataFrame, place: Sequence[str]) -> DataFrame:
    """Return one row of numbers for each hash of an event id.

    An entry of the log has a position in its partition, an entry of the ledger one in its key. They share a column,
    because every column is shuffled for every entry.
    """
    is_stored = f.col("is_stored")
    numbers = entries.select(
        f.xxhash64("event_id").alias("id_hash"),
        hash_of(*place).alias("place"),
        f.when(is_stored, hash_of("topic", "partition")).otherwise(hash_of("key")).alias("series"),
        f.when(is_stored, f.col("offset")).otherwise(f.col("ordinal")).alias("position"),
        f.when(is_stored, _STORED)
        .when(f.col("is_acked_elsewhere"), _ACKED_ELSEWHERE)
        .when(f.col("is_acked"), _ACKED)
        .otherwise(_NEITHER)
        .alias("kind"),
    )
    is_stored = f.col("kind") == _STORED
    return (
        # An explicit shuffle, because a partial aggregation before it would combine almost no rows.
        numbers.repartition("id_hash")
        .groupBy("id_hash")
        .agg(
            f.count("*").alias("entries"),
            f.count_if(is_stored).alias("copies"),
            f.count_if(f.col("kind") == _ACKED).alias("acks"),
            f.count_if(f.col("kind") == _ACKED_ELSEWHERE).alias("elsewhere"),
            f.min("place").eqNullSafe(f.max("place")).alias("is_there"),
            (f.min(f.when(is_stored, f.col("series"))) != f.max(f.when(is_stored, f.col("series")))).alias(
                "is_scattered"
            ),
            f.min(f.when(is_stored, f.col("series"))).alias("stored_in"),
            f.min(f.when(is_stored, f.col("position"))).alias("stored_at"),
            f.min(f.when(~is_stored, f.col("series"))).alias("key_hash"),
            f.min(f.when(~is_stored, f.col("position"))).alias("ordinal"),
        )
    )


def _in_doubt(events: DataFrame) -> DataFrame:
    """Return the hash of each event that is in doubt or reordered, and of the event that overtook it."""
    is_right_here = (f.col("acks") == 1) & f.col("is_there")
    is_right = (f.col("entries") == 2) & (f.col("copies") == 1) & (is_right_here | (f.col("elsewhere") == 1))
    is_right |= f.col("entries") == f.col("elsewhere")
    has_order = has_all("key_hash", "ordinal", "stored_at") & (f.col("elsewhere") == 0)
    grouped = events.select(
        *("id_hash", "stored_in", "stored_at", "ordinal", "is_scattered"),
        (~is_right).alias("is_in_doubt"),
        # Events without an order form one group each, so that no task gets all of them.
        f.when(has_order, f.col("key_hash")).otherwise(f.col("id_hash")).alias("group"),
    )
    # Both windows have the same order, so that Spark sorts once.
    of_group = Window.partitionBy("group").orderBy("stored_in", "stored_at")
    in_front = of_group.rowsBetween(Window.unboundedPreceding, -1)
    whole = of_group.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    # The maximum is of the row's own partition if that has rows in front, because the order is by partition first.
    latest = f.max(f.struct("stored_in", "ordinal", "stored_at", "id_hash")).over(in_front)
    is_behind = (f.col("latest.stored_in") == f.col("stored_in")) & (f.col("latest.ordinal") > f.col("ordinal"))
    return (
        grouped.withColumns({"latest": latest, "is_unclear": f.max("is_scattered").over(whole)})
        .withColumn("overtaker", f.when(is_behind, f.col("latest.id_hash")))
        .where("is_in_doubt or is_unclear or overtaker is not null")
        .select(f.explode(f.array("id_hash", "overtaker")).alias("id_hash"))
        .where("id_hash is not null")
    )
