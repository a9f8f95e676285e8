"""Records that arrived behind a later one of the same key."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as f


def with_overtaker(rows: DataFrame) -> DataFrame:
    """Add overtaker: the latest record of the left side that is in front of this one on the right side; null if none.

    Compared are records that both sides have, of the same key, and in one partition on each side. Records with one
    position on the right side, such as a table's time of a write, are not in front of each other.
    overtaker: a struct of the position and the offset on the left side.
    """
    has_order = (
        f.col("left.key_hash").isNotNull() & f.col("left.position").isNotNull() & f.col("right.position").isNotNull()
    )
    # Records without an order form a group each, so that no task gets all of them.
    group = f.when(~has_order, f.col("id"))
    window = Window.partitionBy("topic", "left.key_hash", "left.partition", "right.partition", group)
    # With equal positions on the right side, those in front have earlier ones on the left.
    in_front = window.orderBy("right.position", "left.position").rowsBetween(Window.unboundedPreceding, -1)
    latest = f.max(f.struct("left.position", "left.offset")).over(in_front)
    return (
        rows.withColumn("latest", latest)
        .withColumn("overtaker", f.when(f.col("latest.position") > f.col("left.position"), f.col("latest")))
        .drop("latest")
    )
