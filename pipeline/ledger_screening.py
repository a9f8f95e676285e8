"""Which events the audit of a ledger looks at closely: all but those that numbers alone show to be right.

Nearly every event was sent once, is stored once, and was acknowledged where it stands, behind all that was sent before
it. Hashes, offsets and counts tell that, which Spark adds up several times faster than it sorts rows with words in
them. Doubt counts against an event: where two ids have one hash, or a copy is in another partition, it is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

# Events are chosen by the bucket that their hash falls in, so that what tells which is no longer than this: every
# executor has it in memory.
BUCKETS = 1 << 18


def entries_in_doubt(entries: DataFrame, place: Sequence[str]) -> DataFrame:
    """Return all entries of each event that may be a finding, and of some that are none.

    entries: of the log and of the ledger, as ledger_audit makes them. place: the columns by which both are compared.
    An event of a key that is out of order somewhere comes with all events of that key.
    """
    buckets = _in_doubt(_events(entries, place)).select(_bucket(f.col("id_hash")).alias("bucket")).distinct()
    # Not by a semi join, which Spark would do in each part of a union, with all that tells the buckets.
    chosen = entries.withColumn("bucket", _bucket(f.xxhash64("event_id"))).join(f.broadcast(buckets), "bucket")
    return chosen.drop("bucket")


def hash_of(*names: str) -> Column:
    """Return a hash of the columns, null where one of them is: xxhash64 leaves out what is null."""
    return f.when(has_all(*names), f.xxhash64(*names))


def has_all(*names: str) -> Column:
    """Return whether none of the columns is null."""
    are_there = f.lit(True)
    for name in names:
        are_there &= f.col(name).isNotNull()
    return are_there


def _bucket(id_hash: Column) -> Column:
    return f.pmod(id_hash, f.lit(BUCKETS))


def _events(entries: DataFrame, place: Sequence[str]) -> DataFrame:
    """Return one row for each hash of an event id; all of its columns are numbers."""
    numbers = entries.select(
        f.xxhash64("event_id").alias("id_hash"),
        hash_of(*(name for name in place if name != "offset")).alias("where"),
        f.when(f.col("is_stored"), hash_of("topic", "partition")).alias("stored_in"),
        f.when(f.col("is_stored"), f.col("offset")).alias("stored_at"),
        hash_of("key").alias("key_hash"),
        *("offset", "ordinal", "is_stored", "is_acked"),
    )
    return (
        # Told apart before they are added up: adding up first would find next to nothing that is alike.
        numbers.repartition("id_hash")
        .groupBy("id_hash")
        .agg(
            f.count("*").alias("entries"),
            *(f.count_if(name).alias(name) for name in ("is_stored", "is_acked")),
            (f.min("where").eqNullSafe(f.max("where")) & f.min("offset").eqNullSafe(f.max("offset"))).alias("is_there"),
            (f.min("stored_in") != f.max("stored_in")).alias("is_scattered"),
            *(f.min(name).alias(name) for name in ("stored_in", "stored_at", "key_hash", "ordinal")),
        )
    )


def _in_doubt(events: DataFrame) -> DataFrame:
    """Return the hash of each event that is in doubt, or has a key with one that is out of order."""
    is_right = (f.col("entries") == 2) & (f.col("is_stored") == 1) & (f.col("is_acked") == 1) & f.col("is_there")
    has_order = has_all("key_hash", "ordinal", "stored_at")
    grouped = events.select(
        *("id_hash", "stored_in", "stored_at", "ordinal", "is_scattered"),
        (~is_right).alias("is_in_doubt"),
        # What has no order is a group each, so that no task gets all of it.
        f.when(has_order, f.col("key_hash")).otherwise(f.col("id_hash")).alias("group"),
    )
    of_group = Window.partitionBy("group")
    in_front = Window.partitionBy("group", "stored_in").orderBy("stored_at").rowsBetween(Window.unboundedPreceding, -1)
    is_behind = f.coalesce(f.max("ordinal").over(in_front) > f.col("ordinal"), f.lit(False))
    return (
        # By the group alone: both windows find their rows together then.
        grouped.repartition("group")
        .withColumn("is_unclear", is_behind | f.col("is_scattered"))
        .withColumn("is_unclear", f.max("is_unclear").over(of_group))
        .where("is_in_doubt or is_unclear")
        .select("id_hash")
    )
