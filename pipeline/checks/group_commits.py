"""Commits of consumer groups, from the log of their coordinators: `__consumer_offsets`.

A key is a version (0 or 1), a group, a topic and a partition. A value is a version, an offset, from version 3 on a
leader epoch, a metadata text and a commit time; a null value removes the offset. Version 4 is flexible: the text has
its size as an unsigned varint. A commit in a transaction counts if the transaction was committed.
Source: OffsetCommitKey.json and OffsetCommitValue.json, Kafka 4.3.0.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from .transaction_spans import BATCH_OF_RECORD, unfinished_batches

GROUP_LOG = "__consumer_offsets"
# The columns of the records view that are read.
GROUP_LOG_COLUMNS = (*("topic", "partition", "offset", "key", "value", "is_control", "damage", "batch_base_offset"),)
COMMITS_SCHEMA = "group_id string, topic string, partition int, offset bigint, committed_at timestamp"

_VERSION_BYTES = 2
_LAST_KEY_VERSION = 1
_LEADER_EPOCH_SINCE = 3
_FLEXIBLE_SINCE = 4
# The greatest first byte of a number that is not negative, and of a varint of one byte.
_SIGN = 0x80


def read_commits(records: DataFrame, batches: DataFrame) -> DataFrame:
    """Return all commits: COMMITS_SCHEMA and log_partition, log_offset. offset is null where one was removed.

    records: the records view of GROUP_LOG with GROUP_LOG_COLUMNS. batches: its batches view.
    """
    unfinished = unfinished_batches(batches)
    stored = records.where(f.col("damage").isNull() & ~f.col("is_control") & (f.length("key") > _VERSION_BYTES))
    counted = stored.join(unfinished, BATCH_OF_RECORD, "left_anti")
    own = counted.where(_number("key", f.lit(1), _VERSION_BYTES) <= _LAST_KEY_VERSION)
    placed = own.select(f.col("partition").alias("log_partition"), f.col("offset").alias("log_offset"), "key", "value")
    with_group = placed.withColumn("group_bytes", _number("key", f.lit(3), 2))
    with_topic = with_group.withColumn("topic_bytes", _number("key", f.col("group_bytes") + 5, 2))
    return with_topic.select(
        "log_partition",
        "log_offset",
        f.substr("key", f.lit(5), f.col("group_bytes").cast("int")).cast("string").alias("group_id"),
        f.substr("key", (f.col("group_bytes") + 7).cast("int"), f.col("topic_bytes").cast("int"))
        .cast("string")
        .alias("topic"),
        _number("key", f.col("group_bytes") + f.col("topic_bytes") + 7, 4).cast("int").alias("partition"),
        _number("value", f.lit(3), 8).alias("offset"),
        f.timestamp_millis(_commit_time()).alias("committed_at"),
    )


def latest_commits(commits: DataFrame) -> DataFrame:
    """Return the last commit of each group and partition, without removed ones: COMMITS_SCHEMA."""
    place = f.struct("log_partition", "log_offset")
    latest = commits.groupBy("group_id", "topic", "partition").agg(
        f.max_by(f.struct("offset", "committed_at"), place).alias("last")
    )
    found = latest.select("group_id", "topic", "partition", "last.offset", "last.committed_at")
    return found.where(f.col("offset").isNotNull())


def with_previous(commits: DataFrame) -> DataFrame:
    """Add the offset of the previous commit of the same group and partition: null behind a removed one."""
    in_order = Window.partitionBy("group_id", "topic", "partition").orderBy("log_partition", "log_offset")
    return commits.withColumn("previous_offset", f.lag("offset").over(in_order))


def last_runs(commits: DataFrame) -> DataFrame:
    """Return the last run of equal commits of each group and partition, if it has at least two.

    Columns: COMMITS_SCHEMA, and first_committed_at, commits: the time of its first commit, and their number.
    """
    of_partition = ("group_id", "topic", "partition")
    in_order = Window.partitionBy(*of_partition).orderBy("log_partition", "log_offset")
    is_change = ~f.coalesce(f.col("offset") == f.col("previous_offset"), f.lit(False))
    runs = with_previous(commits).withColumn("run", f.sum(is_change.cast("int")).over(in_order))
    summed = runs.groupBy(*of_partition, "run").agg(
        f.max("offset").alias("offset"),
        f.max("committed_at").alias("committed_at"),
        f.min("committed_at").alias("first_committed_at"),
        f.count("*").alias("commits"),
    )
    last = f.max("run").over(Window.partitionBy(*of_partition))
    found = summed.withColumn("last_run", last).where((f.col("run") == f.col("last_run")) & (f.col("commits") > 1))
    return found.where(f.col("offset").isNotNull()).drop("run", "last_run")


def _commit_time() -> Column:
    """Return the commit time of a value in milliseconds; null for one that is not there."""
    version = _number("value", f.lit(1), _VERSION_BYTES)
    text_at = f.when(version >= _LEADER_EPOCH_SINCE, 15).otherwise(11)
    first = _number("value", text_at, 1)
    varint_bytes = f.when(first < _SIGN, 1).otherwise(2)
    varint = f.when(first < _SIGN, first).otherwise(first - _SIGN + _SIGN * _number("value", text_at + 1, 1))
    plain_bytes = _number("value", text_at, 2)
    is_flexible = version >= _FLEXIBLE_SINCE
    # A varint is one more than the size.
    time_at = f.when(is_flexible, text_at + varint_bytes + varint - 1).otherwise(text_at + 2 + plain_bytes)
    return _number("value", time_at, 8)


def _number(name: str, first: Column, size: int) -> Column:
    """Return the big-endian number of size bytes from the byte first (of 1) on; null if it is negative or not there."""
    content = f.substr(f.col(name), first.cast("int"), f.lit(size))
    number = f.conv(f.hex(content), 16, 10)
    is_negative = f.hex(content).rlike("^[89A-F]") if size > 1 else f.lit(False)
    return f.when((f.length(content) == size) & ~is_negative, number.cast("bigint"))
