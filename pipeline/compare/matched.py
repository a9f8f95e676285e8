"""One row for each id: the number of its records on each side, the first of each, and whether a content is equal."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

# What a row has of the first record of each side, in the order by which it is the first.
FIRST_COLUMNS = (
    *("partition", "position", "offset", "timestamp", "label", "key_hash"),
    *("is_optional", "is_tombstone", "is_superseded"),
)


def match_entries(entries: DataFrame, *, is_one_to_many: bool) -> DataFrame:
    """Return the columns topic, id, lefts, rights, left, right, is_equal and copies.

    entries: of both sides; those without an id are left out. lefts, rights: numbers of records. left, right: the first
    record with FIRST_COLUMNS; null if there is none. is_equal: the sides have an equal content. copies: the number of
    records of the right side that are more than expected.
    """
    first = f.struct(*FIRST_COLUMNS)
    is_left = f.col("is_left")
    by_content = (
        entries.where(f.col("id").isNotNull())
        # Partitioned by the id alone, so that the second grouping needs no further shuffle.
        .repartition("topic", "id")
        .groupBy("topic", "id", "content")
        .agg(
            f.count_if(is_left).alias("lefts"),
            f.count_if(~is_left).alias("rights"),
            f.min(f.when(is_left, first)).alias("left"),
            f.min(f.when(~is_left, first)).alias("right"),
        )
    )
    return (
        by_content.groupBy("topic", "id")
        .agg(
            f.sum("lefts").alias("lefts"),
            f.sum("rights").alias("rights"),
            f.min("left").alias("left"),
            f.min("right").alias("right"),
            f.max((f.col("lefts") > 0) & (f.col("rights") > 0)).alias("is_equal"),
            f.sum(f.greatest(f.col("rights") - 1, f.lit(0))).alias("repeated"),
        )
        .withColumn("copies", _copies(is_one_to_many))
        .drop("repeated")
    )


def has_arrived() -> Column:
    """Return whether both sides have the id."""
    return (f.col("lefts") > 0) & (f.col("rights") > 0)


def _copies(is_one_to_many: bool) -> Column:
    """Return the number of further copies; of an event with copies on the left as many are expected."""
    if is_one_to_many:
        # Records with different contents are expected. Copies on the left may each have them.
        return f.when(f.col("lefts") == 1, f.col("repeated")).otherwise(0)
    return f.when(f.col("lefts") > 0, f.greatest(f.col("rights") - f.col("lefts"), f.lit(0))).otherwise(0)


def with_aborted(matched: DataFrame, aborted_left: DataFrame | None, aborted_right: DataFrame | None) -> DataFrame:
    """Add is_aborted: whether the side without the id has it in an aborted transaction.

    aborted_left, aborted_right: topic and id of such records; None without any.
    """
    return _with_flag(matched, "is_aborted", aborted_left, aborted_right)


def without_earlier(matched: DataFrame, earlier_left: DataFrame | None, earlier_right: DataFrame | None) -> DataFrame:
    """Leave out each id that the side without it has in front of the range.

    earlier_left, earlier_right: topic and id of such records; None without any.
    """
    rows = _with_flag(matched, "is_earlier", earlier_left, earlier_right)
    return rows.where(~f.col("is_earlier")).drop("is_earlier")


def _with_flag(matched: DataFrame, name: str, left: DataFrame | None, right: DataFrame | None) -> DataFrame:
    """Add the column: whether the side without the id has it among these. left, right: topic and id."""
    flag = f.lit(False)
    rows = matched
    for side, ids, records in (("left", left, "lefts"), ("right", right, "rights")):
        if ids is not None:
            of_side = f"{name}_{side}"
            rows = rows.join(ids.distinct().withColumn(of_side, f.lit(True)), ["topic", "id"], "left")
            flag |= f.coalesce(of_side, f.lit(False)) & (f.col(records) == 0)
    return rows.withColumn(name, flag)
