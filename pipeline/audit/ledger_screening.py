"""Which events the audit of a ledger looks at closely: all but those that numbers alone show to be right.

Nearly every event was sent once, is stored once, and was acknowledged where it stands, behind all that was sent before
it. Hashes, offsets and counts tell that, which Spark adds up several times faster than it sorts rows with words in
them. Doubt counts against an event: where two ids have one hash, or a copy is in another partition, it is looked at.
Two keys of one hash, which is of 64 bits, may hide what is out of order in one of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

# Events are chosen by the bucket that their hash falls in, so that what tells which is no longer than this: every
# executor has it in memory.
BUCKETS = 1 << 18

# What an entry is: a record that counts, a line that says so, and any other.
_STORED, _ACKED, _NEITHER = 1, 2, 0


def entries_in_doubt(entries: DataFrame, place: Sequence[str]) -> DataFrame:
    """Return all entries of each event that may be a finding, and of some that are none.

    entries: of the log and of the ledger, as ledger_audit makes them. place: the columns by which both are compared.
    An event that is out of order comes with the one that overtook it; one with copies in several partitions, of which
    numbers do not tell the first, with all events of its key.
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
    """Return one row for each hash of an event id; all of its columns are numbers.

    An entry of the log has a position in its partition, one of the ledger in its key: one column for both, as each
    column is written and read again for every entry.
    """
    is_stored = f.col("is_stored")
    numbers = entries.select(
        f.xxhash64("event_id").alias("id_hash"),
        hash_of(*place).alias("place"),
        f.when(is_stored, hash_of("topic", "partition")).otherwise(hash_of("key")).alias("series"),
        f.when(is_stored, f.col("offset")).otherwise(f.col("ordinal")).alias("position"),
        f.when(is_stored, _STORED).when(f.col("is_acked"), _ACKED).otherwise(_NEITHER).alias("kind"),
    )
    is_stored = f.col("kind") == _STORED
    return (
        # Told apart before they are added up: adding up first would find next to nothing that is alike.
        numbers.repartition("id_hash")
        .groupBy("id_hash")
        .agg(
            f.count("*").alias("entries"),
            f.count_if(is_stored).alias("copies"),
            f.count_if(f.col("kind") == _ACKED).alias("acks"),
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
    """Return the hash of each event that is in doubt or out of order, and of what tells that it is out of order."""
    is_right = (f.col("entries") == 2) & (f.col("copies") == 1) & (f.col("acks") == 1) & f.col("is_there")
    has_order = has_all("key_hash", "ordinal", "stored_at")
    grouped = events.select(
        *("id_hash", "stored_in", "stored_at", "ordinal", "is_scattered"),
        (~is_right).alias("is_in_doubt"),
        # What has no order is a group each, so that no task gets all of it.
        f.when(has_order, f.col("key_hash")).otherwise(f.col("id_hash")).alias("group"),
    )
    # One order for both windows, so that Spark sorts once and goes through the rows once.
    of_group = Window.partitionBy("group").orderBy("stored_in", "stored_at")
    in_front = of_group.rowsBetween(Window.unboundedPreceding, -1)
    whole = of_group.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    # Of the partition that a row is in, if any of it is in front: the partitions come one after the other.
    latest = f.max(f.struct("stored_in", "ordinal", "stored_at", "id_hash")).over(in_front)
    is_behind = (f.col("latest.stored_in") == f.col("stored_in")) & (f.col("latest.ordinal") > f.col("ordinal"))
    return (
        grouped.withColumns({"latest": latest, "is_unclear": f.max("is_scattered").over(whole)})
        .withColumn("overtaker", f.when(is_behind, f.col("latest.id_hash")))
        .where("is_in_doubt or is_unclear or overtaker is not null")
        .select(f.explode(f.array("id_hash", "overtaker")).alias("id_hash"))
        .where("id_hash is not null")
    )
