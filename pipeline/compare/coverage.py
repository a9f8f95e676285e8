"""What each side can have: the bounds of the logs, and how far the right side has come.

- The right side has come to the last record of a partition of the left side that arrived. What is behind it is pending.
  Of a partition without any, what is later than all that arrived in the topic is pending.
- Retention has removed the start of a log that does not begin at offset 0. What the other side has from before is no
  loss, and no extra record.
- A compacted side has only the last record of a key, and for a time its tombstone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from ..checks.log_bounds import LogBounds
from .matched import has_arrived

_TOPIC_SCHEMA = (
    "topic string, is_left_cut boolean, is_right_cut boolean, is_left_compacted boolean, is_right_compacted boolean"
)
_PARTITION_SCHEMA = "topic string, partition int, left_start bigint, left_end bigint, left_open bigint"


@dataclass(frozen=True, slots=True)
class SideBounds:
    """The bounds of a side by topic, with the names of the left side.

    partitions: of a log; empty for a table. ends, first_open: by topic and partition, as in OpenedLog. is_compacted:
    all topics are.
    """

    partitions: tuple[LogBounds, ...] = ()
    ends: Mapping[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])
    first_open: Mapping[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])
    is_compacted: bool = False

    @property
    def topics(self) -> set[str]:
        """The names of the topics."""
        return {one.topic for one in self.partitions}

    @property
    def cut_topics(self) -> set[str]:
        """The topics with a partition of which retention has removed the start."""
        return {one.topic for one in self.partitions if one.log_start > 0}

    @property
    def cleaned_topics(self) -> set[str]:
        """The topics with a partition of which compaction may have removed records."""
        return {one.topic for one in self.partitions if one.cleaned_before > 0}

    @property
    def has_compaction(self) -> bool:
        """Whether compaction may have removed records of a topic."""
        return self.is_compacted or bool(self.cleaned_topics)


def with_coverage(
    spark: SparkSession, matched: DataFrame, topics: Iterable[str], left: SideBounds, right: SideBounds
) -> DataFrame:
    """Add to each row what both sides can have of its topic and its partitions.

    matched: from match_entries. topics: the names of all topics that are known before the comparison.

    is_left_cut, is_right_cut, is_left_compacted, is_right_compacted: of the topic. left_start, left_end, left_open:
    start, end and first open transaction of the partition of the record in the left log. first_arrived, last_arrived:
    offsets of the left partition. right_first: the first position in the right partition of a record that the left side
    has too. oldest_arrived, newest_arrived: timestamps of the topic. left_oldest: the oldest one of the left side.
    """
    arrived = matched.where(has_arrived())
    in_left = arrived.groupBy("topic", f.col("left.partition").alias("partition")).agg(
        f.min("left.offset").alias("first_arrived"), f.max("left.offset").alias("last_arrived")
    )
    in_right = arrived.groupBy("topic", f.col("right.partition").alias("right_partition")).agg(
        f.min("right.position").alias("right_first")
    )
    times = matched.groupBy("topic").agg(
        f.min(f.when(has_arrived(), f.col("left.timestamp"))).alias("oldest_arrived"),
        f.max(f.when(has_arrived(), f.col("left.timestamp"))).alias("newest_arrived"),
        f.min("left.timestamp").alias("left_oldest"),
    )
    flags = {
        "is_left_compacted": f.coalesce("is_left_compacted", f.lit(left.is_compacted)),
        "is_right_compacted": f.coalesce("is_right_compacted", f.lit(right.is_compacted)),
        "is_left_cut": f.coalesce("is_left_cut", f.lit(False)),
        "is_right_cut": f.coalesce("is_right_cut", f.lit(False)),
    }
    # Each of these has one small row for a topic or a partition.
    return (
        matched.withColumn("partition", f.coalesce("left.partition", "right.partition"))
        .withColumn("right_partition", f.col("right.partition"))
        .join(f.broadcast(_topic_facts(spark, topics, left, right)), "topic", "left")
        .join(f.broadcast(_partition_facts(spark, left)), ["topic", "partition"], "left")
        .join(f.broadcast(in_left), ["topic", "partition"], "left")
        .join(f.broadcast(in_right), ["topic", "right_partition"], "left")
        .join(f.broadcast(times), "topic", "left")
        .withColumns(flags)
    )


def _topic_facts(spark: SparkSession, topics: Iterable[str], left: SideBounds, right: SideBounds) -> DataFrame:
    facts = (left.cut_topics, right.cut_topics, left.cleaned_topics, right.cleaned_topics)
    flags = (False, False, left.is_compacted, right.is_compacted)
    rows = [
        (name, *(flag or name in fact for flag, fact in zip(flags, facts, strict=True)))
        for name in sorted({*topics, *left.topics, *right.topics})
    ]
    return spark.createDataFrame(rows, _TOPIC_SCHEMA)


def _partition_facts(spark: SparkSession, left: SideBounds) -> DataFrame:
    rows = [
        (*one[:3], left.ends.get((one.topic, one.partition)), left.first_open.get((one.topic, one.partition)))
        for one in left.partitions
    ]
    return spark.createDataFrame(rows, _PARTITION_SCHEMA)


def has_earlier(is_right_log: bool) -> Column:
    """Return whether a record of the right side may be from before the start of the left log, over with_coverage.

    In a log it is in front of the first record that the left side has too. In a table its time says so, and without a
    time it may be.
    """
    if is_right_log:
        return f.coalesce(f.col("right.position") < f.col("right_first"), f.lit(True))
    return f.coalesce(f.col("right.timestamp") < f.col("left_oldest"), f.lit(True))
