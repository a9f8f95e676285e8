"""Ids by position: the same record has the same place among the records of its key on both sides.

- Records with equal content are matched first: the nth record of a key with that content on each side. A copy that only
  the right side has gets the id of the last one on the left, so that it counts as a copy of it.
- Of the other records of a key, those between the same matched records are matched in order. Their content differs.
- Records without a key have no order, so only equal content matches them.

Equal contents of a key differ by their order alone: of three of which one was lost, it is the last.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from .entries import ENTRY_COLUMNS

# Records of a table can have one position. Their order is then arbitrary, but the same in each run.
_ORDER = ("partition", "position", "content", "offset", "timestamp")
# The prefixes of ids: equal content, and the same place between matched records.
_SAME, _PLACE = "=", "#"


def with_position_ids(entries: DataFrame) -> DataFrame:
    """Set the id of the entries of both sides. All need a content and a position; compare_request.py checks it."""
    # Records without a key form a group for each content, so that no task gets all of them.
    group = f.when(f.col("key_hash").isNull(), f.col("content"))
    # Partitioned by the key alone, so that no window needs a further shuffle.
    grouped = entries.withColumn("key_group", group).repartition("topic", "key_hash", "key_group")
    return _with_places(_with_equal(grouped)).select(*ENTRY_COLUMNS)


def _with_equal(entries: DataFrame) -> DataFrame:
    """Set the id of each record whose content the other side has as often, and of copies on the right side."""
    of_content = Window.partitionBy("topic", "key_hash", "key_group", "content")
    of_side = Window.partitionBy("topic", "key_hash", "key_group", "content", "is_left").orderBy(*_ORDER)
    counted = entries.withColumns(
        {
            "number": f.row_number().over(of_side),
            "lefts": f.count(f.when(f.col("is_left"), 1)).over(of_content),
            "rights": f.count(f.when(~f.col("is_left"), 1)).over(of_content),
        }
    )
    is_matched = f.when(f.col("is_left"), f.col("number") <= f.col("rights")).otherwise(f.col("lefts") > 0)
    number = f.least("number", f.greatest("lefts", f.lit(1)))
    shown = f.when(f.col("is_left"), f.col("number")).otherwise(number)
    # A record of the left side without a match of equal content is still one of its own.
    return counted.withColumns({"is_matched": is_matched, "same_id": _id(_SAME, "content", shown)})


def _with_places(entries: DataFrame) -> DataFrame:
    of_side = Window.partitionBy("topic", "key_hash", "key_group", "is_left").orderBy(*_ORDER)
    is_first_match = f.col("is_matched") & (f.col("number") <= f.col("lefts"))
    anchored = entries.withColumn("anchor", f.count(f.when(is_first_match, 1)).over(of_side))
    between = Window.partitionBy("topic", "key_hash", "key_group", "is_left", "anchor", "is_matched")
    number = f.row_number().over(between.orderBy(*_ORDER))
    place_id = _id(_PLACE, "anchor", number)
    is_placed = ~f.col("is_matched") & f.col("key_hash").isNotNull()
    return anchored.withColumn("place_id", place_id).withColumn(
        "id", f.when(is_placed, f.col("place_id")).otherwise(f.col("same_id"))
    )


def _id(prefix: str, name: str, number: Column) -> Column:
    key = f.coalesce(f.hex("key_hash"), f.lit(""))
    return f.concat(f.lit(prefix), key, f.lit("/"), f.hex(name), f.lit("/"), number.cast("string"))
